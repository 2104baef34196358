// The messages of the command that the window does not show, with their values.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LANGUAGES } from "../languages";
import type { Translation } from "../program/sentences";

const folder = "src/messages/command";
const read = (tag: string): unknown => JSON.parse(readFileSync(`${folder}/${tag}.json`, "utf8"));
const english = Object.values(read("en") as Record<string, string[]>).flat();
const others = Object.keys(LANGUAGES).filter((tag) => tag !== "en");
/** Languages in which only errors and notes are translated, not the results that only the command prints. */
const ERRORS_ONLY = ["ja", "pl", "pt", "tr", "zh"];
const valuesOf = (text: string): string[] => [...new Set(text.match(/\{\{\w+\}\}/g) ?? [])].sort();

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
  const categories = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;

  it("has every message", () => {
    const wanted = ERRORS_ONLY.includes(tag) ? ["note:", "error:"] : english;
    expect(Object.keys(own).sort()).toEqual([...wanted].sort());
  });

  it("has the same values, in every plural form", () => {
    const wrong = Object.entries(own).filter(([message, translation]) => {
      if (typeof translation === "string") return String(valuesOf(translation)) !== String(valuesOf(message));
      const forms = Object.entries(translation);
      // One, two or none may be a word.
      const same = forms.every(([form, text]) => {
        const values = valuesOf(text);
        const may = ["zero", "one", "two"].includes(form) ? 1 : 0;
        return (
          values.every((value) => message.includes(value)) && values.length + may >= valuesOf(message).length
        );
      });
      return !same || String(Object.keys(translation).sort()) !== String([...categories].sort());
    });
    expect(wrong).toEqual([]);
  });

  it("is translated", () => {
    const words = (text: string) =>
      text.replaceAll(/\{\{\w+\}\}|["`].*?["`]/g, "").match(/\p{L}{2,}/gu) ?? [];
    const same = Object.entries(own).filter(
      ([message, text]) => message === text && words(message).length > 2,
    );
    expect(same).toEqual([]);
  });
});
