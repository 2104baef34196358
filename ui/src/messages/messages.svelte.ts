// Messages in the language that is in use.
import { createInstance, type TFunction } from "i18next";
import en from "./en";
import type { Language } from "$api/bindings";
import { directionOf, localeOf } from "./languages";
import { isolated, isolatedPath, isPath } from "$words/isolated";

/** The other languages, by the paths of their files. */
const files = import.meta.glob<object>("./*.json", { eager: true, import: "default" });
const others = Object.entries(files).map(([path, translation]) => [path.slice(2, -5), { translation }]);

let current = $state<Language>("en");

/** A value inside of a sentence from right to left: a path or a name keeps its own direction. */
function inItsDirection(value: unknown): string {
  const text = String(value);
  if (directionOf(current) === "ltr" || !/\p{L}/u.test(text)) return text;
  return isPath(text) ? isolatedPath(text) : isolated(text);
}

const i18n = createInstance();
void i18n.init({
  lng: "en",
  fallbackLng: "en",
  initAsync: false,
  // Texts are set as text, never as HTML; only their direction is kept.
  interpolation: { escape: inItsDirection, useRawValueToEscape: true },
  resources: { en: { translation: { ...en } }, ...Object.fromEntries(others) },
});

i18n.services.formatter?.addCached("number", (language, options) => {
  const format = new Intl.NumberFormat(localeOf(language ?? "en"), options);
  return (value: number) => format.format(value);
});

/** Adds messages of a language to those that every page has. */
export function addMessages(language: Language, messages: object): void {
  i18n.addResourceBundle(language, "translation", messages, true);
}

/** The language in use. */
export const language = (): Language => current;

/** The locale of numbers and dates in the language in use. */
export const locale = (): string => localeOf(current);

/** Changes the language of every message on screen, and of the document. */
export function speak(language: Language): void {
  void i18n.changeLanguage(language);
  current = language;
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
}

/**
 * The message of a key, with its values filled in. `count` chooses among the plural forms of the language.
 * What reads it while a component renders is rendered again when the language changes.
 */
export const t = ((key: never, values: never) => {
  void current;
  return i18n.t(key, values);
}) as unknown as TFunction;
