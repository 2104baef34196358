import { expect, it } from "vitest";
import { encryptedName, generatePassphrase, passphraseOf } from "./passphrase";

it("takes a passphrase that was typed twice alike", () => {
  expect(passphraseOf({ first: "four plain words", second: "four plain words" })).toBe("four plain words");
  expect(passphraseOf({ first: "four plain words", second: "four plain word" })).toBeNull();
  expect(passphraseOf({ first: "", second: "" })).toBeNull();
  expect(passphraseOf({ first: "  ", second: "  " })).toBeNull();
});

it("generates passphrases of 80 bits", () => {
  const all = new Set(Array.from({ length: 50 }, generatePassphrase));
  expect(all.size).toBe(50);
  for (const one of all) expect(one).toMatch(/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/);
});

it("adds the ending of encrypted files once", () => {
  expect(encryptedName("/a/b.dissensus")).toBe("/a/b.dissensus.age");
  expect(encryptedName("/a/b.dissensus.AGE")).toBe("/a/b.dissensus.AGE");
});
