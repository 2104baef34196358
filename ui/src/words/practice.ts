// Practice in words: what comes of it, for the person who practises and for the study's author.
import type { AfterFailing, PracticeResult, PracticeState, QuestionInfo, PassStatus } from "$api/bindings";
import { count, counted, plural } from "./format";
import { isOrdinal } from "$kinds/kinds";

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
  `You had ${count(right)} of ${count(of)} right; ${count(needed(pass, of))} ${plural(needed(pass, of), "is", "are")} needed.`;

/** The message of a practice state: before the first text, between rounds, and at the end. */
export function practiceMessage(state: PracticeState): PracticeMessage {
  const { step, result, rule, total, round, by_checks } = state;
  if (step === "stopped")
    return {
      title: "Thank you: labelling has ended",
      text: by_checks
        ? "Some texts have a clear answer, and you answered too few of these correctly. The study therefore gives you no more texts. All your answers are saved."
        : `${result ? `${missed(result, rule.pass)} ` : ""}The study therefore gives you no more texts. Your answers are saved.`,
      next: null,
    };
  if (step === "label")
    return result?.status === "failed"
      ? {
          title: "The practice is done",
          text: `${missed(result, rule.pass)} You can continue: your answers count, and the result of the practice is recorded with them. See the guideline for what was unclear.`,
          next: "Start labelling",
        }
      : {
          title: result ? "Practice passed" : "The practice is done",
          text: result
            ? `${result.right} of ${result.of} right. Labelling begins now; right answers are no longer shown.`
            : "Labelling begins now.",
          next: "Start labelling",
        };
  if (round === 1 || !result)
    return {
      title: "Practice",
      text: `${counted(total, "practice text")}. After each, you see the right answer and the reason. ${count(needed(rule.pass, total))} of ${count(total)} must be right. Practice answers are not labels.`,
      next: state.done > 0 ? "Go on with the practice" : "Begin",
    };
  return {
    title: "Once more, in another order",
    text: `${by_checks ? "Some texts have a clear answer, and you answered too few of these correctly: please practise again." : missed(result, rule.pass)} All your labels are saved.`,
    next: state.done > 0 ? "Go on with the practice" : "Practise again",
  };
}
