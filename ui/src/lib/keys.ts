// Which key presses belong to a view, and which to the control that has the focus.
import type { AppSettings } from "$lib/bindings";

/** True where a letter or digit goes into a field, an open list or a dialog, and so is no command. */
export function belongsToControl(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey || isTakenByControl(event);
}

/** The same of a key that is pressed together with Ctrl. */
export function isTakenByControl(event: KeyboardEvent): boolean {
  if (event.isComposing) return true;
  const target = event.target;
  if (!(target instanceof Element)) return false;
  if (target.closest('[role="dialog"], [role="alertdialog"], [role="listbox"][data-select], [role="menu"]'))
    return true;
  // An open list is moved by keys that its button hears; a closed one is opened by them.
  const opener = target.closest("[aria-haspopup]");
  if (opener?.getAttribute("aria-expanded") === "true") return true;
  if (opener && (event.key.startsWith("Arrow") || event.key === "Enter" || event.key === " ")) return true;
  return target.closest('input:not([type="checkbox"]), textarea, select, [contenteditable="true"]') !== null;
}

/** True where this letter (or sign) is pressed as a command, and such commands are not switched off. */
export function isLetter(event: KeyboardEvent, letter: string, settings: AppSettings): boolean {
  return (settings.letter_keys ?? true) && event.key.toLowerCase() === letter;
}

/** True where Enter or Space presses the focused button or link. */
export function pressesButton(event: KeyboardEvent): boolean {
  const target = event.target;
  return (
    target instanceof Element && target.closest("button, a[href], summary, [role='option'], input") !== null
  );
}

/** Keeps a mouse click from moving the focus to a button, where the next Enter would press it again. */
export function keepFocus(event: MouseEvent): void {
  event.preventDefault();
}
