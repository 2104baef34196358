// One page for everybody: each person gets a part of its texts.
// The same rules: crates/transfer/src/study/join_page.rs.
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { openDB, type DBSchema, type IDBPObjectStore } from "idb";
import type { JoinPage, PageContent } from "$api/bindings";
import { newId } from "./new-id";
import { problem } from "./problems";

/** A person who takes part. */
export interface Joined {
  /** UUID of the page. */
  page: string;
  /** The id of the person elsewhere, or a random one. */
  id: string;
  attributes: Record<string, string>;
}

/** A packet, and how its person joined; not of a packet that was made for one person. */
export type OpenContent = PageContent & { joined?: Joined };

const MAX_PARAMETER = 100;

/** The page for everybody that a file is, or null for another one. */
export function joinPageIn(content: unknown): JoinPage | null {
  return typeof (content as JoinPage | null)?.join === "string" ? (content as JoinPage) : null;
}

/** What the address of the page has about the person. */
function parametersOf(
  page: JoinPage,
  address: string,
): { id: string | null; attributes: Joined["attributes"] } {
  const given = new URL(address).searchParams;
  const attributes: Joined["attributes"] = {};
  let id: string | null = null;
  for (const name of [...page.ids, ...page.attributes]) {
    if (!given.has(name)) continue;
    const value = given.get(name)?.trim() ?? "";
    const isId = page.ids.includes(name);
    // Not filled in by the platform, or nothing that an id can be.
    const unfit =
      value === "" ||
      [...value].length > MAX_PARAMETER ||
      /\{\{|%PROLIFIC_PID%|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value);
    if (unfit && isId) throw problem("join-no-entry");
    if (unfit) continue;
    attributes[name] = value;
    if (isId) id ??= value;
  }
  return { id, attributes };
}

/** A person who has begun in this browser without an id in the address. */
export interface Begun {
  id: string;
  /** When; null of one that an earlier version of the page has stored. */
  at_ms: number | null;
}

/** What somebody wants who is invited: to be the first here, to be new next to others, or to continue. */
export type Choice = "first" | "another" | { id: string };

/** The person of the page; null until it is clear, and then those without an id who can continue. */
export interface Found {
  joined: Joined | null;
  begun: Begun[];
}

/**
 * Where a person is stored: under the id of the address, or else under the time of joining and the random id.
 * An earlier version of the page had one person without an id, under "".
 */
type PersonKey = string | [at_ms: number, id: string];

interface People extends DBSchema {
  people: { key: PersonKey; value: Joined };
}

const EARLIER = "";

/**
 * The person who has joined in this browser, by the id in the address if there is one, and else by what was
 * chosen in this tab; joins where this was chosen. The random id of a person without one is on disk before it
 * is used, and nobody takes the place of another.
 */
export async function findPerson(
  page: JoinPage,
  address: string,
  choice: Choice | null,
  now_ms: number,
): Promise<Found> {
  const { id, attributes } = parametersOf(page, address);
  const db = await openDB<People>(`dissensus-join-${page.join}`, 1, {
    upgrade: (created) => void created.createObjectStore("people"),
  });
  try {
    const tx = db.transaction("people", "readwrite", { durability: "strict" });
    const known = id === null ? await unnamedIn(tx.store) : [];
    const begun = known.map(([key, { id }]) => ({ id, at_ms: typeof key === "string" ? null : key[0] }));
    const join = async (joined: Joined, key: PersonKey) => (await tx.store.add(joined, key), joined);
    let joined: Joined | null = null;
    if (id !== null) {
      joined =
        (await tx.store.get(id)) ?? (choice ? await join({ page: page.join, id, attributes }, id) : null);
    } else if (choice === "another" || (choice === "first" && known.length === 0)) {
      const own = newId();
      joined = await join({ page: page.join, id: own, attributes }, [now_ms, own]);
    } else {
      const wanted = typeof choice === "object" && choice ? choice.id : personOfTab(page);
      joined = known.find(([, { id }]) => id === wanted)?.[1] ?? null;
    }
    await tx.done;
    if (joined && id === null) rememberInTab(page, joined);
    return { joined, begun };
  } finally {
    db.close();
  }
}

/** Those who have joined without an id in the address, in the order in which they did. */
async function unnamedIn(
  store: IDBPObjectStore<People, ["people"], "people", "readwrite">,
): Promise<[PersonKey, Joined][]> {
  // Keys that are lists come after all that are text.
  const [earlier, keys, values] = await Promise.all([
    store.get(EARLIER),
    store.getAllKeys(IDBKeyRange.lowerBound([])),
    store.getAll(IDBKeyRange.lowerBound([])),
  ]);
  const others = values.map((joined, at): [PersonKey, Joined] => [keys[at] ?? EARLIER, joined]);
  return earlier ? [[EARLIER, earlier], ...others] : others;
}

const tabKey = (page: JoinPage) => `dissensus-person-${page.join}`;

/** Who has joined or continued in this tab: a reload goes on with the same person. */
function personOfTab(page: JoinPage): string | null {
  try {
    return sessionStorage.getItem(tabKey(page));
  } catch {
    return null;
  }
}

function rememberInTab(page: JoinPage, { id }: Joined): void {
  try {
    sessionStorage.setItem(tabKey(page), id);
  } catch {
    // The next reload asks who continues.
  }
}

const derived = (key: string, what: string, id: string) =>
  hmac(sha256, hexToBytes(key), utf8ToBytes(`${what}\n${id}`));

/** The packet of a person. */
export function contentFor(page: JoinPage, joined: Joined): OpenContent {
  const { key, parts, content } = page;
  const at = new DataView(derived(key, "part", joined.id).buffer).getUint32(0) % Math.max(1, parts.length);
  const assignments = parts[at] ?? [];
  const practised = content.practice.texts.map(({ text }) => text);
  return {
    ...content,
    joined,
    packet: packetOf(derived(key, "packet", joined.id)),
    key: bytesToHex(derived(key, "key", joined.id)),
    annotator: { ...content.annotator, external_id: joined.id },
    assignments,
    // In the order of the part, as in a packet; those of practice come last.
    texts: orderedTexts(content, assignments, practised),
  };
}

function orderedTexts(content: PageContent, assignments: PageContent["assignments"], practised: number[]) {
  const rows = [...new Set([...assignments.map(({ text }) => text), ...practised])];
  const byRow = new Map(content.texts.map((text) => [text.text, text]));
  return rows.flatMap((row) => byRow.get(row) ?? []);
}

/** A UUID of version 8 from the first 16 bytes. */
export function packetOf(bytes: Uint8Array): string {
  const uuid = bytes.slice(0, 16);
  uuid[6] = ((uuid[6] ?? 0) & 0x0f) | 0x80;
  uuid[8] = ((uuid[8] ?? 0) & 0x3f) | 0x80;
  return bytesToHex(uuid).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
