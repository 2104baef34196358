// Marks in a text by click and by key, without a screen.
import { describe, expect, it } from "vitest";
import type { Scale } from "$api/bindings";
import { markKey, textKey, undoKey, type Lines } from "./span-keys";
import { SpanMarks } from "./span-marks.svelte";

const scale: Scale = { kind: "spans", levels: ["insult", "threat", "scorn"] };
const BODY = "Oh, you pathetic fool!";
/** Lines of ten characters, as a screen might break them. */
const lines: Lines = {
  adjacentLine: (offset, step) => Math.max(0, Math.min(BODY.length, offset + 10 * step)),
  edge: (offset, end) => Math.min(BODY.length, Math.floor(offset / 10) * 10 + (end ? 9 : 0)),
};

function begun(body = BODY): SpanMarks {
  const marks = new SpanMarks(scale);
  marks.load(1, body, null);
  return marks;
}

function press(marks: SpanMarks, ...keys: string[]): boolean[] {
  return keys.map((pressed) => {
    const parts = pressed.split("+");
    const key = parts.pop() ?? "";
    const event = new KeyboardEvent("keydown", {
      key,
      shiftKey: parts.includes("Shift"),
      ctrlKey: parts.includes("Ctrl"),
      altKey: parts.includes("Alt"),
    });
    return (
      textKey(event, marks, lines) || undoKey(event, marks) || markKey(event, marks, scale.levels.length)
    );
  });
}

const words = (marks: SpanMarks) =>
  marks.spans.map(({ start, end, kind }) => `${[...marks.units.body].slice(start, end).join("")}/${kind}`);
const selected = (marks: SpanMarks) =>
  marks.selection && marks.units.body.slice(marks.selection.start, marks.selection.end);

describe("by key", () => {
  it("the first arrow key places the caret in the text, further ones move it word by word", () => {
    const marks = begun();
    expect(marks.caret).toBeNull();
    const places = ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"].map(
      (key) => (press(marks, key), marks.caret),
    );
    expect(places).toEqual([0, 2, 4, 2]);
    press(marks, "Ctrl+ArrowRight");
    expect(marks.caret).toBe(3);
    marks.snap = false;
    press(marks, "ArrowRight");
    expect(marks.caret).toBe(4);
    press(marks, "Ctrl+ArrowRight");
    expect(marks.caret).toBe(8);
  });

  it("a digit marks the word at the caret", () => {
    const marks = begun();
    marks.moveTo(10);
    press(marks, "2");
    expect(words(marks)).toEqual(["pathetic/1"]);
    expect(marks.kind).toBe(1);
    expect(marks.changed).toBe(true);
  });

  it("a digit only chooses the type if there is no caret", () => {
    const marks = begun();
    expect(press(marks, "3", "4")).toEqual([true, false]);
    expect([marks.kind, marks.spans, marks.changed]).toEqual([2, [], false]);
  });

  it("Shift selects words, with Ctrl characters, and both directions", () => {
    const marks = begun();
    marks.moveTo(4);
    press(marks, "Shift+ArrowRight", "Shift+ArrowRight");
    expect(selected(marks)).toBe("you pathetic");
    press(marks, "1");
    expect(words(marks)).toEqual(["you pathetic/0"]);
    // The selection stays: another digit marks the same words once more.
    press(marks, "3");
    expect(words(marks)).toEqual(["you pathetic/0", "you pathetic/2"]);
    marks.moveTo(8);
    press(marks, "Ctrl+Shift+ArrowRight", "Ctrl+Shift+ArrowRight");
    expect(selected(marks)).toBe("pa");
    marks.moveTo(17);
    press(marks, "Shift+ArrowLeft");
    expect(selected(marks)).toBe("pathetic");
  });

  it("the caret moves to lines, their ends, and the ends of the text", () => {
    const marks = begun();
    marks.moveTo(4);
    expect(
      ["ArrowDown", "ArrowUp", "End", "Home", "Ctrl+End", "Ctrl+Home"].map(
        (key) => (press(marks, key), marks.caret),
      ),
    ).toEqual([14, 4, 9, 0, 22, 0]);
    press(marks, "Shift+End");
    expect(selected(marks)).toBe("Oh, you pathetic");
  });

  it("arrow keys follow the direction of a right-to-left text", () => {
    const marks = begun("أنت أحمق يا رجل");
    press(marks, "ArrowLeft", "ArrowLeft");
    expect(marks.caret).toBe(4);
    press(marks, "ArrowRight");
    expect(marks.caret).toBe(0);
  });

  it("Tab moves from mark to mark and then on, a digit changes the type of the chosen mark, Delete removes it", () => {
    const marks = begun();
    marks.mark({ start: 4, end: 7 }, 0);
    marks.mark({ start: 17, end: 21 }, 1);
    expect(press(marks, "Tab")).toEqual([true]);
    expect(marks.selected).toEqual({ start: 4, end: 7, kind: 0 });
    press(marks, "3");
    expect(words(marks)).toEqual(["you/2", "fool/1"]);
    expect(press(marks, "Tab", "Tab")).toEqual([true, false]);
    expect(marks.selected).toEqual({ start: 17, end: 21, kind: 1 });
    press(marks, "Delete");
    expect(words(marks)).toEqual(["you/2"]);
    expect(press(marks, "Shift+Tab", "Shift+Tab")).toEqual([true, false]);
    press(marks, "Backspace");
    expect(marks.spans).toEqual([]);
  });

  it("Tab starts at the caret", () => {
    const marks = begun();
    marks.mark({ start: 0, end: 2 }, 0);
    marks.mark({ start: 4, end: 7 }, 0);
    marks.mark({ start: 17, end: 21 }, 1);
    marks.moveTo(8);
    press(marks, "Tab");
    expect(marks.selected?.start).toBe(17);
    marks.moveTo(8);
    press(marks, "Shift+Tab");
    expect(marks.selected?.start).toBe(4);
    marks.moveTo(0);
    expect(press(marks, "Shift+Tab")).toEqual([false]);
  });

  it("Delete removes the shortest mark at the caret if none is chosen", () => {
    const marks = begun();
    marks.mark({ start: 4, end: 21 }, 0);
    marks.mark({ start: 8, end: 16 }, 1);
    marks.moveTo(10);
    press(marks, "Delete");
    expect(words(marks)).toEqual(["you pathetic fool/0"]);
  });

  it("the space bar marks with the chosen type, which comma and full stop change", () => {
    const marks = begun();
    press(marks, ".", ".", ".");
    expect(marks.kind).toBe(2);
    press(marks, ",");
    marks.moveTo(4);
    press(marks, " ");
    expect(words(marks)).toEqual(["you/1"]);
  });

  it("Escape clears the selection step by step: the words of a mark stay selected first", () => {
    const marks = begun();
    marks.mark({ start: 4, end: 16 }, 0);
    press(marks, "Tab");
    expect(marks.letGo()).toBe(true);
    expect([marks.selected, selected(marks)]).toEqual([null, "you pathetic"]);
    press(marks, "2");
    expect(words(marks)).toEqual(["you pathetic/0", "you pathetic/1"]);
    expect([marks.letGo(), marks.selection, marks.letGo()]).toEqual([true, null, false]);
  });

  it("does not handle the view's keys", () => {
    const marks = begun();
    marks.moveTo(4);
    expect(
      press(marks, "s", "u", "f", "b", "?", "Enter", "PageDown", "Ctrl+1", "Ctrl+ArrowDown", "Ctrl+Shift+y"),
    ).toEqual(Array.from({ length: 10 }, () => false));
    expect(marks.spans).toEqual([]);
  });
});

describe("changes", () => {
  it("are undone and redone one by one", () => {
    const marks = begun();
    marks.moveTo(4);
    press(marks, "1", "2");
    press(marks, "0");
    expect(marks.spans).toEqual([]);
    press(marks, "Ctrl+z");
    expect(words(marks)).toEqual(["you/0", "you/1"]);
    press(marks, "Ctrl+z", "Ctrl+z");
    expect([marks.spans, marks.changed, marks.undoable]).toEqual([[], false, false]);
    expect(marks.undo()).toBe(false);
    press(marks, "Ctrl+y", "Ctrl+Shift+z");
    expect(words(marks)).toEqual(["you/0", "you/1"]);
    marks.mark({ start: 0, end: 2 }, 0);
    expect(marks.redo()).toBe(false);
  });

  it("do not mark the same span twice", () => {
    const marks = begun();
    marks.moveTo(4);
    press(marks, "1", "1");
    expect(words(marks)).toEqual(["you/0"]);
    expect(marks.announcement).toBe("Already marked as insult: you");
    marks.mark({ start: 4, end: 7 }, 1);
    marks.choose({ start: 4, end: 7, kind: 1 });
    press(marks, "1");
    expect(words(marks)).toEqual(["you/0"]);
  });

  it("record an empty answer only if it was given explicitly", () => {
    const marks = begun();
    expect(marks.changed).toBe(false);
    marks.nothing();
    expect([marks.changed, marks.spans]).toEqual([true, []]);
    marks.setSaved([]);
    expect(marks.changed).toBe(false);
  });

  it("are none if the recorded answer is put together again", () => {
    const marks = new SpanMarks(scale);
    marks.load(1, BODY, [{ start: 4, end: 7, kind: 0 }]);
    marks.remove({ start: 4, end: 7, kind: 0 });
    expect(marks.changed).toBe(true);
    marks.mark({ start: 4, end: 7 }, 0);
    expect(marks.changed).toBe(false);
  });

  it("made while an answer is being saved stay, and are not part of it", () => {
    const marks = begun();
    marks.mark({ start: 4, end: 7 }, 0);
    const first = [...marks.spans];
    marks.mark({ start: 17, end: 21 }, 1);
    const second = [...marks.spans];
    marks.mark({ start: 0, end: 2 }, 2);
    for (const answer of [first, second]) {
      marks.setSaved(answer);
      expect([words(marks), marks.changed, marks.undoable]).toEqual([
        ["Oh/2", "you/0", "fool/1"],
        true,
        true,
      ]);
    }
    // Without one that waits, the answer is shown as it is.
    marks.load(1, BODY, null);
    expect([words(marks), marks.changed]).toEqual([[], false]);
  });

  it("and the caret stay when the same text with the same answer is loaded again", () => {
    const marks = new SpanMarks(scale);
    const given = () => [{ start: 4, end: 7, kind: 0 }];
    marks.load(1, BODY, given());
    marks.moveTo(10);
    marks.press(1);
    marks.load(1, BODY, given());
    expect([words(marks), marks.caret, marks.undoable]).toEqual([["you/0", "pathetic/1"], 10, true]);
    expect(marks.changed).toBe(true);
  });

  it("that waited on a text are laid with it, to be given; of an answer that was taken back they can be made again", () => {
    const marks = begun();
    marks.mark({ start: 4, end: 7 }, 0);
    marks.load(2, "Another text", null);
    expect([marks.spans, marks.changed, marks.undoable]).toEqual([[], false, false]);
    marks.load(1, BODY, null, [{ start: 4, end: 7, kind: 0 }]);
    expect([words(marks), marks.changed, marks.undoable]).toEqual([["you/0"], true, false]);
    marks.load(2, "Another text", null);
    marks.load(1, BODY, null, []);
    expect([words(marks), marks.changed]).toEqual([[], true]);
    marks.load(1, BODY, [{ start: 0, end: 2, kind: 2 }]);
    marks.setDraft([{ start: 4, end: 7, kind: 0 }]);
    expect([words(marks), marks.changed]).toEqual([["Oh/2"], false]);
    marks.redo();
    expect([words(marks), marks.changed]).toEqual([["you/0"], true]);
    marks.undo();
    expect([words(marks), marks.changed]).toEqual([["Oh/2"], false]);
  });
});

describe("by mouse", () => {
  it("dragging marks the touched words with the chosen type and leaves no mark chosen", () => {
    const marks = begun();
    marks.press(1);
    marks.moveTo(6);
    marks.moveTo(10, true);
    expect(selected(marks)).toBe("you pathetic");
    marks.markBetween(10, 6, false);
    expect(words(marks)).toEqual(["you pathetic/1"]);
    expect([marks.selected, marks.selection, marks.caret]).toEqual([null, null, null]);
    // The next type is chosen, and the mark that was made stays as it is.
    marks.press(0);
    expect(words(marks)).toEqual(["you pathetic/1"]);
  });

  it("dragging with Alt, or without snapping, marks whole characters", () => {
    const marks = begun("a👩‍👩‍👧 e\u0301tude");
    marks.markBetween(2, 3, true);
    expect(words(marks)).toEqual(["👩‍👩‍👧/0"]);
    marks.snap = false;
    marks.markBetween(10, 11, false);
    expect(words(marks)).toEqual(["👩‍👩‍👧/0", "e\u0301/0"]);
  });

  it("two taps select all words between, in any order, and a third one begins anew", () => {
    const marks = begun();
    marks.tap(5);
    expect([selected(marks), marks.target && BODY.slice(marks.target.start, marks.target.end)]).toEqual([
      null,
      "you",
    ]);
    marks.tap(18);
    expect(selected(marks)).toBe("you pathetic fool");
    marks.press(1);
    expect(words(marks)).toEqual(["you pathetic fool/1"]);
    // On a mark a tap chooses it; a word elsewhere is a new beginning.
    marks.tap(6);
    expect(marks.selected?.kind).toBe(1);
    marks.removeHere();
    marks.tap(18);
    marks.tap(9);
    expect(selected(marks)).toBe("pathetic fool");
    marks.tap(1);
    expect([selected(marks), marks.target?.start]).toEqual([null, 0]);
    marks.press(2);
    expect(words(marks)).toEqual(["Oh/2"]);
    // The same word twice is one word.
    marks.tap(5);
    marks.tap(6);
    expect([selected(marks), marks.target?.start]).toEqual([null, 4]);
  });

  it("dragging over white space marks nothing", () => {
    const marks = begun();
    marks.markBetween(3, 4, false);
    expect(marks.spans).toEqual([]);
    marks.markBetween(5, 5, true);
    expect([marks.spans, marks.changed]).toEqual([[], false]);
  });

  it("repeated clicks choose overlapping marks one after the other", () => {
    const marks = begun();
    marks.mark({ start: 4, end: 21 }, 0);
    marks.mark({ start: 8, end: 16 }, 1);
    marks.click(10);
    expect(marks.selected?.kind).toBe(1);
    marks.click(10);
    expect(marks.selected?.kind).toBe(0);
    marks.click(10);
    expect(marks.selected?.kind).toBe(1);
    marks.click(1);
    expect([marks.selected, marks.caret]).toEqual([null, 1]);
  });
});

it("announces the selection, the position of the caret and the last action", () => {
  const marks = begun();
  marks.moveTo(4);
  expect(marks.announcement).toBe("you");
  press(marks, "1");
  expect(marks.announcement).toBe("Marked as insult: you");
  press(marks, "ArrowRight", "ArrowLeft");
  expect(marks.announcement).toBe("you (insult)");
  press(marks, "Shift+ArrowRight");
  expect(marks.announcement).toBe("Selected: you");
  press(marks, "Ctrl+z");
  expect(marks.announcement).toBe("Undone. Marked now: nothing");
});
