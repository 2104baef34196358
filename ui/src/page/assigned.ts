// The order and the progress of a packet. The same rules: crates/labelling/src/{reannotated,progress}.rs.
import type { Progress, QuestionId, TextId } from "$api/bindings";
import type { Assignment } from "$logic/assignment";
import type { Answers, Unanswered } from "./answers";

/** What decides about the next text. */
export interface PacketState {
  assignments: readonly Assignment[];
  /** All questions of the packet. */
  all: readonly QuestionId[];
  answers: Answers;
  /** The questions on the screen. */
  questions: readonly QuestionId[];
  leftOut: ReadonlySet<TextId>;
}

/** The next text: after `after` while that is open, else from the beginning; skipped ones come last. */
export function nextAssigned(state: PacketState, after: TextId | null): Assignment | null {
  const { assignments, answers, questions, leftOut } = state;
  const apart = smallestDistance(assignments);
  const others = othersAfter(state);
  const left = ({ text, occasion }: Assignment): Unanswered | null => {
    const first = answers.left(questions, text);
    if (occasion === 1) return first;
    if (first !== null || isDone(state, text) || others(text) < apart) return null;
    return questions.some((id) => answers.isSkipped(id, text)) ? "skipped" : "open";
  };
  const open = (wanted: Unanswered) =>
    assignments.flatMap((item, place) =>
      item.text !== after && !leftOut.has(item.text) && left(item) === wanted ? [{ item, place }] : [],
    );
  let now = open("open");
  if (now.length === 0) now = open("skipped");
  const here = assignments.findIndex(
    (item) => item.text === after && item.occasion === 1 && left(item) !== null,
  );
  const behind = here < 0 ? undefined : now.find(({ place }) => place > here);
  return (behind ?? now[0])?.item ?? null;
}

/** How far the person is. */
export function progressOf(state: PacketState, real: readonly TextId[], today_ms: number): Progress {
  const { assignments, answers, questions, leftOut } = state;
  const first: Required<Progress> = { today: 0, done: 0, total: 0, skipped: 0, flagged: 0, left_out: 0 };
  for (const text of real) {
    const asked = questions.filter((id) => answers.asks(id, text));
    if (asked.length === 0) continue;
    const left = answers.left(asked, text);
    const last = answers.given_ms(asked, text);
    first.total += 1;
    first.done += Number(left === null);
    first.today += Number(left === null && last !== undefined && last >= today_ms);
    first.skipped += Number(left === "skipped");
    first.flagged += Number(questions.some((id) => answers.isFlagged(id, text)));
  }
  first.left_out = real.filter((text) => leftOut.has(text) && answers.left(questions, text) !== null).length;
  first.total = Math.max(0, first.total - first.left_out);
  const again = assignments.filter(
    ({ text, occasion }) => occasion > 1 && (!leftOut.has(text) || isDoneAgain(state, text)),
  );
  const done = again.filter(({ text }) => isDoneAgain(state, text));
  // Once everything else is answered, too few other texts remain to come before these.
  const apart = smallestDistance(assignments);
  const others = othersAfter(state);
  const tooLate = again.filter(
    ({ text }) => first.done === first.total && !isDoneAgain(state, text) && others(text) < apart,
  );
  const today = done.filter(({ text }) => {
    const times = questions.flatMap((id) => answers.current(id, text, 2)?.at_ms ?? []);
    return times.length > 0 && Math.max(...times) >= today_ms;
  });
  return {
    ...first,
    today: first.today + today.length,
    done: first.done + done.length,
    total: first.total + again.length - tooLate.length,
  };
}

/** Gives the number of other texts that were answered after the first answer to one. */
function othersAfter({ answers, questions, all }: PacketState): (text: TextId) => number {
  const first = answers.givenTexts(questions);
  const times = [...first.values(), ...answers.answeredTexts(all, 2).values()];
  return (text) => {
    const at_ms = first.get(text);
    return at_ms === undefined ? Infinity : times.filter((time) => time > at_ms).length;
  };
}

const isDone = ({ answers, questions }: PacketState, text: TextId): boolean =>
  questions.every((id) => !answers.asks(id, text, 2) || answers.current(id, text, 2) !== undefined);

const isDoneAgain = (state: PacketState, text: TextId): boolean =>
  state.questions.some((id) => state.answers.current(id, text, 2) !== undefined) && isDone(state, text);

/** The smallest number of other texts between the two rounds of a text. */
function smallestDistance(assignments: readonly Assignment[]): number {
  const apart = assignments.flatMap((item, place) => {
    if (item.occasion === 1) return [];
    const first = assignments.findIndex(({ text, occasion }) => text === item.text && occasion === 1);
    return first < 0 ? [] : [Math.max(0, place - first - 1)];
  });
  return apart.length > 0 ? Math.min(...apart) : 0;
}
