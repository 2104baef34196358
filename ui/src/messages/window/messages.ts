// The messages of the window beyond those of the desk. A packet's page has none of them.
import type { Language } from "$api/bindings";
import { addMessages, speak } from "../messages.svelte";
import en from "./en";

/** The other languages, by the paths of their files. Each is read when it is first chosen. */
const files = import.meta.glob<object>("./*.json", { import: "default" });

addMessages("en", en);

let wanted: Language = "en";

/** Changes the language of the window. The choice made last counts, whatever is read first. */
export async function speakInWindow(language: Language): Promise<void> {
  wanted = language;
  const read = files[`./${language}.json`];
  if (read) addMessages(language, await read());
  if (wanted === language) speak(language);
}
