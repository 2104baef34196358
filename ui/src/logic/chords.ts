// Keys as they are written down: "U", "/", "F6", "Mod+K", "Mod+Shift+S". Mod is Ctrl, on a Mac Command.

const MAC = navigator.userAgent.includes("Mac OS");
/** Mod, as it is printed on this computer's keyboard. */
export const MOD_NAME: string = MAC ? "⌘" : "Ctrl";
const MODIFIERS: readonly string[] = [
  "Control",
  "Shift",
  "Alt",
  "AltGraph",
  "Meta",
  "CapsLock",
  "Dead",
  "Process",
];
/** Keys with which one moves, answers or edits: they mean the same everywhere. */
const FIXED: readonly string[] = [
  ..."0123456789,.",
  ...["Space", "Enter", "Tab", "Escape", "Backspace", "Delete", "Insert"],
  ...["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"],
  ..."ACVXYZ".split("").map((letter) => `Mod+${letter}`),
  "Mod+Shift+Z",
];

export type KeyPress = Pick<
  KeyboardEvent,
  "key" | "code" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey" | "isComposing"
>;

/** Whether the command modifier is held: Ctrl, or Command on a Mac. */
function holdsMod(event: Pick<KeyPress, "ctrlKey" | "metaKey">): boolean {
  return MAC ? event.metaKey : event.ctrlKey;
}

/** What was pressed; null where that is no key of its own, or with modifiers that no command has. */
export function chordOf(event: KeyPress): string | null {
  if (event.isComposing || MODIFIERS.includes(event.key) || event.key === "Unidentified") return null;
  const mod = holdsMod(event);
  if (event.altKey || (MAC ? event.ctrlKey : event.metaKey)) return null;
  const key = nameOf(event, mod);
  // A sign may need Shift on one keyboard and not on another; of a letter alone, either is the same key.
  const shift = event.shiftKey && (/^F\d+$/.test(key) || (mod && /^\p{L}$/u.test(key)));
  return `${mod ? "Mod+" : ""}${shift ? "Shift+" : ""}${key}`;
}

function nameOf({ key, code }: KeyPress, mod: boolean): string {
  if (key === " ") return "Space";
  if (key.length > 1) return key;
  // With Ctrl, a letter of another script counts as the Latin letter on its key, as in other programs.
  const latin = mod && /^\P{ASCII}$/u.test(key) ? /^Key([A-Z])$/.exec(code)?.[1] : undefined;
  if (latin) return latin;
  if (mod && key === "=") return "+";
  if (mod && key === "_") return "-";
  return key.toUpperCase();
}

/** Keys whose names differ from what is printed on them. */
const PRINTED: Readonly<Record<string, string>> = { "-": "−", PageDown: "PgDn", PageUp: "PgUp" };

/** Its keys one by one, as they are printed on this computer's keyboard. */
export function chordKeys(chord: string): string[] {
  const parts: string[] = [];
  let rest = chord;
  for (const [prefix, name] of [
    ["Mod+", MOD_NAME],
    ["Shift+", MAC ? "⇧" : "Shift"],
  ] as const)
    if (rest.startsWith(prefix)) {
      parts.push(name);
      rest = rest.slice(prefix.length);
    }
  return [...parts, PRINTED[rest] ?? rest];
}

/** The same in one word, for a tooltip: "Ctrl+K". */
export function chordName(chord: string): string {
  return chordKeys(chord).join(MAC ? "" : "+");
}

/** Why a key is refused: it moves, answers or edits; it cannot be chosen; or Ctrl is missing, or held. */
export type Refusal = "fixed" | "unsuitable" | "needs_mod" | "without_mod";

/** Why a command cannot have this key; null where it can. `alone`: it is pressed without Ctrl. */
export function refusal(chord: string, alone: boolean): Refusal | null {
  if (FIXED.includes(chord)) return "fixed";
  const single = /^.$/u.test(chord);
  if (chord.startsWith("Mod+")) return alone ? "without_mod" : null;
  if (/^(Shift\+)?F\d+$/.test(chord)) return null;
  if (!single) return "unsuitable";
  return alone ? null : "needs_mod";
}
