// What the log can be narrowed to.
import type { HistoryKind } from "$api/bindings";

/** Kinds that are looked for together. */
export const LOG_KINDS = [
  { value: "all", kinds: [] },
  { value: "answers", kinds: ["answer", "retraction", "repeat"] },
  { value: "imported", kinds: ["imported-answer"] },
  { value: "remarks", kinds: ["skip", "flag", "note"] },
  { value: "decisions", kinds: ["decision"] },
  {
    value: "study",
    kinds: ["guideline", "question", "packet", "check", "panel", "setting"],
  },
  { value: "people", kinds: ["person", "noted", "withdrawal"] },
  { value: "work", kinds: ["job", "run"] },
] as const satisfies readonly { value: string; kinds: readonly HistoryKind[] }[];

export type LogKind = (typeof LOG_KINDS)[number]["value"];

export const LOG_SINCE = [
  { value: "ever", days: null },
  { value: "day", days: 1 },
  { value: "week", days: 7 },
  { value: "month", days: 30 },
] as const;

export type LogSince = (typeof LOG_SINCE)[number]["value"];

/** A time without its UTC offset, which is shown on request. */
export function shortTime(time: string): string {
  return time.replace(/ [+-]\d\d:\d\d$/, "");
}
