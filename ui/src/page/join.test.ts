import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import "fake-indexeddb/auto";
import { openDB } from "idb";
import { afterEach, expect, it } from "vitest";
import type { JoinPage, PageContent } from "$api/bindings";
import { contentFor, findPerson, joinPageIn, type Choice } from "./join";

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

afterEach(() => sessionStorage.clear());

const join = (one: JoinPage, query: string, choice: Choice | null, now_ms = 1) =>
  findPerson(one, at(query), choice, now_ms);
const joinedPerson = async (one: JoinPage, query: string, wanted: boolean) =>
  (await join(one, query, wanted ? "first" : null)).joined;

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
  expect(await joinedPerson(one, "", false)).toBeNull();
  const joined = await joinedPerson(one, "", true);
  expect(joined?.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(await joinedPerson(one, "", false)).toEqual(joined);
  expect(await joinedPerson(page("0002"), "", false)).toBeNull();
});

it("asks a new visitor who continues, and never the same tab", async () => {
  const one = page("0005");
  const { joined: first } = await join(one, "", "first", 10);
  expect(await join(one, "", null)).toMatchObject({ joined: first });
  sessionStorage.clear();
  expect(await join(one, "", null)).toEqual({ joined: null, begun: [{ id: first?.id, at_ms: 10 }] });
  // Who had the invitation on the screen since before is asked, too.
  expect((await join(one, "", "first", 15)).joined).toBeNull();
  expect((await join(one, "", { id: first?.id ?? "" })).joined).toEqual(first);
  expect((await join(one, "", null)).joined).toEqual(first);
});

it("adds another person next to those before, who can all continue", async () => {
  const one = page("0006");
  const { joined: first } = await join(one, "", "first", 10);
  sessionStorage.clear();
  const { joined: second } = await join(one, "?STUDY_ID=s2", "another", 20);
  expect(second).toEqual({ page: "0006", id: expect.any(String), attributes: { STUDY_ID: "s2" } });
  expect(second?.id).not.toBe(first?.id);
  // The tab goes on with the person who joined last in it.
  expect((await join(one, "", null)).joined).toEqual(second);
  sessionStorage.clear();
  expect((await join(one, "", null)).begun).toEqual([
    { id: first?.id, at_ms: 10 },
    { id: second?.id, at_ms: 20 },
  ]);
  for (const person of [first, second])
    expect((await join(one, "", { id: person?.id ?? "" })).joined).toEqual(person);
  // An id in the address asks nobody, and is no one of them.
  expect(await join(one, "?id=ana", null)).toEqual({ joined: null, begun: [] });
  const { joined: ana } = await join(one, "?id=ana", "first");
  expect((await join(one, "?id=ana", null)).joined).toEqual(ana);
  sessionStorage.clear();
  expect((await join(one, "", null)).begun).toHaveLength(2);
});

it("continues as a person that an earlier version has stored", async () => {
  const one = page("0007");
  const earlier = { page: "0007", id: "e", attributes: {} };
  const db = await openDB("dissensus-join-0007", 1, {
    upgrade: (created) => void created.createObjectStore("people"),
  });
  await db.put("people", earlier, "");
  db.close();
  expect(await join(one, "", null)).toEqual({ joined: null, begun: [{ id: "e", at_ms: null }] });
  const { joined: other } = await join(one, "", "another", 5);
  expect((await join(one, "", { id: "e" })).joined).toEqual(earlier);
  sessionStorage.clear();
  expect((await join(one, "", null)).begun).toEqual([
    { id: "e", at_ms: null },
    { id: other?.id, at_ms: 5 },
  ]);
});

it("takes ids and attributes from the address, and tells people apart by their ids", async () => {
  const one = page("0003");
  const ana = await joinedPerson(one, "?PROLIFIC_PID=ana&STUDY_ID=s1&other=x", true);
  expect(ana).toEqual({ page: "0003", id: "ana", attributes: { PROLIFIC_PID: "ana", STUDY_ID: "s1" } });
  expect(await joinedPerson(one, "?PROLIFIC_PID=ben", false)).toBeNull();
  expect(await joinedPerson(one, "?id=ana", false)).toEqual(ana);
});

it("refuses what is no id", async () => {
  const one = page("0004");
  for (const id of ["{{%PROLIFIC_PID%}}", "x".repeat(101), "a%00b"])
    await expect(joinedPerson(one, `?PROLIFIC_PID=${id}`, true)).rejects.toMatchObject({
      code: "join-no-entry",
    });
});

it("recognises a page for everybody", () => {
  expect(joinPageIn(page("p"))).not.toBeNull();
  expect(joinPageIn({ version: 1, packet: "x" })).toBeNull();
  expect(joinPageIn(null)).toBeNull();
});
