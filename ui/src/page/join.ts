// One page for everybody: each person gets a part of its texts.
// The same rules: crates/transfer/src/study/join_page.rs.
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { openDB } from "idb";
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

/**
 * The person who has joined in this browser, by the id in the address if there is one; joins where nobody has
 * and `wanted`, else returns null. The random id of a person without one is on disk before it is used.
 */
export async function joinedPerson(page: JoinPage, address: string, wanted: boolean): Promise<Joined | null> {
  const { id, attributes } = parametersOf(page, address);
  const db = await openDB<{ people: { key: string; value: Joined } }>(`dissensus-join-${page.join}`, 1, {
    upgrade: (created) => void created.createObjectStore("people"),
  });
  try {
    const tx = db.transaction("people", "readwrite", { durability: "strict" });
    const known = await tx.store.get(id ?? "");
    const joined = known ?? (wanted ? { page: page.join, id: id ?? newId(), attributes } : null);
    if (!known && joined) await tx.store.put(joined, id ?? "");
    await tx.done;
    return joined;
  } finally {
    db.close();
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
