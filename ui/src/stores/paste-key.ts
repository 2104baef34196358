// Ctrl+V where no field would take it: rows of a table or lines of text are imported.
import { can, isCovered } from "./actions";
import { app } from "./app.svelte";

/** What takes what is pasted itself. */
const FIELDS = "input, textarea, select, [contenteditable]:not([contenteditable='false'])";

function isForWindow(event: Event): boolean {
  const inField = event.target instanceof Element && event.target.closest(FIELDS) !== null;
  // A project that is open to read says why nothing is imported.
  return !inField && !isCovered() && (can("data.paste") || app.readOnly);
}

/** WebKit pastes where no field is only if somebody says beforehand that it is wanted. */
function onBeforePaste(event: Event): void {
  if (isForWindow(event)) event.preventDefault();
}

/** Imports what was pasted, where the window shall take it. */
function onPaste(event: ClipboardEvent): void {
  if (!isForWindow(event)) return;
  const text = event.clipboardData?.getData("text/plain") ?? "";
  event.preventDefault();
  if (text.trim() !== "") void app.paste.preview(text);
}

/** Takes what is pasted into the window; returns what stops it. */
export function listenForPaste(): () => void {
  document.addEventListener("beforepaste", onBeforePaste);
  document.addEventListener("paste", onPaste);
  return () => {
    document.removeEventListener("beforepaste", onBeforePaste);
    document.removeEventListener("paste", onPaste);
  };
}
