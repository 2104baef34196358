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
  const storage = await openStorage(content);
  const first = await desk(storage);
  await first.recordLabel(label(firstText), DETAILS);
  await first.saveDraft(question, 2, 1, { note: "half a", reasons: [], confidence: null });
  storage.close();
  const again = await openStorage(content);
  const session = new Session(content, await journal(again));
  expect(session.desk.progress([question]).done).toBe(1);
  expect(session.desk.labelTask(question, 2, 1).draft?.note).toBe("half a");
  // Each session is a copy of its own, so that no key is given twice.
  await session.desk.recordLabel(label(firstText, 2), DETAILS);
  const [, names = ""] = session.submission(1).split("\n");
  expect((JSON.parse(names) as { copies: unknown[] }).copies).toHaveLength(2);
  again.close();
  const other = await openStorage({ ...content, packet: "packet-b" });
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
  expect(storageProblem(full, false).message).toContain("Your answers are.");
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

it("finds its answers in a page that was written again with other rows and wordings", async () => {
  const storage = memoryStorage();
  const first = new Session(content, await journal(storage));
  await first.desk.recordLabel(label(firstText, 2), DETAILS);
  await first.desk.skipText([question], content.assignments[1]?.text ?? 0);
  const before = JSON.parse(first.submission(1).split("\n")[2] ?? "") as object;

  const [q] = content.questions;
  const again: PageContent = structuredClone({
    ...content,
    questions: q ? [{ ...q, id: 7, prompt: "Anew?" }] : [],
  });
  again.texts = again.texts.map((text) => ({ ...text, text: text.text + 50 })).toReversed();
  again.assignments = again.assignments.map((item) => ({ ...item, text: item.text + 50 }));
  const second = new Session(again, await journal(storage));
  expect(second.desk.labelTask(7, firstText + 50, 1).answer).toEqual({ kind: "level", value: 2 });
  expect(second.desk.progress([7])).toMatchObject({ done: 1, skipped: 1 });
  await second.desk.recordLabel({ ...label(firstText + 50, 3), question: 7 }, DETAILS);
  const [, names = "", event = ""] = second.submission(1).split("\n");
  // What was recorded before is unchanged, with the wording that was read then.
  expect(JSON.parse(event)).toEqual(before);
  const { wordings, texts } = JSON.parse(names) as { wordings: { prompt: string }[]; texts: string[][] };
  expect(wordings.map(({ prompt }) => prompt)).toEqual([q?.prompt, "Anew?"]);
  expect(texts[0]?.[0]).toBe(content.texts.find(({ text }) => text === firstText)?.external_id);

  // A text that is not in the page any more: its answer is handed in all the same.
  again.texts = again.texts.filter(({ text }) => text !== firstText + 50);
  again.assignments = again.assignments.filter(({ text }) => text !== firstText + 50);
  const third = new Session(again, await journal(storage));
  expect(third.desk.progress([7]).done).toBe(0);
  expect(third.submission(1).split("\n")[2]).toBe(event);
});

it("replaces halves of characters in notes, which no file can have", async () => {
  const session = new Session(content, await journal(memoryStorage()));
  const note = { note: "a\ud83d b", reasons: [], confidence: null };
  await session.desk.recordLabel(label(firstText), { note, guideline: null });
  expect(session.submission(1)).toContain('"note":"a\ufffd b"');
});

it("shares the daily limit with other packets of the person", async () => {
  const first = new PacketDesk(content, await journal(await openStorage(content)));
  await first.setOwnCare({ limit: 4, harmful: { question, level: 3 }, words: ["troll*"], groups: [] });
  await first.recordLabel(label(firstText, 4), DETAILS);
  await first.readText(firstText);
  const other = { ...content, packet: "another" };
  const second = new PacketDesk(other, await journal(await openStorage(other)));
  expect(second.careInfo().own).toEqual({
    limit: 4,
    harmful: { question, level: 3 },
    words: ["troll*"],
    groups: [],
  });
  expect(second.progress([question]).done).toBe(0);
});

it("hands in 1,000 answers in less than 200 kB", async () => {
  const assignments = Array.from({ length: 1000 }, (_, at) => ({ text: at + 1, occasion: 1 }));
  const body = "Some words that somebody wrote. ".repeat(8);
  const texts = assignments.map(({ text }) => ({ text, external_id: `comment-${10_000 + text}`, body }));
  const large = { ...content, assignments, texts };
  const session = new Session(large, await journal(memoryStorage()));
  for (const { text } of assignments)
    await session.desk.recordLabel({ ...label(text, (text % 3) + 1), duration_ms: 4000 + text }, DETAILS);
  const submission = session.submission(CLOCK.now_ms());
  expect(submission.split("\n").filter((line) => line.startsWith('{"event"'))).toHaveLength(1000);
  expect(new TextEncoder().encode(submission).length).toBeLessThan(200_000);
});
