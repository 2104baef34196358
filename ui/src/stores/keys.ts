// Which key presses belong to a view, and which to the control that has the focus.
import type { ActionId, Scope } from "$logic/action-table";
import { NAMED, named } from "$logic/action-table";
import type { AppSettings } from "$api/bindings";
import { keyMap } from "./key-map.svelte";

/** True where a letter or digit goes into a field, an open list or a dialog, and so is no command. */
export function belongsToControl(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey || event.altKey || isHandledByControl(event);
}

/** The same of a key that is pressed together with Ctrl. */
export function isHandledByControl(event: KeyboardEvent): boolean {
  if (event.isComposing) return true;
  const target = event.target;
  if (!(target instanceof Element)) return false;
  if (target.closest('[role="dialog"], [role="alertdialog"], [role="listbox"][data-select], [role="menu"]'))
    return true;
  // An open list is moved by keys of its button; a closed one is opened by them.
  const opener = target.closest("[aria-haspopup]");
  if (opener?.getAttribute("aria-expanded") === "true") return true;
  if (opener && (event.key.startsWith("Arrow") || event.key === "Enter" || event.key === " ")) return true;
  return target.closest('input:not([type="checkbox"]), textarea, select, [contenteditable="true"]') !== null;
}

/** True where this is the key of an action of a view, and such keys are not switched off. */
export function isKeyOf(event: KeyboardEvent, id: ActionId, settings: AppSettings): boolean {
  const letter = (keyMap.of(id)?.length ?? 0) === 1;
  if (letter && !(settings.letter_keys ?? true)) return false;
  return keyMap.actionOf(event, named(id).scope) === id;
}

/**
 * The default key of a press in a view: if "skip" was assigned X, X gives "s", and S gives nothing.
 * Unassigned keys give themselves, letters in lower case.
 */
export function firstKey(event: KeyboardEvent, scope: Scope): string {
  const id = keyMap.actionOf(event, scope);
  const first = id === null ? null : named(id).key;
  const key = first ?? event.key;
  const plain = key.length === 1 ? key.toLowerCase() : key;
  const taken = NAMED.some((one) => one.scope === scope && one.key?.toLowerCase() === plain);
  return id === null && taken ? "" : plain;
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
