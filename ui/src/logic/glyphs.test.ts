import { expect, it } from "vitest";
import { undrawn } from "./glyphs";

/** A machine that draws only what fits. */
const only = (has: RegExp) => (letter: string) => (has.test(letter) ? letter : "box");

it("names the scripts without a font, with the number of letters", () => {
  const latin = only(/[\u0000-\u024f]/);
  expect(undrawn("Grüße, a plain text.", latin)).toEqual([]);
  expect(undrawn("안녕 hello", latin)).toEqual([{ script: "Hang", letters: 2 }]);
  // A family is four signs that are joined; the joiners are no letters.
  expect(undrawn("👩‍👩‍👧", latin)).toEqual([{ script: "emoji", letters: 3 }]);
  expect(undrawn("漢字 かな שלום ᚠ", latin).map(({ script }) => script)).toEqual([
    "Hani",
    "Hrkt",
    "Hebr",
    "other",
  ]);
});

it("reports nothing for drawn glyphs, and for marks and spaces that are invisible", () => {
  expect(undrawn("안녕 👩‍👩‍👧 ❤️", only(/./u))).toEqual([]);
  expect(undrawn("e\u0301 \u200b\u2028\ufeff", only(/[a-z]/))).toEqual([]);
});
