// What the log can be narrowed to.
import type { HistoryKind } from "$api/bindings";

/** Kinds that are looked for together. */
export const LOG_KINDS = [
  { value: "all", label: "Everything", kinds: [] },
  { value: "answers", label: "Answers", kinds: ["answer", "retraction", "repeat"] },
  { value: "imported", label: "Answers from files", kinds: ["imported-answer"] },
  { value: "remarks", label: "Skips, flags and notes", kinds: ["skip", "flag", "note"] },
  { value: "decisions", label: "Decisions", kinds: ["decision"] },
  {
    value: "study",
    label: "The study",
    kinds: ["guideline", "question", "packet", "check", "panel", "setting"],
  },
  { value: "people", label: "People", kinds: ["person", "noted", "withdrawal"] },
  { value: "work", label: "Imports, runs and other work", kinds: ["job", "run"] },
] as const satisfies readonly { value: string; label: string; kinds: readonly HistoryKind[] }[];

export type LogKind = (typeof LOG_KINDS)[number]["value"];

export const LOG_SINCE = [
  { value: "ever", label: "Any time", days: null },
  { value: "day", label: "Last 24 hours", days: 1 },
  { value: "week", label: "Last 7 days", days: 7 },
  { value: "month", label: "Last 30 days", days: 30 },
] as const;

export type LogSince = (typeof LOG_SINCE)[number]["value"];

/** A time without its UTC offset, which is shown on request. */
export function shortTime(time: string): string {
  return time.replace(/ [+-]\d\d:\d\d$/, "");
}
