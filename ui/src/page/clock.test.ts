// Answers keep their order whatever the clock of the computer shows.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { PageContent } from "$api/bindings";
import { PacketDesk, type Clock } from "./desk";
import { Journal } from "./journal";
import { memoryStorage } from "./memory-storage";
import { submissionOf } from "./submission";

const { content } = JSON.parse(readFileSync("src/page/cases/one-question.json", "utf8")) as {
  content: PageContent;
};
const [question] = content.questions.map(({ id }) => id) as [number];
const [first, second, third] = content.assignments.map(({ text }) => text) as [number, number, number];
const DETAILS = { note: { note: null, reasons: [], confidence: null }, guideline: null };
const DAY_MS = 86_400_000;
const NOON_MS = Date.UTC(2026, 2, 1, 12);

/** A desk whose clock shows what the test sets. */
async function deskAt(now_ms: number) {
  const time = { now_ms };
  const clock: Clock = {
    now_ms: () => time.now_ms,
    today_ms: () => Math.floor(time.now_ms / DAY_MS) * DAY_MS,
    today: () => new Date(time.now_ms).toISOString().slice(0, 10),
  };
  const journal = await Journal.open(memoryStorage(), { id: "copy", made_at_ms: now_ms });
  const desk = new PacketDesk(content, journal, clock);
  const give = (text: number, value: number) => {
    const answer = { kind: "level", value } as const;
    return desk.recordLabel(
      { question, annotator: content.annotator.id, text, answer, duration_ms: 1 },
      DETAILS,
    );
  };
  /** Numbers and times of the events in a submission, in their order. */
  const submitted = () => {
    const { copies, records, submitted } = journal;
    const lines = submissionOf(content, { copies, records, submitted }, time.now_ms, 1).split("\n");
    const events = lines.flatMap((line) =>
      line.startsWith('{"event"') ? [JSON.parse(line) as unknown] : [],
    );
    return (events as { event: { key: [number, number]; at_ms: number } }[]).map(({ event }) => event);
  };
  return { time, desk, give, submitted };
}

it("keeps a note cleared that was cleared by itself while the clock stood still", async () => {
  const { desk, give } = await deskAt(0);
  const noteNow = () => desk.labelTask(question, first, 1).note.note;
  await desk.saveNote(question, first, { note: { ...DETAILS.note, note: "irony" }, guideline: null });
  await give(first, 1);
  expect(noteNow()).toBeNull();
  await desk.undoLabel([question]);
  expect(noteNow()).toBe("irony");
  const noted = { ...DETAILS, note: { ...DETAILS.note, note: "slang" } };
  await desk.recordLabel(
    {
      question,
      annotator: content.annotator.id,
      text: first,
      answer: { kind: "level", value: 2 },
      duration_ms: 1,
    },
    noted,
  );
  await desk.saveNote(question, first, DETAILS);
  await desk.undoLabel([question]);
  expect(noteNow()).toBeNull();
});

it.each([
  ["at 1970", 0, 0],
  ["set back by a day between two answers", NOON_MS, NOON_MS - DAY_MS],
  ["set back to 1970 between two answers", NOON_MS, 0],
])("with a clock %s answers are shown, taken back and submitted in their order", async (_, before, after) => {
  const { time, desk, give, submitted } = await deskAt(before);
  expect(desk.nextText([question], null)?.text).toBe(first);
  await give(first, 1);
  time.now_ms = after;
  expect(desk.nextText([question], first)?.text).toBe(second);
  await give(second, 2);
  await give(second, 3);
  expect(desk.labelTask(question, second, 1).answer).toEqual({ kind: "level", value: 3 });
  // The newest answer is taken back first, to what it replaced; then the one before.
  expect(await desk.undoLabel([question])).toMatchObject({ text: second, now: { kind: "level", value: 2 } });
  expect(await desk.undoLabel([question])).toMatchObject({ text: second, now: null });
  expect(desk.nextText([question], first)?.text).toBe(second);
  await give(second, 4);
  expect(desk.nextText([question], second)?.text).toBe(third);
  expect(await desk.undoLabel([question])).toMatchObject({ text: second });
  expect(await desk.undoLabel([question])).toMatchObject({ text: first, now: null });
  expect(await desk.undoLabel([question])).toBeNull();

  const events = submitted();
  expect(events.map(({ key }) => key[1])).toEqual(events.map((_, at) => at + 1));
  const times = events.map(({ at_ms }) => at_ms);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(Math.min(...times)).toBeGreaterThanOrEqual(0);
});
