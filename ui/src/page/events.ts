// What a person did, as events, and what holds after them. The same rules: crates/domain/src/current.rs.
import type { Answer, Note, QuestionId, TextId } from "$api/bindings";
import { isEmpty, NO_NOTE } from "$logic/notes";

/** The identity of an event: the session in which it was appended, and a number from 1 within it. */
export type EventKey = readonly [copy: string, sequence: number];

export type MarkKind = "skip" | "unskip" | "flag" | "unflag" | "note";

/** Something that a person did to a text. */
export interface PageEvent {
  key: EventKey;
  question: QuestionId;
  text: TextId;
  /** The annotation round, from 1. */
  occasion: number;
  at_ms: number;
  /** An event has an answer, or retracts one, or is a mark. */
  answer?: Answer;
  duration_ms?: number | null;
  replaces?: EventKey;
  retracts?: EventKey;
  mark?: MarkKind;
  note: Note;
  /** The version of the guideline on the screen. */
  guideline: string | null;
}

/** Something that was recorded about the person. */
export interface PageFact {
  kind: "form-answers" | "practice-answer" | "consent-given" | "left-out";
  question?: QuestionId;
  text?: TextId;
  at_ms: number;
  value: unknown;
}

export type PageRecord = { event: PageEvent } | { fact: PageFact };

export const isSameKey = (a: EventKey | undefined, b: EventKey | undefined): boolean =>
  a?.[0] === b?.[0] && a?.[1] === b?.[1];

const named = ([copy, sequence]: EventKey): string => `${copy}/${sequence}`;

/** By time, then copy, then number: the same order in every copy. */
export function inOrder(a: PageEvent, b: PageEvent): number {
  const [[copy, sequence], [otherCopy, otherSequence]] = [a.key, b.key];
  return a.at_ms - b.at_ms || compare(copy, otherCopy) || sequence - otherSequence;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const last = (events: readonly PageEvent[]): PageEvent | undefined =>
  events.reduce<PageEvent | undefined>(
    (best, one) => (best && inOrder(best, one) > 0 ? best : one),
    undefined,
  );

/** The answers that were not taken back, among the events of one question, text and round. */
export function unretractedAnswers(events: readonly PageEvent[]): PageEvent[] {
  const gone = new Set(events.flatMap(({ retracts }) => (retracts ? [named(retracts)] : [])));
  return events.filter(({ answer, key }) => answer !== undefined && !gone.has(named(key)));
}

/** The answer that holds, among the events of one question, text and round. */
export function currentAnswer(events: readonly PageEvent[]): PageEvent | undefined {
  const given = unretractedAnswers(events);
  if (given.length < 2) return given[0];
  const replaced = new Map(events.map(({ key, replaces }) => [named(key), replaces]));
  const superseded = new Set<string>();
  for (const { key } of given) {
    let old = replaced.get(named(key));
    while (old && !superseded.has(named(old))) {
      superseded.add(named(old));
      old = replaced.get(named(old));
    }
  }
  return last(given.filter(({ key }) => !superseded.has(named(key))));
}

/** The note that holds after the events of one question, text and round. */
export function currentNote(events: readonly PageEvent[]): Note {
  const current = currentAnswer(events);
  const says = (event: PageEvent): boolean => {
    if (event.mark === "note") return !wasClearedWithRetracted(event, events);
    if (event.mark) return !isEmpty(event.note);
    return event.answer !== undefined && event === current && !isEmpty(event.note);
  };
  return last(events.filter(says))?.note ?? NO_NOTE;
}

/** Whether a mark cleared the note together with an answer that was taken back since. */
function wasClearedWithRetracted(mark: PageEvent, events: readonly PageEvent[]): boolean {
  if (!isEmpty(mark.note)) return false;
  const [copy, sequence] = mark.key;
  const before = events.find(
    ({ answer, key, at_ms }) =>
      answer !== undefined && isSameKey(key, [copy, sequence - 1]) && at_ms + 1 === mark.at_ms,
  );
  return before !== undefined && events.some(({ retracts }) => isSameKey(retracts, before.key));
}

/** Whether the newest mark of a pair is the first of them. */
export const isMarked = (events: readonly PageEvent[], on: MarkKind, off: MarkKind): boolean =>
  last(events.filter(({ mark }) => mark === on || mark === off))?.mark === on;

/**
 * The newest of these answers in the order in which they were given: by time, except that no answer comes
 * before an earlier one of its copy, even if the clock was set back.
 */
export function newestGiven(answers: readonly PageEvent[]): PageEvent | undefined {
  const newest = last(answers);
  if (!newest) return undefined;
  const later = answers.filter(
    ({ key: [copy, sequence] }) => copy === newest.key[0] && sequence > newest.key[1],
  );
  return later.reduce((best, one) => (one.key[1] > best.key[1] ? one : best), newest);
}
