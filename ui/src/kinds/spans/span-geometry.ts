// Converts between offsets of a text and screen positions. The text is an element whose children have `data-
// at`, the offset at which they begin, and one text node each.
import type { Lines } from "./span-keys";
import type { TextUnits } from "$logic/text-units";

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

interface Hit {
  node: Node;
  offset: number;
}

/** Engines name this in two ways. */
function hitAt(x: number, y: number): Hit | null {
  if (document.caretPositionFromPoint) {
    const hit = document.caretPositionFromPoint(x, y);
    return hit && { node: hit.offsetNode, offset: hit.offset };
  }
  const range = document.caretRangeFromPoint?.(x, y);
  return range ? { node: range.startContainer, offset: range.startOffset } : null;
}

/** The text offset under a point of the window; the start above the text, the end below it, else null. */
export function offsetAt(root: HTMLElement, length: number, x: number, y: number): number | null {
  const hit = hitAt(x, y);
  if (hit && root.contains(hit.node)) return offsetOf(root, length, hit);
  const { top, bottom } = root.getBoundingClientRect();
  if (y < top) return 0;
  return y > bottom ? length : null;
}

function offsetOf(root: HTMLElement, length: number, { node, offset }: Hit): number {
  if (node === root) {
    const behind = [...root.childNodes].slice(offset).find((child) => child instanceof HTMLElement);
    return behind instanceof HTMLElement ? Number(behind.dataset.at) : length;
  }
  const piece = node instanceof HTMLElement ? node : node.parentElement;
  const begins = Number(piece?.dataset.at ?? 0);
  return node instanceof Text
    ? begins + offset
    : begins + (offset > 0 ? (piece?.textContent?.length ?? 0) : 0);
}

/** The text nodes in order, each with the offset at which it begins. */
function* nodesOf(root: HTMLElement): Generator<{ node: Text; at: number }> {
  for (const child of root.children) {
    const node = [...child.childNodes].find((one) => one instanceof Text && one.length > 0);
    if (node instanceof Text && child instanceof HTMLElement) yield { node, at: Number(child.dataset.at) };
  }
}

/** Where the characters between two places are on screen, a box for each line. */
export function boxesOf(root: HTMLElement, start: number, end: number): Box[] {
  const boxes: Box[] = [];
  for (const { node, at } of nodesOf(root)) {
    if (at >= end) break;
    if (at + node.length <= start) continue;
    const range = document.createRange();
    range.setStart(node, Math.max(0, start - at));
    range.setEnd(node, Math.min(node.length, end - at));
    // Without layout there are no boxes.
    boxes.push(...(range.getClientRects?.() ?? []));
  }
  // WebKit gives the first character of a line a box without width at the end of the line before, too.
  const wide = boxes.filter(({ width }) => width > 0);
  return wide.length > 0 ? wide : boxes;
}

/** The same, counted from the corner of an element. */
export function boxesWithin(frame: HTMLElement, boxes: readonly Box[]): Box[] {
  const { left, top } = frame.getBoundingClientRect();
  return boxes.map((box) => ({
    left: box.left - left,
    top: box.top - top,
    width: box.width,
    height: box.height,
  }));
}

/** The box of a caret before an offset; at the end of the text, after the last character. */
export function caretBox(root: HTMLElement, units: TextUnits, offset: number): Box | null {
  const last = offset >= units.length;
  const from = last ? units.previous(units.length) : offset;
  const all = boxesOf(root, from, units.next(from));
  const box = last ? all.at(-1) : all[0];
  if (!box) return null;
  const right = last !== units.rightToLeft;
  return { left: right ? box.left + box.width : box.left, top: box.top, width: 0, height: box.height };
}

/**
 * The last vertical move and the column that it keeps, so that a short line between two long ones changes
 * nothing.
 */
export interface Column {
  place: number;
  left: number;
}

/** The lines of the text as wrapped on screen; `column` is preserved between keys. */
export function linesOf(root: HTMLElement, units: TextUnits, column: Column): Lines {
  const caret = (offset: number) => caretBox(root, units, offset);
  const sameLine = (a: number, b: number) => {
    const [one, other] = [caret(a), caret(b)];
    return one === null || other === null || Math.abs(one.top - other.top) < one.height / 2;
  };
  /**
   * The first offset from `low` on for which `holds` is true, given that it is true for all later ones; else
   * `high`.
   */
  const first = (low: number, high: number, holds: (offset: number) => boolean): number => {
    let [from, to] = [low, high];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (holds(units.floor(middle))) to = middle;
      else from = middle + 1;
    }
    return from;
  };
  const edge = (offset: number, end: boolean): number => {
    if (!end) return units.ceil(first(0, offset, (other) => sameLine(other, offset)));
    if (sameLine(offset, units.length)) return units.length;
    const beyond = first(offset, units.length, (other) => !sameLine(other, offset));
    return Math.max(offset, units.previous(units.ceil(beyond)));
  };
  const nearest = (from: number, to: number, left: number): number => {
    let best = { place: from, away: Infinity };
    for (let offset = from; ; offset = units.next(offset)) {
      const away = Math.abs((caret(offset)?.left ?? Infinity) - left);
      if (away < best.away) best = { place: offset, away };
      if (offset >= to) return best.place;
    }
  };
  const adjacentLine = (offset: number, step: 1 | -1, left: number): number => {
    if (step > 0) {
      const end = edge(offset, true);
      if (end >= units.length) return units.length;
      const below = units.next(end);
      return nearest(below, edge(below, true), left);
    }
    const start = edge(offset, false);
    if (start === 0) return 0;
    const above = units.previous(start);
    return nearest(edge(above, false), above, left);
  };
  return {
    edge,
    adjacentLine(offset, step) {
      if (offset !== column.place) column.left = caret(offset)?.left ?? 0;
      column.place = adjacentLine(offset, step, column.left);
      return column.place;
    },
  };
}
