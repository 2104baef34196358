// The words of a text and their heat: offsets, runs of one colour, and explanations.
import { expect, it } from "vitest";
import type { WordFigure, WordHeat } from "$api/bindings";
import { TextUnits } from "./text-units";
import { heatOf, heatWords, runsOf, wordAt, wordsIn, wordUpTo, wordWords } from "./word-heat";

const word = (start: number, end: number, more: Partial<WordFigure> = {}): WordFigure => ({
  start,
  end,
  marked_by: [],
  expected: null,
  differ: null,
  ...more,
});
const heat = (more: Partial<WordHeat> = {}): WordHeat => ({
  words: [],
  answers: 5,
  people: 0,
  needs: "fit",
  reader_left_out: false,
  fitted_on: null,
  ...more,
});
const name = (id: number) => ["Ada", "Ben", "Cy", "Dee", "Eli", "Fay", "Gus", "Hal", "Ivy"][id - 1] ?? "";

it("positions words by characters; an emoji is one", () => {
  const units = new TextUnits("🙃 you 🙃 fool");
  const words = wordsIn(units, [word(2, 5), word(8, 12)]);
  expect(words.map(({ start, end }) => units.body.slice(start, end))).toEqual(["you", "fool"]);
});

it("scales each figure by its own ramp: disagreement of two of many people is at most half", () => {
  const figure = word(0, 1, { marked_by: [1, 2], expected: 0.6, differ: 0.25 });
  expect(heatOf(figure, "marked", 5)).toBeCloseTo(0.4);
  expect(heatOf(figure, "expected", 5)).toBeCloseTo(0.6);
  expect(heatOf(figure, "differ", 5)).toBeCloseTo(0.52);
  // Of two people the probability can be 1: the ramp ends before that.
  expect(heatOf(word(0, 1, { differ: 0.9 }), "differ", 2)).toBe(1);
  // What is not known has no colour, and no answers are no share.
  expect(heatOf(word(0, 1), "expected", 5)).toBe(0);
  expect(heatOf(figure, "marked", 0)).toBe(0);
});

it("splits a text only where its heat changes, and keeps all of it", () => {
  const units = new TextUnits("A b c, d e.");
  const words = wordsIn(units, [word(0, 1), word(2, 3), word(4, 5), word(7, 8), word(9, 10)]);
  const runs = runsOf(units, words, [0, 0.4, 0.4, 0.8, 0]);
  expect(runs.map(({ text, heat }) => [text, heat])).toEqual([
    ["A ", 0],
    ["b c", 0.4],
    [", ", 0],
    ["d", 0.8],
    [" e.", 0],
  ]);
  expect(runs.map(({ start }) => start)).toEqual([0, 2, 5, 7, 8]);
});

it("splits between adjacent words, and if a text starts and ends with heat", () => {
  const units = new TextUnits("我你他");
  const words = wordsIn(units, [word(0, 1), word(1, 2), word(2, 3)]);
  const runs = runsOf(units, words, [0.2, 0.4, 0.4]);
  expect(runs.map(({ text, heat }) => [text, heat])).toEqual([
    ["我", 0.2],
    ["你他", 0.4],
  ]);
  expect(runsOf(new TextUnits(""), [], [])).toEqual([]);
  expect(runsOf(new TextUnits(" … "), [], []).map(({ text }) => text)).toEqual([" … "]);
});

it("splits 1,250 words quickly", () => {
  const body = Array.from({ length: 1250 }, (_, i) => `word${i % 10}`).join(" ");
  const units = new TextUnits(body);
  const words = wordsIn(
    units,
    Array.from({ length: 1250 }, (_, i) => word(i * 6, i * 6 + 5)),
  );
  const alike = runsOf(
    units,
    words,
    words.map((_, i) => (i < 600 ? 0 : 0.2)),
  );
  expect(alike).toHaveLength(2);
  const each = runsOf(
    units,
    words,
    words.map((_, i) => ((i % 7) + 1) / 25),
  );
  expect(each.map(({ text }) => text).join("")).toBe(body);
});

it("finds the word at a position, or the last one before it", () => {
  const words = [
    { start: 2, end: 4 },
    { start: 7, end: 9 },
  ];
  expect([0, 2, 3, 4, 5, 7, 9, 12].map((offset) => wordAt(words, offset))).toEqual([
    null,
    0,
    0,
    0,
    null,
    1,
    1,
    null,
  ]);
  expect([0, 5, 40].map((offset) => wordUpTo(words, offset))).toEqual([-1, 0, 1]);
});

it("describes who marked a word and what is expected of it", () => {
  const known = heat({ people: 262, needs: null });
  const figure = word(0, 4, { marked_by: [1, 2, 3], expected: 0.4, differ: 0.41 });
  expect(wordWords(figure, known, name)).toBe(
    "3 of 5 marked it: Ada, Ben, Cy; expected 40 % of 262; two of them differ with probability 41 %",
  );
  expect(wordWords(figure, heat(), name)).toBe("3 of 5 marked it: Ada, Ben, Cy");
  expect(wordWords(word(0, 4), heat(), name)).toBe("none of 5 marked it");
  expect(wordWords(word(0, 4), heat({ answers: 0 }), name)).toBe("nobody has answered yet");
});

it("names a handful of people and counts the others", () => {
  const by = (n: number) => word(0, 4, { marked_by: Array.from({ length: n }, (_, i) => i + 1) });
  const of = heat({ answers: 9 });
  expect(wordWords(by(6), of, name)).toBe("6 of 9 marked it: Ada, Ben, Cy, Dee, Eli, Fay");
  expect(wordWords(by(9), of, name)).toBe("9 of 9 marked it: Ada, Ben, Cy, Dee, Eli and 4 more");
});

it("explains the colours", () => {
  const known = heat({ people: 262, needs: null });
  expect(heatWords("marked", known, false)).toBe("Share of 5 answers with the word marked.");
  expect(heatWords("marked", heat({ answers: 1 }), false)).toBe("Share of 1 answer with the word marked.");
  expect(heatWords("marked", heat({ answers: 0 }), false)).toMatch(/^Nobody has answered/);
  expect(heatWords("marked", heat({ answers: 0 }), true)).toMatch(/^None of the selected people/);
  expect(heatWords("expected", known, false)).toMatch(/^Share of 262 people/);
  expect(heatWords("differ", known, false)).toMatch(/two of 262 people.*at most 50 %/);
});
