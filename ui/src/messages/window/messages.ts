// The messages of the window beyond those of the desk. A packet's page has none of them.
import type { Language } from "$api/bindings";
import { addMessages, speak } from "../messages.svelte";
import { readSentences } from "../program/program";
import en from "./en";

/** The other languages, by the paths of their files. Each is read when it is first chosen. */
const files = import.meta.glob<object>("./*.json", { import: "default" });

addMessages("en", en);

let wanted: Language = "en";

/**
 * Changes the language of the window. The choice made last counts, whatever is read first. What the program
 * answered before is in the language of that time.
 */
export async function speakInWindow(language: Language): Promise<void> {
  wanted = language;
  const read = files[`./${language}.json`];
  const [messages] = await Promise.all([read?.(), readSentences(language)]);
  if (messages) addMessages(language, messages);
  if (wanted === language) speak(language);
}
