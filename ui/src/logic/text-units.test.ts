// Offsets and units of texts that are not plain ASCII.
import { describe, expect, it } from "vitest";
import { TextUnits } from "./text-units";

const FAMILY = "👩‍👩‍👧‍👦";
const texts = {
  plain: "Oh, you fool!",
  emoji: `🙃 a${FAMILY}b 🇩🇪🇫🇷 👍🏽!`,
  combining: "e\u0301tude Z\u0351\u036bo na\u0308ive",
  arabic: "أنت أحمق، يا رجل",
  hebrew: "שָׁלוֹם עולם",
  hindi: "क्षत्रिय नमस्ते",
  korean: "\u1112\u1161\u11ab\u1100\u116e\u11a8 한국",
  breaks: "one\r\ntwo\r\n\r\nthree\n",
  lone: "a\ud800b",
  empty: "",
};

describe.each(Object.entries(texts))("places in %s", (_, body) => {
  const units = new TextUnits(body);

  it("convert code points to code units and back", () => {
    const characters = [...body];
    expect(units.points).toBe(characters.length);
    for (let point = 0; point <= characters.length; point += 1) {
      const unit = characters.slice(0, point).join("").length;
      expect(units.unitOf(point)).toBe(unit);
      expect(units.pointOf(unit)).toBe(point);
    }
  });

  it("within a surrogate pair count the characters before it", () => {
    for (let unit = 0; unit < body.length; unit += 1) {
      const character = body.codePointAt(unit) ?? 0;
      if (character > 0xffff) expect(units.pointOf(unit + 1)).toBe(units.pointOf(unit));
    }
  });

  it("beyond the text are clamped to its ends", () => {
    expect([units.unitOf(-3), units.unitOf(1e6)]).toEqual([0, body.length]);
    expect([units.pointOf(-3), units.pointOf(1e6)]).toEqual([0, units.points]);
  });

  it("move by grapheme cluster in both directions", () => {
    const clusters = [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(body)];
    const starts = [...clusters.map(({ index }) => index), body.length];
    const on = [0];
    for (let at = 0; at < body.length;) on.push((at = units.next(at)));
    expect(on).toEqual(starts);
    const back = [body.length];
    for (let at = body.length; at > 0;) back.unshift((at = units.previous(at)));
    expect(back).toEqual(starts);
  });

  it("are never split: selections end at cluster boundaries", () => {
    const starts = new Set([body.length]);
    for (const { index } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(body))
      starts.add(index);
    for (let a = 0; a <= body.length; a += 1) {
      for (let b = a + 1; b <= body.length; b += 1) {
        for (const part of [units.snapToClusters(a, b), units.snapToWords(a, b)]) {
          if (!part) continue;
          expect(starts.has(part.start) && starts.has(part.end)).toBe(true);
          expect(part.start).toBeLessThan(part.end);
        }
        const exact = units.snapToClusters(a, b);
        expect(exact && exact.start <= a && exact.end >= b).toBe(true);
      }
    }
  });

  it("returns ordered, separate words without surrounding white space", () => {
    let before = 0;
    for (const { start, end } of units.words) {
      expect(start).toBeGreaterThanOrEqual(before);
      expect(end).toBeGreaterThan(start);
      const word = body.slice(start, end);
      expect(word.trim()).toBe(word);
      before = end;
    }
  });
});

describe("without a segmenter", () => {
  it.each(Object.entries(texts))(
    "the clusters of %s are never less than a character with its marks",
    (_, body) => {
      const plain = new TextUnits(body, false);
      const places = [0];
      for (let at = 0; at < body.length;) places.push((at = plain.next(at)));
      expect(places.at(-1)).toBe(body.length);
      for (const offset of places.slice(0, -1)) expect(body.slice(offset)).not.toMatch(/^[\p{M}\u200d]/u);
      for (const offset of places.slice(1, -1)) expect(body.slice(offset - 1, offset + 1)).not.toBe("\r\n");
      expect(plain.words.every(({ start, end }) => start < end)).toBe(true);
    },
  );

  it("finds the same words in plain text and the same emoji", () => {
    for (const body of [texts.plain, texts.emoji, texts.combining, texts.breaks, "don't stop... now"])
      expect(new TextUnits(body, false).words).toEqual(new TextUnits(body).words);
  });
});

describe("words", () => {
  const wordsOf = (body: string) => new TextUnits(body).words.map(({ start, end }) => body.slice(start, end));

  it("are letters, runs of one sign, and single emoji", () => {
    expect(wordsOf("Oh, don't you!!! 🙃🙃 ok?!")).toEqual([
      "Oh",
      ",",
      "don't",
      "you",
      "!!!",
      "🙃",
      "🙃",
      "ok",
      "?",
      "!",
    ]);
    expect(wordsOf(" \r\n ")).toEqual([]);
  });

  it("include joined characters", () => {
    expect(wordsOf(texts.combining)).toEqual(["e\u0301tude", "Z\u0351\u036bo", "na\u0308ive"]);
    expect(wordsOf(`a ${FAMILY} b`)).toEqual(["a", FAMILY, "b"]);
  });

  const units = new TextUnits("Oh, you fool!");

  it("are found at, before and after a position", () => {
    expect(units.wordAt(4)).toEqual({ start: 4, end: 7 });
    expect(units.wordAt(5)).toEqual({ start: 4, end: 7 });
    // Behind a word without another one there it is the one that ends.
    expect(units.wordAt(7)).toEqual({ start: 4, end: 7 });
    expect(units.wordAt(13)).toEqual({ start: 12, end: 13 });
    expect(new TextUnits("a   b").wordAt(2)).toBeNull();
  });

  it("are traversed forwards and backwards, to the ends of the text", () => {
    const on = [0];
    for (let at = 0; at < 13;) on.push((at = units.nextWord(at)));
    expect(on).toEqual([0, 2, 4, 8, 12, 13]);
    const back = [13];
    for (let at = 13; at > 0;) back.push((at = units.previousWord(at)));
    expect(back).toEqual([13, 12, 8, 4, 2, 0]);
    expect(units.previousWord(6)).toBe(4);
    expect([units.wordEnd(4), units.wordEnd(7), units.wordEnd(13)]).toEqual([7, 12, 13]);
  });

  it("are what a selection snaps to; white space alone is none", () => {
    const snapped = (a: number, b: number) => {
      const part = units.snapToWords(a, b);
      return part && units.body.slice(part.start, part.end);
    };
    expect(snapped(5, 6)).toBe("you");
    expect(snapped(6, 9)).toBe("you fool");
    expect(snapped(3, 8)).toBe("you");
    expect(snapped(7, 8)).toBeNull();
    expect(snapped(0, 13)).toBe("Oh, you fool!");
    expect(units.snapToClusters(4, 4)).toBeNull();
  });
});

it("detects right-to-left texts", () => {
  expect([texts.arabic, texts.hebrew, "« שלום»"].map((body) => new TextUnits(body).rightToLeft)).toEqual([
    true,
    true,
    true,
  ]);
  expect([texts.plain, texts.hindi, "123", ""].map((body) => new TextUnits(body).rightToLeft)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

it.each(["emoji", "combining", "arabic", "hindi", "breaks"] as const)(
  "reads a long text of %s as it reads a short one",
  (name) => {
    // Long enough for many parts; each line is a text of its own for words and clusters.
    const line = `${texts[name].trim()} und so weiter `;
    const one = new TextUnits(line);
    const many = new TextUnits(line.repeat(60));
    const expected = Array.from({ length: 60 }, (_, i) =>
      one.words.map(({ start, end }) => ({ start: start + i * line.length, end: end + i * line.length })),
    ).flat();
    expect(many.words).toEqual(expected);
    for (let at = 0; at < line.length; at += 1)
      expect(many.floor(at + 40 * line.length)).toBe(one.floor(at) + 40 * line.length);
  },
);

it("is fast for a text of 10,000 words", () => {
  const body = Array.from({ length: 10_000 }, (_, i) => (i % 7 === 0 ? "🙃" : `word${i}`)).join(" ");
  const began = performance.now();
  const units = new TextUnits(body);
  expect(units.words).toHaveLength(10_000);
  for (let i = 0; i < 200; i += 1) {
    const at = units.nextWord((i * 397) % body.length);
    units.snapToClusters(at, units.next(at));
    units.unitOf(units.pointOf(at));
  }
  // A generous limit for a busy machine: engines that scan the whole text for each word take 13 seconds in
  // total.
  expect(performance.now() - began).toBeLessThan(2000);
});
