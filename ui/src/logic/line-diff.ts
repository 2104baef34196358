// What changed between two versions of a text, line by line.
import { diffLines } from "diff";

export type DiffRow =
  | { kind: "same" | "added" | "removed"; line: string }
  /** Lines that are the same, far from any that changed. */
  | { kind: "fold"; lines: number };

/** Unchanged context lines around changes. */
const AROUND = 2;
/** After this time, two texts count as completely different. */
const LONGEST_MS = 500;

/** The lines of both texts; removed lines precede their replacement. */
export function lineDiff(before: string, after: string): DiffRow[] {
  const changes = diffLines(whole(before), whole(after), { timeout: LONGEST_MS });
  if (!changes) return [...rows("removed", before), ...rows("added", after)];
  const all = changes.flatMap(({ added, removed, value }) =>
    rows(added ? "added" : removed ? "removed" : "same", value),
  );
  return folded(all);
}

/** Whether there are differences. */
export function differs(diff: readonly DiffRow[]): boolean {
  return diff.some(({ kind }) => kind === "added" || kind === "removed");
}

/** A last line without an end is the same as one with it. */
function whole(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function rows(kind: "same" | "added" | "removed", text: string): DiffRow[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => ({ kind, line }));
}

function folded(all: readonly DiffRow[]): DiffRow[] {
  const near = new Set<number>();
  all.forEach(({ kind }, i) => {
    if (kind !== "same") for (let at = i - AROUND; at <= i + AROUND; at++) near.add(at);
  });
  return all.flatMap((row, i): DiffRow[] => {
    if (near.has(i)) return [row];
    if (i > 0 && !near.has(i - 1)) return [];
    let lines = 1;
    while (i + lines < all.length && !near.has(i + lines)) lines += 1;
    return lines === 1 ? [row] : [{ kind: "fold", lines }];
  });
}
