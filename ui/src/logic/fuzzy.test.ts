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

it("puts what holds the letters as they are first, where a word begins with them before all", () => {
  expect(best("la", ["Flag the text", "Label", "Save a copy", "Look at all"])[0]).toBe("Label");
  expect(best("copy", ["Save a copy…", "Scopyx"])).toEqual(["Save a copy…", "Scopyx"]);
});

it("takes words in any order, and letters without their marks", () => {
  expect(match("labels export", "Export labels")).not.toBeNull();
  expect(marked("zoe", "Zoë")).toBe("Zoë");
  expect(marked("ΑΛΦ", "άλφα")).toBe("άλφ");
});

it("gives places of the name as it is written", () => {
  expect(match("b", "😀 b")?.at).toEqual([3]);
  expect(match("x", "İx")?.at).toEqual([1]);
  expect(match("x", "İ x")?.at).toEqual([2]);
});

it("finds everything where nothing is asked", () => {
  expect(match("  ", "Label")).toEqual({ score: 0, at: [] });
});
