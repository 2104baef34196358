// Practice in words: what comes of it, for the person who practises and for the study's author.
import type { AfterFailing, PracticeResult, PracticeState, QuestionInfo, PassStatus } from "$api/bindings";
import { isOrdinal } from "$kinds/kinds";
import { t } from "$messages/messages.svelte";

/** What happens to those who miss a pass mark. */
export interface AfterMark {
  value: AfterFailing;
  label: string;
  hint: string;
}

const after = (practiseHint: string): AfterMark[] => [
  { value: "go-on", label: t("study.after_go_on"), hint: t("study.after_go_on_hint") },
  { value: "practise", label: t("study.after_practise"), hint: practiseHint },
  { value: "stop", label: t("study.after_stop"), hint: t("study.after_stop_hint") },
];

export const afterFailing = () => after(t("study.after_practise_hint"));

/** The same after attention checks, which are not mentioned during labelling. */
export const afterChecks = () => after(t("study.after_practise_checks_hint"));

/** Whether one of these texts has a right answer on ordered levels. */
export const anyOrdered = (texts: readonly { question: number }[], questions: readonly QuestionInfo[]) =>
  texts.some((one) => questions.some(({ id, scale }) => id === one.question && isOrdinal(scale)));

const statusWords = (status: PassStatus) => t(`study.practice_status_${status}`);

/** "passed, 4 of 5 right" */
export function resultWords({ status, rounds_begun, right, of }: PracticeResult): string {
  if (rounds_begun === 0) return t("study.practice_not_begun");
  const result = { status: statusWords(status), right, of };
  return rounds_begun > 1
    ? t("study.practice_result_round", { ...result, round: rounds_begun })
    : t("study.practice_result", result);
}

/** The same in a cell of a table: "passed 4/5" */
export function practiceWords({ status, rounds_begun, right, of }: PracticeResult): string {
  return rounds_begun === 0
    ? t("study.practice_not_begun")
    : t("study.practice_result_short", { status: statusWords(status), right, of });
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
