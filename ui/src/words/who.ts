// Who differs: figures for drawing.
import { t } from "$messages/messages.svelte";
import type { AttributeDifference, DifferenceShares } from "$api/bindings";

/** What makes labels differ, in its order. */
export const shareParts: readonly { part: keyof DifferenceShares; colour: string }[] = [
  { part: "text", colour: "var(--cat-1)" },
  { part: "person", colour: "var(--cat-2)" },
  { part: "neither", colour: "var(--cat-8)" },
];

/**
 * Why two groups were selected, what holds after correction, and that the comparison itself does not correct.
 */
export const pairReason = ({ attribute, words }: AttributeDifference) =>
  t("summary.pair_reason", { attribute, words: `${words.charAt(0).toLowerCase()}${words.slice(1)}` });

/** A share as the width of a bar. */
export const barOf = (share: number | null) => `${100 * Math.min(1, Math.max(0, share ?? 0))}%`;

/** Positions of values on an axis from 0 to 100 with 0 in the middle. */
export function stripPositions(values: readonly number[]): number[] {
  const widest = Math.max(1e-9, ...values.map(Math.abs));
  return values.map((value) => 50 + (48 * value) / widest);
}
