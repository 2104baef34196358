// Practice in words: what comes of it, for the person who practises and for the study's author.
import type { AfterFailing, PracticeResult, PracticeState, QuestionInfo, Standing } from "$api/bindings";
import { count, counted, plural } from "./format";

export const AFTER_FAILING: { value: AfterFailing; label: string; hint: string }[] = [
  { value: "go-on", label: "they go on", hint: "their labels are kept, and marked" },
  { value: "practise", label: "they practise again", hint: "in another order, until it is reached" },
  { value: "stop", label: "they are asked no more", hint: "what they answered is kept" },
];

/** The same after attention checks, which nobody is told of while they label. */
export const AFTER_CHECKS: { value: AfterFailing; label: string; hint: string }[] = [
  { value: "go-on", label: "they go on", hint: "their labels are kept, and marked" },
  { value: "practise", label: "they practise again", hint: "where there is a practice round" },
  { value: "stop", label: "they are asked no more", hint: "what they answered is kept" },
];

/** Whether one of these texts has a right answer on ordered levels. */
export const anyOrdered = (texts: readonly { question: number }[], questions: readonly QuestionInfo[]) =>
  texts.some((one) => questions.find(({ id }) => id === one.question)?.scale.kind === "ordinal");

const STANDINGS: Record<Standing, string> = {
  unfinished: "unfinished",
  passed: "passed",
  failed: "not passed",
};

/** "passed, 4 of 5 right" */
export function resultWords({ standing, rounds_begun, right, of }: PracticeResult): string {
  if (rounds_begun === 0) return "not begun";
  const round = rounds_begun > 1 ? `, round ${rounds_begun}` : "";
  return `${STANDINGS[standing]}, ${right} of ${of} right${round}`;
}

/** The same in a cell of a table: "passed 4/5" */
export function practiceWords({ standing, rounds_begun, right, of }: PracticeResult): string {
  return rounds_begun === 0 ? "not begun" : `${STANDINGS[standing]} ${right}/${of}`;
}

/** "at least 4 of 5" of a mark: the least number that reaches it. */
export function needed(pass: number | null, of: number): number {
  return Math.max(0, Math.ceil((pass ?? 0) * of - 1e-9));
}

/** What is said on the screen before a round and after it. */
export interface PracticeMessage {
  title: string;
  text: string;
  /** What is done next, by the button or Enter. */
  next: string | null;
}

const missed = ({ right, of }: PracticeResult, pass: number | null) =>
  `You had ${count(right)} of ${count(of)} right; ${count(needed(pass, of))} ${plural(needed(pass, of), "is", "are")} needed.`;

/** Where somebody stands, in plain words: before the first text, between two rounds, and at the end. */
export function practiceMessage(state: PracticeState): PracticeMessage {
  const { step, result, rule, total, round, by_checks } = state;
  if (step === "stopped")
    return {
      title: "Thank you: that is all",
      text: by_checks
        ? "Some texts have an answer that is beyond doubt, and you answered too few of these correctly. The study asks no more texts then. Everything you answered is kept."
        : `${result ? `${missed(result, rule.pass)} ` : ""}The study asks no more texts then. What you answered is kept.`,
      next: null,
    };
  if (step === "label")
    return result?.standing === "failed"
      ? {
          title: "The practice is done",
          text: `${missed(result, rule.pass)} The study lets you go on: your answers count, and the result of the practice is recorded with them. The guideline explains what was unclear.`,
          next: "Start labelling",
        }
      : {
          title: result ? "Practice passed" : "The practice is done",
          text: result
            ? `${result.right} of ${result.of} right. Now the texts themselves: from here on nobody says what is right.`
            : "Now the texts themselves.",
          next: "Start labelling",
        };
  if (round === 1 || !result)
    return {
      title: "A few texts to practise on first",
      text: `${counted(total, "practice text")}. You see the right answer and why after each. ${count(needed(rule.pass, total))} of ${count(total)} must be right. Practice does not count as a label.`,
      next: state.done > 0 ? "Go on with the practice" : "Begin",
    };
  return {
    title: "Once more, in another order",
    text: `${by_checks ? "Some texts have an answer that is beyond doubt, and you answered too few of these correctly: the study asks you to practise again." : missed(result, rule.pass)} Everything you have labelled is kept.`,
    next: state.done > 0 ? "Go on with the practice" : "Practise again",
  };
}
