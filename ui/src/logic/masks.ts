// Rules that mask texts: lists of words, and whether rules are the same.
import type { MaskRules } from "$api/bindings";

/** The words of a list, one in each line. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return [...new Set(lines.filter((line) => line !== ""))];
}

const sorted = (rules: MaskRules) =>
  JSON.stringify([
    rules.on.toSorted(),
    rules.words.toSorted(),
    rules.exact,
    rules.pattern,
    rules.except.map(({ found, text }) => [found, text]).toSorted(),
  ]);

/** Whether rules mask the same. */
export const sameRules = (one: MaskRules, other: MaskRules): boolean => sorted(one) === sorted(other);
