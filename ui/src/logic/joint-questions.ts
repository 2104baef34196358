// Which questions a run learns together on one encoder, as the form of a new run offers them.
import type { JointQuestion, QuestionId, QuestionInfo, TrainChoices } from "$api/bindings";
import { takesSpans } from "$kinds/kinds";
import { t } from "$messages/messages.svelte";

export interface Offered {
  id: QuestionId;
  name: string;
  hint: string;
}

/** The whole question that a run of `own` is of: itself, or the one that it is an option of. */
function wholeOf(questions: readonly QuestionInfo[], own: QuestionId): QuestionInfo | undefined {
  return questions.find((q) => q.id === own || q.options.some((option) => option.id === own));
}

/**
 * Questions that can be trained together with `own`: others with labels, and for an option, its whole
 * question.
 */
export function offered(questions: readonly QuestionInfo[], own: QuestionId): Offered[] {
  const whole = wholeOf(questions, own);
  return questions
    .filter((q) => q.labels > 0 && q.id !== own)
    .map((q) => {
      const count = q.options.length;
      if (count === 0) return { id: q.id, name: q.name, hint: q.prompt };
      const all = takesSpans(q.scale)
        ? t("models.joint_all_types", { count })
        : t("models.joint_all_options", { count });
      const names = { question: q.name, all };
      return q === whole
        ? { id: q.id, name: t("models.joint_whole", names), hint: t("models.joint_whole_hint") }
        : { id: q.id, name: t("models.joint_with_all", names), hint: q.prompt };
    });
}

/** `joint` with the question `id` toggled; empty if only `own` remains. Other weights are unchanged. */
export function withQuestion(
  questions: readonly QuestionInfo[],
  own: QuestionId,
  joint: readonly JointQuestion[],
  id: QuestionId,
): JointQuestion[] {
  const whole = wholeOf(questions, own)?.id;
  const chosen = new Set(joint.map((one) => one.question));
  if (chosen.has(id)) chosen.delete(id);
  else chosen.add(id);
  // Either the whole question or its one option.
  if (whole !== undefined && whole !== own && chosen.has(whole)) chosen.delete(own);
  else chosen.add(own);
  const order = [own, ...questions.map((q) => q.id).filter((q) => q !== own)];
  const left = order.filter((q) => chosen.has(q));
  if (left.length === 1 && left[0] === own) return [];
  const weight = (q: QuestionId) => joint.find((one) => one.question === q)?.weight ?? 1;
  return left.map((question) => ({ question, weight: weight(question) }));
}

/** The last `joint`, without questions that have no labels any more or are gone. */
export function stillThere(
  questions: readonly QuestionInfo[],
  own: QuestionId,
  joint: readonly JointQuestion[],
): JointQuestion[] {
  const known = new Set([own, ...offered(questions, own).map((one) => one.id)]);
  const left = joint.filter((one) => known.has(one.question));
  return left.length === 1 && left[0]?.question === own ? [] : left;
}

/** The questions with spans whose marked words are trained together with text-level labels. */
export function wordsOf(
  questions: readonly QuestionInfo[],
  choices: Pick<TrainChoices, "question" | "model" | "tuning" | "joint">,
): QuestionInfo[] {
  const learns = choices.model === "shared" || choices.model === "multilevel";
  if (!learns || choices.tuning === "frozen" || choices.tuning === "prompt") return [];
  const joint = (choices.joint ?? []).map((one) => one.question);
  const chosen = new Set(joint.length > 0 ? joint : [choices.question]);
  // A question with one type is learned whole by a run of that type.
  const whole = (q: QuestionInfo) => chosen.has(q.id) || q.options.every((option) => chosen.has(option.id));
  return questions.filter((q) => takesSpans(q.scale) && whole(q));
}
