// Every language has every sentence of the program, and finds each again in what the program writes.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LANGUAGES, localeOf } from "../languages";
import type { Language } from "$api/bindings";
import { Sentences, type Translation } from "./sentences";

const folder = "src/messages/program";
const read = (tag: string): unknown => JSON.parse(readFileSync(`${folder}/${tag}.json`, "utf8"));
const english = Object.values(read("en") as Record<string, string[]>).flat();
const others = Object.keys(LANGUAGES).filter((tag): tag is Language => tag !== "en");

const valuesOf = (text: string): string[] => text.match(/\{\{\w+\}\}/g) ?? [];
const formsOf = (translation: Translation): string[] =>
  typeof translation === "string" ? [translation] : Object.values(translation);
/** What is between the values. */
const shapeOf = (text: string): string => text.replaceAll(/\{\{\w+\}\}/g, "{}");
const alike = new Map<string, string[]>();
for (const sentence of english)
  alike.set(shapeOf(sentence), [...(alike.get(shapeOf(sentence)) ?? []), sentence]);
/** Short words, units and what consists of values may be the same in another language. */
const words = (text: string): string[] =>
  text.replaceAll(/\{\{\w+\}\}|["`].*?["`]/g, "").match(/\p{L}{2,}/gu) ?? [];

it("has a file for every language and no others", () => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  expect(files.sort()).toEqual(
    Object.keys(LANGUAGES)
      .map((tag) => `${tag}.json`)
      .sort(),
  );
});

describe.each(others)("in %s", (tag) => {
  const own = read(tag) as Record<string, Translation>;
  const forms = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;

  it("has every sentence", () => {
    expect(Object.keys(own).sort()).toEqual([...english].sort());
  });

  it("has the same values, in every plural form", () => {
    const wrong = Object.entries(own).filter(([sentence, translation]) => {
      const all = formsOf(translation);
      const complete =
        typeof translation === "string" ||
        (valuesOf(sentence).length > 0 &&
          JSON.stringify(Object.keys(translation).sort()) === JSON.stringify([...forms].sort()));
      const wanted = new Set(valuesOf(sentence));
      const same = all.every((text, at) => {
        const found = new Set(valuesOf(text));
        // One, two or none may be a word.
        const form = typeof translation === "string" ? "" : Object.keys(translation)[at];
        const missing = [...wanted].filter((value) => !found.has(value));
        const may = form === "one" || form === "two" || form === "zero" ? 1 : 0;
        return text.trim() !== "" && [...found].every((value) => wanted.has(value)) && missing.length <= may;
      });
      return !complete || !same;
    });
    expect(wrong).toEqual([]);
  });

  it("is translated", () => {
    const same = Object.entries(own).filter(
      ([sentence, translation]) => formsOf(translation).includes(sentence) && words(sentence).length > 1,
    );
    expect(same.map(([sentence]) => sentence)).toEqual([]);
  });

  it("finds every sentence again", () => {
    const sentences = new Sentences(own, localeOf(tag));
    const lost = english.filter((sentence) => {
      // Of values that nothing separates the second is empty, unless it is a sentence itself.
      const second = new Set([...sentence.matchAll(/\}\}\{\{(\w+)/g)].map(([, name]) => name));
      const filled = (text: string) =>
        text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => (second.has(name) ? "" : `Zq-${name}`));
      const wanted = (alike.get(shapeOf(sentence)) ?? []).flatMap((other) =>
        formsOf(own[other] ?? "").map((text) => {
          // The values of the one sentence under the names of the other.
          const [from, to] = [valuesOf(other), valuesOf(sentence)];
          return filled(text.replaceAll(/\{\{\w+\}\}/g, (value) => to[from.indexOf(value)] ?? value));
        }),
      );
      return !wanted.includes(sentences.translate(filled(sentence)));
    });
    expect(lost).toEqual([]);
  });
});
