// Notes on an answer: text, reasons and confidence.
import type { Remark } from "$api/bindings";

export const NO_NOTE: Remark = { note: null, reasons: [], confidence: null };

/** Confidence from 1 to 5, in words. */
export const SURE = ["a guess", "unsure", "fairly sure", "sure", "certain"] as const;

export function sameNote(a: Remark, b: Remark): boolean {
  return (
    (a.note ?? "").trim() === (b.note ?? "").trim() &&
    a.confidence === b.confidence &&
    a.reasons.length === b.reasons.length &&
    a.reasons.every((reason, i) => reason === b.reasons[i])
  );
}

export const isEmpty = (remark: Remark): boolean => sameNote(remark, NO_NOTE);

/** Toggles a reason; in the order of the form, with reasons no longer offered last. */
export function toggleReason(remark: Remark, reason: string, offered: readonly string[]): Remark {
  const chosen = remark.reasons.includes(reason)
    ? remark.reasons.filter((other) => other !== reason)
    : [...remark.reasons, reason];
  const place = (one: string) => (offered.includes(one) ? offered.indexOf(one) : offered.length);
  return { ...remark, reasons: chosen.toSorted((a, b) => place(a) - place(b)) };
}
