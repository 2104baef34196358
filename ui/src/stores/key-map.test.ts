// Keys assigned to other actions, and how they are stored.
import { beforeEach, describe, expect, it } from "vitest";
import { NAMED, overlap } from "$logic/action-table";
import { chordKeys, chordOf, refusal, type KeyPress } from "$logic/chords";
import { KeyMap } from "./key-map.svelte";

beforeEach(() => localStorage.clear());

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  code: "",
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  isComposing: false,
  ...more,
});
const ctrl = (key: string, more: Partial<KeyPress> = {}) => press(key, { ctrlKey: true, ...more });

describe("a key", () => {
  it("is stored independently of the keyboard", () => {
    expect(chordOf(press("u"))).toBe("U");
    expect(chordOf(press("U", { shiftKey: true }))).toBe("U");
    expect(chordOf(press("?", { shiftKey: true }))).toBe("?");
    expect(chordOf(ctrl("k"))).toBe("Mod+K");
    expect(chordOf(ctrl("S", { shiftKey: true }))).toBe("Mod+Shift+S");
    // Larger is on the key with the equals sign, with Shift or without.
    expect(chordOf(ctrl("="))).toBe("Mod++");
    expect(chordOf(ctrl("+", { shiftKey: true }))).toBe("Mod++");
    expect(chordOf(ctrl("л", { code: "KeyK" }))).toBe("Mod+K");
    expect(chordOf(press("л", { code: "KeyK" }))).toBe("Л");
    expect(chordOf(press("F6", { shiftKey: true }))).toBe("Shift+F6");
  });

  it("is ignored during composition, or with other modifiers", () => {
    expect(chordOf(press("Control"))).toBeNull();
    expect(chordOf(press("k", { isComposing: true }))).toBeNull();
    expect(chordOf(press("Dead"))).toBeNull();
    expect(chordOf(press("k", { altKey: true }))).toBeNull();
    // The key next to Ctrl belongs to the system.
    expect(chordOf(press("k", { metaKey: true }))).toBeNull();
  });

  it("is displayed as a list of its parts", () => {
    expect(chordKeys("Mod+Shift+S")).toEqual(["Ctrl", "Shift", "S"]);
    expect(chordKeys("Mod++")).toEqual(["Ctrl", "+"]);
    expect(chordKeys("/")).toEqual(["/"]);
  });

  it("is refused if it answers, moves, edits, or could be typed", () => {
    for (const fixed of ["1", "0", "Enter", "ArrowDown", "Mod+C", "Mod+Z", ",", "Tab"])
      expect(refusal(fixed, true), fixed).not.toBeNull();
    expect(refusal("X", true)).toBeNull();
    expect(refusal("X", false)).toBe("needs_mod");
    expect(refusal("Mod+X", false)).toBe("fixed");
    expect(refusal("Mod+J", true)).toBe("without_mod");
    expect(refusal("F6", true)).toBeNull();
    expect(refusal("F6", false)).toBeNull();
    expect(refusal("ContextMenu", true)).toBe("unsuitable");
  });
});

it("has by default no key with two actions, and only keys that could be chosen", () => {
  const map = new KeyMap();
  for (const { id, key } of NAMED) if (key !== null) expect(map.holder(key, id), id).toBeNull();
  for (const { id, key, alone } of NAMED) if (key !== null) expect(refusal(key, alone), id).toBeNull();
});

describe("the map", () => {
  it("assigns another key to an action and removes the old one", () => {
    const map = new KeyMap();
    expect(map.actionOf(press("u"), "label")).toBe("label.undo");
    map.set("label.undo", "X");
    expect(map.actionOf(press("x"), "label")).toBe("label.undo");
    expect(map.actionOf(press("u"), "label")).toBeNull();
    expect(map.isChanged("label.undo")).toBe(true);
    expect(map.name("label.undo")).toBe("X");
  });

  it("finds the action of a key in the view and everywhere, but not in another view", () => {
    const map = new KeyMap();
    expect(map.holder("S", "label.undo")?.id).toBe("label.skip");
    expect(map.holder("R", "label.undo")).toBeNull();
    expect(map.holder("?", "label.undo")?.id).toBe("app.keys");
    expect(overlap("label", "everywhere")).toBe(true);
    expect(overlap("label", "models")).toBe(false);
  });

  it("removes a key from the action that had it, also when resetting", () => {
    const map = new KeyMap();
    map.set("label.undo", "S");
    expect(map.of("label.skip")).toBeNull();
    expect(map.keys("label.skip")).toEqual([]);
    map.reset("label.skip");
    expect(map.of("label.skip")).toBe("S");
    expect(map.of("label.undo")).toBeNull();
    map.reset();
    expect(map.of("label.undo")).toBe("U");
    expect(map.anyChanged).toBe(false);
  });

  it("is stored, without default keys", () => {
    const map = new KeyMap();
    map.set("label.undo", "X");
    map.set("project.copy", null);
    expect(new KeyMap().of("label.undo")).toBe("X");
    expect(new KeyMap().of("project.copy")).toBeNull();
    map.reset();
    expect(localStorage.length).toBe(0);
  });

  it("ignores invalid stored keys", () => {
    for (const stored of [
      "{",
      "7",
      "[]",
      '{"label.undo":"1","no.such":"X","label.skip":7,"label.flag":"X"}',
    ]) {
      localStorage.setItem("dissensus.keys", stored);
      const map = new KeyMap();
      expect(map.of("label.undo")).toBe("U");
      expect(map.of("label.skip")).toBe("S");
    }
    expect(new KeyMap().of("label.flag")).toBe("X");
  });

  it("handles no keys while a key is being chosen", () => {
    const map = new KeyMap();
    map.choosing = true;
    expect(map.actionOf(press("u"), "label")).toBeNull();
  });
});
