// Words for limits of harmful texts, and for what a harmful text is.
import type { HarmfulFrom, QuestionInfo, Scale } from "$api/bindings";
import { isOrdinal } from "$kinds/kinds";
import { idsOf, nameOf, positionOf } from "$kinds/scale";
import { t } from "$messages/messages.svelte";

/** Stands for "no level" in a list of them. */
export const NO_HARM = "none";

export const keyOfHarmful = ({ question, level }: HarmfulFrom): string => `${question}:${level}`;

/** "toxicity: severe or above". */
export function harmfulWords({ question, level }: HarmfulFrom, questions: readonly QuestionInfo[]): string {
  const asked = questions.find(({ id }) => id === question);
  const scale: Scale = asked?.scale ?? { kind: "ordinal", levels: [] };
  const { levels } = scale;
  const highest = positionOf(scale, level) === levels.length - 1;
  const names = { question: asked?.name ?? "?", level: nameOf(scale, level) ?? "?" };
  return isOrdinal(scale) && !highest
    ? t("care.harmful_level_or_above", names)
    : t("care.harmful_level", names);
}

/** Every level of every question from which on a text can be harmful, and first that none is. */
export function harmfulItems(
  questions: readonly QuestionInfo[],
  none: string,
): { value: string; label: string; from: HarmfulFrom | null }[] {
  const levels = questions.flatMap(({ id, scale }) =>
    idsOf(scale).flatMap((level, position) => {
      // From the lowest level on every text would be harmful.
      if (isOrdinal(scale) && position === 0) return [];
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
  return fits ? undefined : t("care.limit_fault");
}
