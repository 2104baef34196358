// Who differs: figures for drawing.
import type { AttributeDifference, DifferenceShares } from "$api/bindings";

/** What makes labels differ, in its order. */
export const shareNames: readonly { part: keyof DifferenceShares; name: string; colour: string }[] = [
  { part: "text", name: "the text", colour: "var(--cat-1)" },
  { part: "person", name: "the person", colour: "var(--cat-2)" },
  { part: "neither", name: "neither", colour: "var(--cat-8)" },
];

/**
 * Why two groups were selected, what holds after correction, and that the comparison itself does not correct.
 */
export const pairReason = ({ attribute, words }: AttributeDifference) =>
  `Of the values of ${attribute}, these two have the strongest evidence of a difference. After correction for all possible comparisons: ${words.charAt(0).toLowerCase()}${words.slice(1)} The figures below are for these two only, without that correction.`;

/** A share as the width of a bar. */
export const barOf = (share: number | null) => `${100 * Math.min(1, Math.max(0, share ?? 0))}%`;

/** Positions of values on an axis from 0 to 100 with 0 in the middle. */
export function stripPositions(values: readonly number[]): number[] {
  const widest = Math.max(1e-9, ...values.map(Math.abs));
  return values.map((value) => 50 + (48 * value) / widest);
}
