// The languages of the desk, and how a browser's or a study's choice becomes one of them.

import type { Language } from "$api/bindings";

/** Every language by its tag, named in itself. */
export const LANGUAGES = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
  it: "Italiano",
  pt: "Português",
  nl: "Nederlands",
  pl: "Polski",
  tr: "Türkçe",
  ar: "العربية",
  zh: "简体中文",
  ja: "日本語",
} as const satisfies Record<Language, string>;

export const isLanguage = (tag: string): tag is Language => Object.hasOwn(LANGUAGES, tag);

/** The direction in which a language is written. */
export const directionOf = (language: Language): "ltr" | "rtl" => (language === "ar" ? "rtl" : "ltr");

/**
 * The locale of numbers and dates. Arabic has two sets of digits, of which engines choose different ones; the
 * keys of levels and the data have the Latin ones.
 */
export const localeOf = (language: string): string => (language === "ar" ? "ar-u-nu-latn" : language);

/** The first language of the desk among tags such as "pt-BR", in their order; English where there is none. */
export function languageOf(tags: readonly (string | null | undefined)[]): Language {
  for (const tag of tags) {
    const primary = tag?.toLowerCase().split(/[-_]/)[0] ?? "";
    if (isLanguage(primary)) return primary;
  }
  return "en";
}
