// The messages of the window over the mock: with `?pseudo` all of them in the pseudo-language.
import { addMessages, speak } from "$messages/messages.svelte";
import desk from "$messages/en";
import program from "$messages/program/en.json";
import { readSentences } from "$messages/program/program";
import window from "$messages/window/en";
import type { Language } from "$api/bindings";
// By its path: the mock has this module in its place.
import { speakInWindow as speakReally } from "../messages/window/messages";
import { emit } from "./bindings";
import { accentFormats, pseudo, pseudoCatalogue } from "./pseudo";
import { beyondWindow, misplaced } from "./layout";
import { PSEUDO, untranslated } from "./shown";

/** The tag that is customary for it: invented by Microsoft and Google as "English with accents". */
const TAG = "en-XA" as Language;

if (PSEUDO) {
  addMessages(TAG, pseudoCatalogue({ ...desk, ...window }));
  const sentences = Object.fromEntries(
    Object.values(program).flatMap((all) => all.map((one) => [one, pseudo(one)])),
  );
  // Read before any command answers, which takes longer.
  void readSentences(TAG, () => Promise.resolve(sentences));
  speak(TAG);
  accentFormats();
}

/** As that of the window; the pseudo-language stays. */
export const speakInWindow = PSEUDO ? () => Promise.resolve() : speakReally;

/** Changes the language as the settings do, after which everything is asked for in it. */
async function speakNow(language: Language): Promise<void> {
  await speakReally(language);
  emit("projectChanged", []);
}

// For tests/tests/screens.rs.
Object.assign(globalThis, { shown: { beyondWindow, misplaced, speak: speakNow, untranslated } });
