// The look of marks: a line under the words for each, a tint behind them, and the number of the type; colour
// is never the only cue.
import type { Scale } from "$api/bindings";
import { levelColour } from "$kinds/level/levels";
import { shareOf, type Piece } from "./spans";

/** Distance of two lines under a word, and how thick one is, in pixels. */
const STEP = 5;
const THICK = 3;
/** Further lines overlap the last one. */
const MAX_LANES = 4;
/** Opacity behind words that all others marked; text stays readable on it. */
const DEEPEST = 50;
const TINT = 14;
/** Types that share a colour differ in their lines. */
const COLOURS = 8;

/** What the others marked: as which type (null: any), and how many of them there are. */
export interface Heat {
  kind: number | null;
  others: number;
}

/** The colour for a share of others who marked the words. */
export function heatColour(scale: Scale, kind: number | null, share: number): string {
  const colour = kind === null ? "var(--level-high)" : levelColour(scale, kind);
  return `color-mix(in srgb, ${colour} ${Math.round(share * DEEPEST)}%, transparent)`;
}

/** The line of a type: whole, dashed from the ninth on, dotted from the seventeenth. */
export function lineOf(scale: Scale, kind: number): string {
  const colour = levelColour(scale, kind);
  if (kind < COLOURS) return `linear-gradient(${colour}, ${colour})`;
  const [on, off] = kind < 2 * COLOURS ? [7, 11] : [3, 6];
  return `repeating-linear-gradient(90deg, ${colour} 0 ${on}px, transparent ${on}px ${off}px)`;
}

/** Filled with a colour but for so many pixels at the bottom. */
const filled = (colour: string, free: number) =>
  `linear-gradient(${colour}, ${colour}) 0 0 / 100% calc(100% - ${free}px) no-repeat`;

/** The CSS background of a piece of text with `room` pixels under it; null if it has none. */
export function backgroundOf(
  scale: Scale,
  piece: Piece,
  kinds: readonly number[],
  lanes: readonly number[],
  heat: Heat | null,
): string | null {
  const room = roomFor(lanes);
  const free = (i: number) => room - STEP * (Math.min(lanes[i] ?? 0, MAX_LANES - 1) + 1);
  const layers = piece.own.map(
    (i) => `${lineOf(scale, kinds[i] ?? 0)} 0 calc(100% - ${free(i)}px) / 100% ${THICK}px no-repeat`,
  );
  const share = heat ? shareOf(piece, heat.kind, heat.others) : 0;
  if (share > 0) layers.push(filled(heatColour(scale, heat?.kind ?? null, share), room));
  // Behind the heat of others one's own tint would count as theirs.
  if (!heat)
    for (const i of piece.own)
      layers.push(
        filled(`color-mix(in srgb, ${levelColour(scale, kinds[i] ?? 0)} ${TINT}%, transparent)`, free(i)),
      );
  return layers.length > 0 ? layers.join(", ") : null;
}

/**
 * Space under a line of text for mark lines, in pixels; at least two lines, so that the first overlap moves
 * nothing.
 */
export function roomFor(lanes: readonly number[]): number {
  const most = Math.max(2, ...lanes.map((lane) => lane + 1));
  return Math.min(most, MAX_LANES) * STEP;
}
