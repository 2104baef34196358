import { expect, it } from "vitest";
import { languageOf } from "./languages";

it.each([
  ["the first that is a language of the desk", ["xx", "de", "fr"], "de"],
  ["the language of a region", ["pt-BR"], "pt"],
  ["a tag in capital letters or with an underscore", ["ZH_Hans_CN"], "zh"],
  ["nothing of what is missing or empty", [null, undefined, "", "ja"], "ja"],
  ["English where there is none", ["xx", "toString"], "en"],
  ["English without any tag", [], "en"],
])("takes %s", (_, tags, language) => {
  expect(languageOf(tags)).toBe(language);
});
