import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { envelopeIn, unlock } from "./locked";

// Written by tools/fixtures/locked_page.py.
const page = JSON.parse(readFileSync("src/page/locked-page.json", "utf8")) as unknown;

it("opens a page that another implementation has locked", async () => {
  const envelope = envelopeIn(page);
  expect(envelope && (await unlock(envelope, "k7qm-3fzh-9xw2-ab4c"))).toBe('{"a":1}');
});

it("takes a passphrase however it is typed", async () => {
  const envelope = envelopeIn(page);
  for (const typed of [
    "K7QM 3FZH 9XW2 AB4C",
    "k7qm3fzh9xw2ab4c",
    " k7qm-3fzh–9xw2-ab4c\n",
    "ｋ７ｑｍ3fzh٩xw۲ab4c",
  ])
    expect(envelope && (await unlock(envelope, typed))).toBe('{"a":1}');
});

it("stays closed with another passphrase, or once a byte was changed", async () => {
  const envelope = envelopeIn(page);
  if (!envelope) throw new Error("no envelope");
  expect(await unlock(envelope, "k7qm-3fzh-9xw2-ab4d")).toBeNull();
  expect(await unlock(envelope, "")).toBeNull();
  const changed = { ...envelope, data: `A${envelope.data.slice(1)}` };
  expect(await unlock(changed, "k7qm-3fzh-9xw2-ab4c")).toBeNull();
});

it("leaves pages without a passphrase alone", () => {
  expect(envelopeIn({ version: 1 })).toBeNull();
  expect(envelopeIn(null)).toBeNull();
});
