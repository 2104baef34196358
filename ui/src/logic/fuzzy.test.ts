// What a few letters find.
import { expect, it } from "vitest";
import { match } from "./fuzzy";

const best = (query: string, names: string[]) =>
  names
    .flatMap((name) => match(query, name)?.score ?? -1)
    .map((score, i) => ({ score, name: names[i] }))
    .filter(({ score }) => score >= 0)
    .sort((a, b) => b.score - a.score)
    .map(({ name }) => name);
const marked = (query: string, name: string) =>
  match(query, name)
    ?.at.map((at) => name[at])
    .join("");

it("finds letters in their order, and nothing else", () => {
  expect(marked("expl", "Export labels")).toBe("Expl");
  expect(marked("sac", "Save a copy")).toBe("Sac");
  expect(match("xyz", "Export labels")).toBeNull();
  expect(match("lexp", "Export")).toBeNull();
  // A letter within a word is no beginning: all would be near to all.
  expect(match("xpt", "Export")).toBeNull();
});

it("ranks exact substrings first, at the start of a word before others", () => {
  expect(best("la", ["Flag the text", "Label", "Save a copy", "Look at all"])[0]).toBe("Label");
  expect(best("copy", ["Save a copy…", "Scopyx"])).toEqual(["Save a copy…", "Scopyx"]);
});

it("matches words in any order, and letters without their accents", () => {
  expect(match("labels export", "Export labels")).not.toBeNull();
  expect(marked("zoe", "Zoë")).toBe("Zoë");
  expect(marked("ΑΛΦ", "άλφα")).toBe("άλφ");
});

it("returns positions in the original name", () => {
  expect(match("b", "😀 b")?.at).toEqual([3]);
  expect(match("x", "İx")?.at).toEqual([1]);
  expect(match("x", "İ x")?.at).toEqual([2]);
});

it("finds everything for an empty query", () => {
  expect(match("  ", "Label")).toEqual({ score: 0, at: [] });
});
