// How the ranking of texts changed, and the parts of a sentence of the tour.
import type { TextId } from "$api/bindings";

/** Rows that are on screen at the top of the ranking: a move there is seen. */
const IN_SIGHT = 8;

/** A text that changed its place, counted from 1, and how many texts did. */
export interface Move {
  text: TextId;
  from: number;
  to: number;
  moved: number;
}

/**
 * The text that is worth pointing at: of those at the top before or after, else of all, the one that moved
 * furthest. Texts that are in one order only are left out. None if no text changed its place.
 */
export function moveBetween(before: readonly TextId[], after: readonly TextId[]): Move | null {
  const stays = new Set(after);
  const places = new Map(before.filter((text) => stays.has(text)).map((text, at) => [text, at + 1]));
  const moves = after
    .filter((text) => places.has(text))
    .map((text, at) => ({ text, from: places.get(text) ?? 0, to: at + 1 }))
    .filter(({ from, to }) => from !== to);
  const inSight = moves.filter(({ from, to }) => Math.min(from, to) <= IN_SIGHT);
  const best = (inSight.length > 0 ? inSight : moves).toSorted(
    (a, b) => Math.abs(b.from - b.to) - Math.abs(a.from - a.to) || a.to - b.to,
  )[0];
  return best ? { ...best, moved: moves.length } : null;
}

const MARKS = { control: ["\uE000", "\uE001"], key: ["\uE002", "\uE003"] } as const;

/** A part of a sentence: words, the name of a control as it is on screen, or a key. */
export interface Part {
  kind: "words" | keyof typeof MARKS;
  text: string;
}

/** The name of a control, to be put into a sentence. */
export const control = (name: string): string => MARKS.control.join(name);
/** A key, to be put into a sentence. */
export const key = (name: string): string => MARKS.key.join(name);

/** Takes a sentence apart into words, names of controls and keys. */
export function partsOf(sentence: string): Part[] {
  const pieces = sentence.split(/(\uE000[^\uE001]*\uE001|\uE002[^\uE003]*\uE003)/u);
  return pieces
    .filter((piece) => piece !== "")
    .map((piece) => {
      const kind = piece.startsWith("\uE000") ? "control" : piece.startsWith("\uE002") ? "key" : "words";
      return { kind, text: kind === "words" ? piece : piece.slice(1, -1) };
    });
}
