// Ctrl+V where no field would take it: rows of a table or lines of text are imported.
import { can, isCovered } from "./actions";
import { app } from "./app.svelte";

/** Elements that handle pasting themselves. */
const FIELDS = "input, textarea, select, [contenteditable]:not([contenteditable='false'])";

function isForWindow(event: Event): boolean {
  const inField = event.target instanceof Element && event.target.closest(FIELDS) !== null;
  // A read-only project reports why nothing is imported.
  return !inField && !isCovered() && (can("data.paste") || app.readOnly);
}

/** WebKit pastes outside of fields only if `beforepaste` is cancelled. */
function onBeforePaste(event: Event): void {
  if (isForWindow(event)) event.preventDefault();
}

/** Imports the pasted text, if the window handles it. */
function onPaste(event: ClipboardEvent): void {
  if (!isForWindow(event)) return;
  const text = event.clipboardData?.getData("text/plain") ?? "";
  event.preventDefault();
  if (text.trim() !== "") void app.paste.preview(text);
}

/** Handles paste events of the window; returns a function that stops it. */
export function listenForPaste(): () => void {
  document.addEventListener("beforepaste", onBeforePaste);
  document.addEventListener("paste", onPaste);
  return () => {
    document.removeEventListener("beforepaste", onBeforePaste);
    document.removeEventListener("paste", onPaste);
  };
}
