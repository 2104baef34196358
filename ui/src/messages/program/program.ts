// The program's own sentences in the language of the window.
import type { Language } from "$api/bindings";
import { localeOf } from "../languages";
import { Sentences, type Translation } from "./sentences";

/** The languages, by the paths of their files. Each is read when it is first chosen. */
const files = import.meta.glob<Record<string, Translation>>(["./*.json", "!./en.json"], {
  import: "default",
});

let current: Sentences | null = null;
let wanted: Language = "en";

/** Reads the sentences of a language; they are used from then on, if no other was asked for meanwhile. */
export async function readSentences(
  language: Language,
  read: (() => Promise<Record<string, Translation>>) | undefined = files[`./${language}.json`],
): Promise<void> {
  wanted = language;
  const sentences = read ? new Sentences(await read(), localeOf(language)) : null;
  if (wanted === language) current = sentences;
}

/** A sentence of the program in the language of the window. */
export const ofProgram = (english: string): string => current?.translate(english) ?? english;

/** Whether the window speaks another language than the program. */
export const isTranslated = (): boolean => current !== null;
