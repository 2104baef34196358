// Keys with the same meaning everywhere, handled before any view.
import { isFree, perform } from "./actions";
import { app } from "./app.svelte";
import { chordOf } from "$logic/chords";
import { keyMap } from "./key-map.svelte";
import { belongsToControl } from "./keys";

/** The webview's own zoom keys: they are blocked, because their size is not stored. */
const WEBVIEW_ZOOM: readonly string[] = ["Mod++", "Mod+-", "Mod+0"];

/** Does what the key means, if it means something now. */
export function onCommandKey(event: KeyboardEvent): void {
  if (keyMap.choosing) return;
  const chord = chordOf(event);
  const id = keyMap.actionOf(event, "everywhere");
  if (chord === null || (id === null && !WEBVIEW_ZOOM.includes(chord))) return;
  if (chord.length === 1 && (belongsToControl(event) || !(app.settings.letter_keys ?? true))) return;
  if (id === "palette" && app.dialog === "palette") app.dialog = null;
  else if (id !== null && !isFree(id)) {
    // Nor is it what the webview does on it, such as opening a file.
    if (chord.length > 1) event.preventDefault();
    return;
  } else if (id !== null && (!event.repeat || id.startsWith("zoom."))) perform(id);
  event.preventDefault();
  event.stopImmediatePropagation();
}
