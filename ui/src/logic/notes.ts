// Notes on an answer: text, reasons and confidence.
import type { Note } from "$api/bindings";
import { t } from "$messages/messages.svelte";

export const NO_NOTE: Note = { note: null, reasons: [], confidence: null };

/** Confidence from 1 to 5, in words. */
export const sureWords = (): readonly string[] => [
  t("shell.sure_1"),
  t("shell.sure_2"),
  t("shell.sure_3"),
  t("shell.sure_4"),
  t("shell.sure_5"),
];

export function sameNote(a: Note, b: Note): boolean {
  return (
    (a.note ?? "").trim() === (b.note ?? "").trim() &&
    a.confidence === b.confidence &&
    a.reasons.length === b.reasons.length &&
    a.reasons.every((reason, i) => reason === b.reasons[i])
  );
}

export const isEmpty = (note: Note): boolean => sameNote(note, NO_NOTE);

/** Toggles a reason; in the order of the form, with reasons no longer offered last. */
export function toggleReason(note: Note, reason: string, offered: readonly string[]): Note {
  const chosen = note.reasons.includes(reason)
    ? note.reasons.filter((other) => other !== reason)
    : [...note.reasons, reason];
  const place = (one: string) => (offered.includes(one) ? offered.indexOf(one) : offered.length);
  return { ...note, reasons: chosen.toSorted((a, b) => place(a) - place(b)) };
}
