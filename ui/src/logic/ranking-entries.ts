// The rows of the ranking: texts, and an expandable row above indistinguishable texts.
import type { TextId } from "$api/bindings";

/** So many texts of a group are shown while it is closed; groups hardly larger need no row of their own. */
export const ROWS_AT_FIRST = 10;
const SMALLEST = ROWS_AT_FIRST + 3;

export type Entry =
  | { kind: "text"; text: TextId; rank: number }
  | { kind: "tie"; group: number; first: number; size: number; open: boolean };

/** The rows of an order whose groups of indistinguishable texts have these sizes. */
export function entriesOf(
  order: readonly TextId[],
  ties: readonly number[],
  open: ReadonlySet<number>,
): Entry[] {
  const entries: Entry[] = [];
  let at = 0;
  const push = (size: number) => {
    for (const end = Math.min(order.length, at + size); at < end; at += 1) {
      const text = order[at];
      if (text !== undefined) entries.push({ kind: "text", text, rank: at + 1 });
    }
  };
  ties.forEach((size, group) => {
    if (size < SMALLEST) {
      push(size);
      return;
    }
    const end = at + size;
    entries.push({ kind: "tie", group, first: at + 1, size, open: open.has(group) });
    push(open.has(group) ? size : ROWS_AT_FIRST);
    at = end;
  });
  push(order.length);
  return entries;
}

/** The group of a text that a closed group hides; `null` where it is in sight. */
export function hiddenIn(
  text: TextId,
  order: readonly TextId[],
  ties: readonly number[],
  open: ReadonlySet<number>,
): number | null {
  const place = order.indexOf(text);
  let from = 0;
  for (const [group, size] of ties.entries()) {
    if (place < from + size)
      return size >= SMALLEST && !open.has(group) && place >= from + ROWS_AT_FIRST ? group : null;
    from += size;
  }
  return null;
}
