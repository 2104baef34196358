import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import "fake-indexeddb/auto";
import { expect, it } from "vitest";
import type { JoinPage, PageContent } from "$api/bindings";
import { contentFor, joinedPerson, joinPageIn } from "./join";

const texts = [1, 2, 3, 4].map((text) => ({ text, external_id: `t${text}`, body: `text ${text}` }));
const content = { name: "S", texts, practice: { texts: [{ text: 4 }] }, annotator: { name: "" } };
const parts = Array.from({ length: 40 }, (_, at) => [
  { text: (at % 3) + 1, occasion: 1 },
  { text: ((at + 1) % 3) + 1, occasion: 1 },
]);

const page = (join: string): JoinPage => ({
  version: 1,
  join,
  key: "07".repeat(32),
  ids: ["PROLIFIC_PID", "id"],
  attributes: ["STUDY_ID"],
  parts,
  language: null,
  content: content as unknown as PageContent,
});

const at = (query: string) => `https://example.org/join.html${query}`;

it("derives packet, key and part as the program does", () => {
  const joined = { page: "p", id: "ana", attributes: {} };
  const own = contentFor(page("p"), joined);
  // The same values as in crates/transfer/src/study/join_page.rs.
  expect(own.key).toBe(bytesToHex(hmac(sha256, new Uint8Array(32).fill(7), utf8ToBytes("key\nana"))));
  expect(own.packet).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(own.packet).toBe("d3c8e129-779c-847f-8da0-08727bb1826c");
  expect(own.assignments).toEqual(parts[14]);
  // Only their texts, in their order, and those of practice.
  expect(own.texts.map(({ text }) => text)).toEqual([3, 1, 4]);
});

it("adds nobody before they take part, and finds them again", async () => {
  const one = page("0001");
  expect(await joinedPerson(one, at(""), false)).toBeNull();
  const joined = await joinedPerson(one, at(""), true);
  expect(joined?.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(await joinedPerson(one, at(""), false)).toEqual(joined);
  expect(await joinedPerson(page("0002"), at(""), false)).toBeNull();
});

it("takes ids and attributes from the address, and tells people apart by their ids", async () => {
  const one = page("0003");
  const ana = await joinedPerson(one, at("?PROLIFIC_PID=ana&STUDY_ID=s1&other=x"), true);
  expect(ana).toEqual({ page: "0003", id: "ana", attributes: { PROLIFIC_PID: "ana", STUDY_ID: "s1" } });
  expect(await joinedPerson(one, at("?PROLIFIC_PID=ben"), false)).toBeNull();
  expect(await joinedPerson(one, at("?id=ana"), false)).toEqual(ana);
});

it("refuses what is no id", async () => {
  const one = page("0004");
  for (const id of ["{{%PROLIFIC_PID%}}", "x".repeat(101), "a%00b"])
    await expect(joinedPerson(one, at(`?PROLIFIC_PID=${id}`), true)).rejects.toMatchObject({
      code: "join-no-entry",
    });
});

it("recognises a page for everybody", () => {
  expect(joinPageIn(page("p"))).not.toBeNull();
  expect(joinPageIn({ version: 1, packet: "x" })).toBeNull();
  expect(joinPageIn(null)).toBeNull();
});
