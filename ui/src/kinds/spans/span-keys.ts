// Which key does what to marks in a text.
import type { SpanMarks } from "./span-marks.svelte";

/** Where the lines of the text are on screen. */
export interface Lines {
  /** The offset one line below or above another, in the same column. */
  adjacentLine(offset: number, step: 1 | -1): number;
  /** The start or end of the line of an offset. */
  edge(offset: number, end: boolean): number;
}

/** Answers that there is nothing to mark. */
export const NOTHING_KEY = "0";

/** 1..9 as the index of a type. */
function typeOfKey(key: string): number | null {
  return /^[1-9]$/.test(key) ? Number(key) - 1 : null;
}

/** Takes a change back or makes it again; true where the key was one of these. */
export function undoKey(event: KeyboardEvent, marks: SpanMarks): boolean {
  if (!(event.ctrlKey || event.metaKey) || event.altKey) return false;
  const key = event.key.toLowerCase();
  if (key === "z" && !event.shiftKey) marks.undo();
  else if ((key === "z" && event.shiftKey) || (key === "y" && !event.shiftKey)) marks.redo();
  else return false;
  return true;
}

/** Keys that mean the same wherever the focus is; true where the key was one of them. */
export function markKey(event: KeyboardEvent, marks: SpanMarks, types: number): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const kind = typeOfKey(event.key);
  if (kind !== null && kind < types) marks.press(kind);
  else if (event.key === NOTHING_KEY) marks.nothing();
  else if (event.key === "," || event.key === ".") {
    const next = marks.kind + (event.key === "." ? 1 : -1);
    if (next >= 0 && next < types) marks.choosing(next);
  } else if (event.key === "Delete" || event.key === "Backspace") marks.removeHere();
  else return false;
  return true;
}

/** Keys of the text itself, while it has the focus; true where the key was one of them. */
export function textKey(event: KeyboardEvent, marks: SpanMarks, lines: Lines): boolean {
  if (event.metaKey || event.isComposing) return false;
  const other = event.ctrlKey || event.altKey;
  const { key, shiftKey: extend } = event;
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const on = (key === "ArrowRight") !== marks.units.rightToLeft;
    marks.step(on ? 1 : -1, marks.snap !== other ? "word" : "character", extend);
  } else if (key === "Home" || key === "End") {
    const end = key === "End";
    const edge = end ? marks.units.length : 0;
    marks.moveTo(other ? edge : lines.edge(marks.caret ?? 0, end), extend);
  } else if (other) return false;
  else if (key === "ArrowUp" || key === "ArrowDown") {
    if (marks.caret === null) marks.step(1, "word", false);
    else marks.moveTo(lines.adjacentLine(marks.caret, key === "ArrowDown" ? 1 : -1), extend);
  } else if (key === "Tab") return marks.cycle(extend ? -1 : 1);
  else if (key === " ") marks.press(marks.kind);
  else return false;
  return true;
}
