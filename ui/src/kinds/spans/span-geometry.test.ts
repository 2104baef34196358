// Lines and places on an invented screen: characters ten wide and twenty high, lines of ten characters.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { boxesOf, boxesWithin, caretBox, linesOf, offsetAt } from "./span-geometry";
import { TextUnits } from "$logic/text-units";

const WIDE = 10;
const HIGH = 20;
/** How many characters a line has before it is broken. */
const LINE = 10;

const root = document.createElement("p");
let right = false;

/** Puts a text on the screen, cut into pieces. */
function put(body: string, cuts: number[] = []): TextUnits {
  const ends = [0, ...cuts, body.length];
  root.replaceChildren(
    ...ends.slice(0, -1).map((start, i) => {
      const piece = document.createElement("span");
      piece.dataset.at = String(start);
      piece.textContent = body.slice(start, ends[i + 1]);
      return piece;
    }),
  );
  return new TextUnits(body);
}

/** The position of a character: wrapped at line breaks and after a number of characters. */
function spot(body: string, at: number): { line: number; column: number } {
  const before = body.slice(0, at).split("\n");
  const lines = before.map((part, i) =>
    i < before.length - 1 ? Math.floor(part.length / LINE) + 1 : Math.floor(part.length / LINE),
  );
  return { line: lines.reduce((a, b) => a + b, 0), column: (before.at(-1)?.length ?? 0) % LINE };
}

beforeEach(() => {
  document.body.append(root);
  right = false;
  // As WebKit does it: the first character of a line has a box at the end of the line before as well.
  Range.prototype.getClientRects = function (this: Range) {
    const body = root.textContent ?? "";
    const begins = Number(this.startContainer.parentElement?.dataset.at);
    const boxes: DOMRect[] = [];
    for (let at = begins + this.startOffset; at < begins + this.endOffset; at += 1) {
      const { line, column } = spot(body, at);
      const left = right ? 500 - (column + 1) * WIDE : column * WIDE;
      if (column === 0 && at > 0) boxes.push(new DOMRect(LINE * WIDE, (line - 1) * HIGH, 0, HIGH));
      boxes.push(new DOMRect(left, line * HIGH, /[\r\n]/.test(body[at] ?? "") ? 0 : WIDE, HIGH));
    }
    return boxes as unknown as DOMRectList;
  };
});

afterEach(() => {
  root.remove();
  vi.restoreAllMocks();
});

describe("boxes", () => {
  it("cover the characters between two positions, across pieces", () => {
    put("abcdefgh", [3, 5]);
    expect(boxesOf(root, 2, 6).map(({ left }) => left)).toEqual([20, 30, 40, 50]);
    expect(boxesOf(root, 4, 4)).toEqual([]);
  });

  it("of the first character of a line are not at the end of the line before", () => {
    put("abcdefghijklmno");
    expect(boxesOf(root, 10, 11).map(({ left, top }) => [left, top])).toEqual([[0, 20]]);
  });

  it("are relative to the corner of the drawing area", () => {
    put("abc");
    root.getBoundingClientRect = () => new DOMRect(7, 9, 100, 100);
    expect(boxesWithin(root, boxesOf(root, 1, 2))).toEqual([{ left: 3, top: -9, width: 10, height: 20 }]);
  });

  it("place the caret before a character and after the last one", () => {
    const units = put("abc");
    expect([0, 2, 3].map((offset) => caretBox(root, units, offset)?.left)).toEqual([0, 20, 30]);
    expect(caretBox(root, put(""), 0)).toBeNull();
    right = true;
    const arabic = put("أنت");
    expect([0, 3].map((offset) => caretBox(root, arabic, offset)?.left)).toEqual([500, 470]);
  });
});

describe("lines", () => {
  const body = "one two th\nab\nee four five six";
  const go = (units: TextUnits, from: number, ...steps: (1 | -1)[]) => {
    const lines = linesOf(root, units, { place: -1, left: 0 });
    let offset = from;
    return steps.map((step) => (offset = lines.adjacentLine(offset, step)));
  };

  it("keep the column when moving up and down, also past a short line", () => {
    const units = put("abcdefghij" + "klmnopqrst" + "uvw");
    expect(go(units, 4, 1, 1, 1)).toEqual([14, 23, 23]);
    expect(go(units, 14, -1, -1)).toEqual([4, 0]);
    const short = put("abcdefgh\nab\nabcdefgh", [4, 13]);
    expect(go(short, 6, 1, 1, -1, -1)).toEqual([11, 18, 11, 6]);
  });

  it("have a start and an end", () => {
    const units = put(body, [7]);
    const { edge } = linesOf(root, units, { place: -1, left: 0 });
    expect([edge(4, false), edge(12, false), edge(20, false)]).toEqual([0, 11, 14]);
    expect(edge(12, true)).toBe(13);
    expect(edge(28, true)).toBe(body.length);
    expect(edge(0, false)).toBe(0);
  });

  it("have no effect without a layout", () => {
    Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
    const units = put("abc");
    expect(go(units, 1, 1)).toEqual([3]);
    expect(go(units, 1, -1)).toEqual([0]);
  });
});

describe("a point of the window", () => {
  const at = (node: Node, offset: number) => {
    const range = document.createRange();
    range.setStart(node, offset);
    document.caretRangeFromPoint = () => range;
    return offsetAt(root, 8, 1, 50);
  };

  it("maps to the position under it, whichever node the engine returns", () => {
    put("abcdefgh", [3, 5]);
    root.getBoundingClientRect = () => new DOMRect(0, 20, 100, 100);
    const second = root.children[1] as HTMLElement;
    expect(at(second.firstChild as Text, 1)).toBe(4);
    expect([at(second, 0), at(second, 1)]).toEqual([3, 5]);
    expect([at(root, 0), at(root, 2), at(root, 3)]).toEqual([0, 5, 8]);
  });

  it("maps points above to the beginning, below to the end, and at the side to nothing", () => {
    put("abcdefgh");
    root.getBoundingClientRect = () => new DOMRect(0, 20, 100, 100);
    document.caretRangeFromPoint = () => null;
    expect([offsetAt(root, 8, 1, 5), offsetAt(root, 8, 1, 500), offsetAt(root, 8, 999, 50)]).toEqual([
      0,
      8,
      null,
    ]);
  });
});
