// Words for limits of harmful texts, and for what a harmful text is.
import type { HarmfulFrom, QuestionInfo } from "$api/bindings";

/** Stands for "no level" in a list of them. */
export const NO_HARM = "none";

export const keyOfHarmful = ({ question, level }: HarmfulFrom): string => `${question}:${level}`;

/** "toxicity: severe or above". */
export function harmfulWords({ question, level }: HarmfulFrom, questions: readonly QuestionInfo[]): string {
  const asked = questions.find(({ id }) => id === question);
  const { kind, levels } = asked?.scale ?? { kind: "ordinal", levels: [] };
  const highest = level === levels.length - 1;
  const above = kind === "ordinal" && !highest ? " or above" : "";
  return `${asked?.name ?? "?"}: ${levels[level] ?? "?"}${above}`;
}

/** Every level of every question from which on a text can be harmful, and first that none is. */
export function harmfulItems(
  questions: readonly QuestionInfo[],
  none: string,
): { value: string; label: string; from: HarmfulFrom | null }[] {
  const levels = questions.flatMap(({ id, scale }) =>
    scale.levels.flatMap((_, level) => {
      // From the lowest level on every text would be harmful.
      if (scale.kind === "ordinal" && level === 0) return [];
      const from = { question: id, level };
      return [{ value: keyOfHarmful(from), label: harmfulWords(from, questions), from }];
    }),
  );
  return [{ value: NO_HARM, label: none, from: null }, ...levels];
}

/** What is wrong with a limit. */
export function limitFault(limit: number | null): string | undefined {
  if (limit === null) return undefined;
  const fits = Number.isInteger(limit) && limit >= 1 && limit <= 100_000;
  return fits ? undefined : "A whole number, 1 or more, or empty";
}
