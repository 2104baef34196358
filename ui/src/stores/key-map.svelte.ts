// The keys of actions: the defaults, and changes made on this computer.
import { NAMED, named, overlap, type ActionId, type Named, type Scope } from "$logic/action-table";
import { chordKeys, chordName, chordOf, refusal, type KeyPress } from "$logic/chords";
import { remember, remembered } from "./local-storage";
import { FORMER_VIEWS } from "$logic/views";

type Changed = Partial<Record<ActionId, string | null>>;
const STORE = "keys";

function isChanged(value: unknown): value is Changed {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export class KeyMap {
  #changed = $state.raw<Changed>(KeyMap.#kept());
  /** A key is being chosen: it is no command meanwhile. */
  choosing = $state(false);

  /** The stored changes, as far as they are valid: an action may no longer exist, or a key may be taken. */
  static #kept(): Changed {
    const stored = remembered<Changed & Record<string, unknown>>(STORE, {}, isChanged);
    const former = new Map([...FORMER_VIEWS].map(([was, is]) => [`view.${is}`, `view.${was}`]));
    return Object.fromEntries(
      NAMED.flatMap(({ id, alone }) => {
        const was = former.get(id);
        const key: unknown = id in stored || was === undefined ? stored[id] : stored[was];
        const meant = key === null || (typeof key === "string" && refusal(key, alone) === null);
        return meant ? [[id, key]] : [];
      }),
    );
  }

  /** The key of an action; null where it has none. */
  of(id: ActionId): string | null {
    const changed = this.#changed[id];
    return changed === undefined ? named(id).key : changed;
  }

  /** Its keys one by one, as they are printed. */
  keys(id: ActionId): string[] {
    const chord = this.of(id);
    return chord === null ? [] : chordKeys(chord);
  }

  /** "Ctrl+K"; nothing where it has no key. */
  name(id: ActionId): string | undefined {
    const chord = this.of(id);
    return chord === null ? undefined : chordName(chord);
  }

  isChanged(id: ActionId): boolean {
    return this.of(id) !== named(id).key;
  }

  get anyChanged(): boolean {
    return NAMED.some(({ id }) => this.isChanged(id));
  }

  /** The action of this scope that a press means. */
  actionOf(event: KeyPress, scope: Scope): ActionId | null {
    const chord = this.choosing ? null : chordOf(event);
    return (
      NAMED.find((one) => one.scope === scope && chord !== null && this.of(one.id) === chord)?.id ?? null
    );
  }

  /** The other action that has this key where the action can be done. */
  holder(chord: string, id: ActionId): Named | null {
    const { scope } = named(id);
    return (
      NAMED.find((one) => one.id !== id && overlap(one.scope, scope) && this.of(one.id) === chord) ?? null
    );
  }

  /** Gives an action this key, null for none; whichever had it has none then. */
  set(id: ActionId, chord: string | null): void {
    const next: Changed = { ...this.#changed };
    const holder = chord === null ? null : this.holder(chord, id);
    if (holder) next[holder.id] = null;
    next[id] = chord;
    this.#keep(next);
  }

  /** Restores an action's default key; the action that has it loses it. Without an action, restores all. */
  reset(id?: ActionId): void {
    if (id === undefined) this.#keep({});
    else this.set(id, named(id).key);
  }

  #keep(next: Changed): void {
    const stored = NAMED.flatMap((one): [ActionId, string | null][] => {
      const key = next[one.id];
      return key === undefined || key === one.key ? [] : [[one.id, key]];
    });
    this.#changed = Object.fromEntries(stored) as Changed;
    remember(STORE, stored.length > 0 ? this.#changed : null);
  }
}

export const keyMap = new KeyMap();
