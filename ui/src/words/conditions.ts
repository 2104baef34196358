// Conditions of questions in words, and which other questions they may depend on.
import type { Condition, LevelId, QuestionId, QuestionInfo } from "$api/bindings";
import { hasParts } from "$kinds/kinds";
import { nameOf, positionOf } from "$kinds/scale";
import { language, t } from "$messages/messages.svelte";

/** The question of a condition, and the names of its levels in the order of the scale. */
function partsOf(condition: Condition | null, questions: readonly QuestionInfo[]) {
  const other = questions.find(({ id }) => id === condition?.question);
  if (!condition || !other) return null;
  const place = (level: LevelId) => positionOf(other.scale, level) ?? Infinity;
  const levels = condition.levels.toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
  const names = levels.map((level) => nameOf(other.scale, level) ?? "?");
  const answers = new Intl.ListFormat(language(), { type: "disjunction" }).format(names);
  return { other, values: { question: other.name, answers } };
}

/** "Asked only if rude is 4 or 5"; "Asked everywhere" without a condition. */
export function conditionWords(condition: Condition | null, questions: readonly QuestionInfo[]): string {
  const parts = partsOf(condition, questions);
  if (!parts) return t("questions.asked_everywhere");
  const { other, values } = parts;
  return holds(other) ? t("questions.asked_only_if_has", values) : t("questions.asked_only_if_is", values);
}

/** Why a question is not asked about a text, for the person who labels it. */
export function notAskedWords(condition: Condition | null, questions: readonly QuestionInfo[]): string {
  const parts = partsOf(condition, questions);
  if (!parts) return t("label.not_asked");
  const { other, values } = parts;
  return holds(other) ? t("label.not_asked_unless_has", values) : t("label.not_asked_unless_is", values);
}

/** An answer to it holds options, or types of spans, rather than being one level. */
export const holds = ({ scale }: QuestionInfo) => hasParts(scale);

/** The questions that this one may wait for: not itself, and none that waits for it. */
export function mayWaitFor(question: QuestionId | null, questions: readonly QuestionInfo[]): QuestionInfo[] {
  const above = (id: QuestionId, seen: readonly QuestionId[] = []): readonly QuestionId[] => {
    const next = questions.find((q) => q.id === id)?.only_if?.question;
    return next === undefined || seen.includes(next) ? seen : above(next, [...seen, next]);
  };
  return questions.filter(
    ({ id }) => id !== question && (question === null || !above(id).includes(question)),
  );
}
