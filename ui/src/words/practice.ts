// Practice in words: what comes of it, for the person who practises and for the study's author.
import type { AfterFailing, PracticeResult, PracticeState, QuestionInfo, PassStatus } from "$api/bindings";
import { isOrdinal } from "$kinds/kinds";
import { t } from "$messages/messages.svelte";

export const AFTER_FAILING: { value: AfterFailing; label: string; hint: string }[] = [
  { value: "go-on", label: "they continue", hint: "their labels are stored and marked" },
  { value: "practise", label: "they practise again", hint: "in another order, until it is reached" },
  { value: "stop", label: "they get no more texts", hint: "their answers are stored" },
];

/** The same after attention checks, which are not mentioned during labelling. */
export const AFTER_CHECKS: { value: AfterFailing; label: string; hint: string }[] = [
  { value: "go-on", label: "they continue", hint: "their labels are stored and marked" },
  { value: "practise", label: "they practise again", hint: "where there is a practice round" },
  { value: "stop", label: "they get no more texts", hint: "their answers are stored" },
];

/** Whether one of these texts has a right answer on ordered levels. */
export const anyOrdered = (texts: readonly { question: number }[], questions: readonly QuestionInfo[]) =>
  texts.some((one) => questions.some(({ id, scale }) => id === one.question && isOrdinal(scale)));

const STATUSES: Record<PassStatus, string> = {
  unfinished: "unfinished",
  passed: "passed",
  failed: "not passed",
};

/** "passed, 4 of 5 right" */
export function resultWords({ status, rounds_begun, right, of }: PracticeResult): string {
  if (rounds_begun === 0) return "not begun";
  const round = rounds_begun > 1 ? `, round ${rounds_begun}` : "";
  return `${STATUSES[status]}, ${right} of ${of} right${round}`;
}

/** The same in a cell of a table: "passed 4/5" */
export function practiceWords({ status, rounds_begun, right, of }: PracticeResult): string {
  return rounds_begun === 0 ? "not begun" : `${STATUSES[status]} ${right}/${of}`;
}

/** "at least 4 of 5" of a mark: the least number that reaches it. */
export function needed(pass: number | null, of: number): number {
  return Math.max(0, Math.ceil((pass ?? 0) * of - 1e-9));
}

/** The message before and after a round. */
export interface PracticeMessage {
  title: string;
  text: string;
  /** What is done next, by the button or Enter. */
  next: string | null;
}

const missed = ({ right, of }: PracticeResult, pass: number | null) =>
  t("practice.missed", { right, of, count: needed(pass, of) });

/** The message of a practice state: before the first text, between rounds, and at the end. */
export function practiceMessage(state: PracticeState): PracticeMessage {
  const { step, result, rule, total, round, by_checks } = state;
  const sentences = (...all: (string | null)[]) => all.filter((one) => one !== null).join(" ");
  if (step === "stopped")
    return {
      title: t("practice.stopped_title"),
      text: by_checks
        ? t("practice.stopped_by_checks")
        : sentences(result && missed(result, rule.pass), t("practice.stopped_text")),
      next: null,
    };
  if (step === "label")
    return result?.status === "failed"
      ? {
          title: t("practice.done_title"),
          text: sentences(missed(result, rule.pass), t("practice.failed_text")),
          next: t("label.start_labelling"),
        }
      : {
          title: result ? t("practice.passed_title") : t("practice.done_title"),
          text: result
            ? t("practice.passed_text", { right: result.right, of: result.of })
            : t("practice.done_text"),
          next: t("label.start_labelling"),
        };
  if (round === 1 || !result)
    return {
      title: t("practice.title"),
      text: sentences(
        t("practice.texts", { count: total }),
        t("practice.needed", { count: needed(rule.pass, total), total }),
      ),
      next: state.done > 0 ? t("practice.go_on") : t("practice.begin"),
    };
  return {
    title: t("practice.again_title"),
    text: sentences(
      by_checks ? t("practice.too_few_clear") : missed(result, rule.pass),
      t("practice.again_saved"),
    ),
    next: state.done > 0 ? t("practice.go_on") : t("practice.again"),
  };
}
