// Sets of spans, and how they overlap.
import { describe, expect, it } from "vitest";
import type { PersonSpans, Scale } from "$api/bindings";
import { levelColour } from "$kinds/level/levels";
import { backgroundOf, heatColour, lineOf, roomFor } from "./span-paint";
import {
  answerOfSpans,
  lanesOf,
  markersWords,
  peopleByType,
  piecesOf,
  sameSpans,
  shareOf,
  spanSet,
  spansName,
  spansOf,
  pointedWordAt,
  wordsOf,
} from "./spans";
import { TextUnits } from "$logic/text-units";

const scale: Scale = { kind: "spans", levels: ["insult", "threat"] };
const span = (start: number, end: number, kind = 0) => ({ start, end, kind });
const person = (annotator: number, name: string, ...spans: ReturnType<typeof span>[]): PersonSpans => ({
  annotator,
  name,
  spans,
});

describe("a set of spans", () => {
  it("is ordered, without duplicates and empty spans", () => {
    const spans = [span(4, 8, 1), span(4, 8), span(0, 2), span(4, 6), span(4, 8, 1), span(5, 5), span(7, 3)];
    expect(spanSet(spans)).toEqual([span(0, 2), span(4, 6), span(4, 8), span(4, 8, 1)]);
    expect(answerOfSpans(spans, scale)).toEqual({ kind: "spans", value: spanSet(spans) });
  });

  it("is an answer even if it is empty", () => {
    expect(answerOfSpans([], scale)).toEqual({ kind: "spans", value: [] });
    const answers = [answerOfSpans([], scale), null, { kind: "level" as const, value: 1 }];
    expect(answers.map((answer) => spansOf(answer, scale))).toEqual([[], [], []]);
  });

  it("is equal if its spans are equal", () => {
    expect(sameSpans([span(0, 2)], [span(0, 2)])).toBe(true);
    expect(sameSpans([span(0, 2)], [span(0, 2, 1)])).toBe(false);
    expect(sameSpans([span(0, 2)], [span(0, 2), span(1, 2)])).toBe(false);
    expect(sameSpans([], [])).toBe(true);
  });

  it("is described by the number of spans of each type", () => {
    expect(spansName(scale, [span(0, 2, 1), span(3, 4, 1), span(0, 9)])).toBe("insult, 2 × threat");
    expect(spansName(scale, [])).toBe("nothing");
  });

  it("counts characters, not code units", () => {
    expect(wordsOf(new TextUnits("🙃🙃 fool"), span(3, 7))).toBe("fool");
  });
});

describe("lanes", () => {
  it("separate overlapping spans, and are shared by spans that only touch", () => {
    expect(lanesOf([span(0, 4), span(2, 6), span(4, 8), span(0, 8, 1)])).toEqual([0, 2, 0, 1]);
    expect(lanesOf([])).toEqual([]);
  });
});

describe("pieces", () => {
  const units = new TextUnits("🙃 you fool, go");
  const own = [span(2, 10), span(6, 10, 1)];
  const others = [
    person(1, "Amara", span(6, 10)),
    person(2, "Bruno", span(2, 10, 1), span(6, 10)),
    person(3, "Elif"),
  ];
  const pieces = piecesOf(units, own, others);

  it("add up to the text for any marks", () => {
    expect(pieces.map(({ text }) => text).join("")).toBe(units.body);
    expect(pieces.map(({ text }) => text)).toEqual(["🙃 ", "you ", "fool", ", go"]);
  });

  it("list the marks that cover them and those that start there", () => {
    expect(pieces.map(({ own }) => own)).toEqual([[], [0], [0, 1], []]);
    expect(pieces.map(({ begins }) => begins)).toEqual([[], [0], [1], []]);
  });

  it("list who marked them with which type, each person once", () => {
    expect(pieces.map(({ others }) => others.map(({ person, kinds }) => [person.name, kinds]))).toEqual([
      [],
      [["Bruno", [1]]],
      [
        ["Amara", [0]],
        ["Bruno", [0, 1]],
      ],
      [],
    ]);
  });

  it("have a heat equal to the share of other annotators who marked them", () => {
    expect(pieces.map((piece) => shareOf(piece, null, 3))).toEqual([0, 1 / 3, 2 / 3, 0]);
    expect(pieces.map((piece) => shareOf(piece, 1, 3))).toEqual([0, 1 / 3, 1 / 3, 0]);
    expect(shareOf(pieces[0] as (typeof pieces)[0], null, 0)).toBe(0);
    expect(peopleByType(others, 2)).toEqual([2, 1]);
  });

  it("are described in words", () => {
    expect(markersWords(scale, pieces[2] as (typeof pieces)[0], 3)).toBe(
      "2 of 3 others: Amara (insult), Bruno (insult, threat)",
    );
    expect(markersWords(scale, pieces[0] as (typeof pieces)[0], 1)).toBe("none of 1 other marked this");
  });

  it("are found by the word at a position", () => {
    expect(pointedWordAt(units, pieces, 8)).toEqual({ words: "fool", piece: pieces[2] });
    expect(pointedWordAt(units, pieces, 6)?.words).toBe("you");
    expect(pointedWordAt(new TextUnits("a   b"), piecesOf(new TextUnits("a   b"), []), 2)).toBeNull();
  });

  it("end at the end of the text even if an imported span does not", () => {
    expect(piecesOf(new TextUnits("abc"), [span(1, 99)]).map(({ text }) => text)).toEqual(["a", "bc"]);
    expect(piecesOf(new TextUnits(""), [])).toEqual([]);
  });

  it("of a long text are few and of limited length", () => {
    const long = new TextUnits(Array.from({ length: 10_000 }, (_, i) => `word${i}`).join(" "));
    const many = piecesOf(long, [span(100, 200), span(50_000, 50_010, 1)]);
    expect(many.length).toBeLessThan(100);
    expect(many.map(({ text }) => text).join("")).toBe(long.body);
    expect(Math.max(...many.map(({ text }) => text.length))).toBeLessThanOrEqual(2000);
  });
});

describe("paint", () => {
  const many: Scale = { kind: "spans", levels: Array.from({ length: 20 }, (_, i) => `t${i}`) };

  it("distinguishes twenty types", () => {
    expect(new Set(many.levels.map((_, kind) => lineOf(many, kind))).size).toBe(20);
    expect(levelColour(many, 0)).toBe(levelColour(many, 8));
  });

  it("draws a line per mark, and either the person's own tint or the heat", () => {
    const units = new TextUnits("you fool");
    const own = [span(4, 8)];
    const [first, , second] = piecesOf(units, own, [person(1, "Amara", span(0, 3))]);
    const paint = (piece: typeof first, heat: { kind: null; others: number } | null) =>
      piece && backgroundOf(scale, piece, [0], lanesOf(own), heat);
    expect(paint(first, null)).toBeNull();
    expect(paint(second, null)?.split("no-repeat")).toHaveLength(3);
    const heat = { kind: null, others: 2 };
    expect(paint(first, heat)).toContain(heatColour(scale, null, 0.5));
    expect(paint(second, heat)?.split("no-repeat")).toHaveLength(2);
  });

  it("reserves space for two to four lines", () => {
    expect([roomFor([]), roomFor([0, 1]), roomFor([0, 1, 2]), roomFor([0, 1, 2, 3, 4, 5])]).toEqual([
      10, 10, 15, 20,
    ]);
  });
});
