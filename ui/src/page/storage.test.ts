// What is stored in the browser, and what happens where it cannot be.
import "fake-indexeddb/auto";
import { readFileSync } from "node:fs";
import { expect, it, vi } from "vitest";
import type { PageContent } from "$api/bindings";
import { CLOCK, PacketDesk } from "./desk";
import { Journal, type Storage } from "./journal";
import { memoryStorage } from "./memory-storage";
import { Session, storageProblem } from "./session";
import { openStorage } from "./storage";

const { content } = JSON.parse(readFileSync("src/page/cases/one-question.json", "utf8")) as {
  content: PageContent;
};
const [question] = content.questions.map(({ id }) => id) as [number];
const annotator = content.annotator.id;
const DETAILS = { note: { note: null, reasons: [], confidence: null }, guideline: null };

let copies = 0;
const journal = (storage: Storage) =>
  Journal.open(storage, { id: `copy-${++copies}`, made_at_ms: CLOCK.now_ms() });
const desk = async (storage: Storage) => new PacketDesk(content, await journal(storage));
const label = (text: number, value = 1) =>
  ({ question, annotator, text, answer: { kind: "level", value }, duration_ms: 5 }) as const;
const firstText = content.assignments[0]?.text ?? 0;

it("keeps answers, drafts and submissions for the next session", async () => {
  const storage = await openStorage("packet-a");
  const first = await desk(storage);
  await first.recordLabel(label(firstText), DETAILS);
  await first.saveDraft(question, 2, 1, { note: "half a", reasons: [], confidence: null });
  storage.close();
  const again = await openStorage("packet-a");
  const session = new Session(content, await journal(again));
  expect(session.desk.progress([question]).done).toBe(1);
  expect(session.desk.labelTask(question, 2, 1).draft?.note).toBe("half a");
  // Each session is a copy of its own, so that no key is given twice.
  await session.desk.recordLabel(label(firstText, 2), DETAILS);
  const [, names = ""] = session.submission(1).split("\n");
  expect((JSON.parse(names) as { copies: unknown[] }).copies).toHaveLength(2);
  again.close();
  const other = await openStorage("packet-b");
  expect((await other.load()).records).toEqual([]);
  other.close();
});

it("does not count what could not be stored", async () => {
  const storage = memoryStorage();
  const full = new DOMException("no space", "QuotaExceededError");
  const failing = vi.spyOn(storage, "append").mockRejectedValue(full);
  const here = await desk(storage);
  await expect(here.recordLabel(label(firstText), DETAILS)).rejects.toBe(full);
  expect(here.progress([question]).done).toBe(0);
  expect(here.labelTask(question, firstText, 1).answer).toBeNull();
  expect(storageProblem(full).message).toContain("no space left");
  failing.mockRestore();
  // Two answers at once are recorded one after the other, each with a key of its own.
  await Promise.all([
    here.recordLabel(label(firstText, 1), DETAILS),
    here.recordLabel(label(firstText, 2), DETAILS),
  ]);
  const { records } = await storage.load();
  const events = records.flatMap((record) => ("event" in record ? [record.event] : []));
  expect(events.map(({ key }) => key[1])).toEqual([1, 2]);
  expect(events[1]?.replaces).toEqual(events[0]?.key);
  expect(here.labelTask(question, firstText, 1).answer).toEqual({ kind: "level", value: 2 });
});

it("decides between independent answers of two copies by time", async () => {
  const [mine, theirs] = [memoryStorage(), memoryStorage()];
  await (await desk(mine)).recordLabel(label(firstText, 1), DETAILS);
  await new Promise((later) => setTimeout(later, 5));
  await (await desk(theirs)).recordLabel(label(firstText, 3), DETAILS);
  const { copies: known, records } = await theirs.load();
  const [copy] = known;
  if (copy) await mine.append(copy, records);
  expect((await desk(mine)).labelTask(question, firstText, 1).answer).toEqual({ kind: "level", value: 3 });
});

it("signs a submission as another implementation does", async () => {
  const { createHmac } = await import("node:crypto");
  const session = new Session(content, await journal(memoryStorage()));
  await session.desk.recordLabel(label(firstText), DETAILS);
  const lines = session.submission(7).split("\n");
  const signed = `${lines.slice(0, -2).join("\n")}\n`;
  const code = createHmac("sha256", Buffer.from(content.key, "hex")).update(signed).digest("hex");
  expect(JSON.parse(lines.at(-2) ?? "")).toEqual({ "hmac-sha256": code });
});
