// The desk without a screen: answers and focus while another answer is being written.
import { answerOf, answerOfOptions, answerOfSpans } from "../mock/answers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import type { Answer, AnnotatorId, QuestionId, QuestionInfo } from "$api/bindings";
import { Drafts } from "./drafts";
import { LabelDesk } from "./label-desk.svelte";
import { reset } from "../mock/bindings";
import { NO_HELP } from "$kinds/level/level-list";

const RUDE = 1;
const REMOVE = 2;
const TONE = 3;
const PASSAGES = 4;
const HARM = 5;
const real = { ...commands };
let me: AnnotatorId;
let problems: unknown[];
let drafts: Drafts;
/** Answers wait to be written until they are let through, one by one. */
let waiting: (() => void)[];

beforeEach(async () => {
  reset();
  await commands.openSample();
  me = (await commands.addAnnotator("Robin", {})).id;
  const scale = { kind: "multi-label" as const, levels: ["rude", "threat", "lie"] };
  await commands.addQuestion("harm", "What is in it?", scale, null, NO_HELP, []);
  drafts = new Drafts();
  problems = [];
  waiting = [];
  vi.spyOn(commands, "recordLabel").mockImplementation(async (label, details) => {
    await new Promise<void>((written) => waiting.push(written));
    return real.recordLabel(label, details);
  });
});

async function begun(...ids: QuestionId[]): Promise<LabelDesk> {
  const all = (await commands.project())?.questions ?? [];
  const questions = ids.flatMap((id): QuestionInfo[] => all.filter((q) => q.id === id));
  const desk = new LabelDesk({ annotator: me, questions, order: "file", drafts }, (thrown) =>
    problems.push(thrown),
  );
  await desk.begin();
  return desk;
}

/** As soon as an answer waits, it is on disk; what follows from it has happened then, too. */
async function write(): Promise<void> {
  await vi.waitFor(() => expect(waiting.length).toBeGreaterThan(0));
  waiting.shift()?.();
  await settled();
}

const settled = () => new Promise((done) => setTimeout(done, 5));
const valueOf = (answer: Answer) => (answer.kind === "cannot-say" ? null : answer.value);
const recorded = () =>
  vi
    .mocked(commands.recordLabel)
    .mock.calls.map(([{ question, text, answer }]) => [question, text, valueOf(answer)]);
const times = () => vi.mocked(commands.recordLabel).mock.calls.map(([label]) => label.duration_ms);

describe("an answer that is still being written", () => {
  it("does not take the focus from the question that was chosen meanwhile", async () => {
    const desk = await begun(RUDE, REMOVE, TONE);
    desk.goOn = true;
    void desk.answer(answerOf(1));
    desk.focus(1);
    await write();
    expect([desk.at, desk.task?.text]).toEqual([1, 1]);
    void desk.answer(answerOf(0));
    await write();
    expect(recorded()).toEqual([
      [RUDE, 1, 1],
      [REMOVE, 1, 0],
    ]);
    // Nobody went anywhere this time: the desk goes on.
    expect([desk.at, desk.task?.text]).toEqual([2, 1]);
  });

  it("loads no other text if the current one is not answered", async () => {
    const desk = await begun(RUDE, REMOVE);
    desk.goOn = true;
    void desk.answer(answerOf(1));
    desk.focus(1);
    await write();
    expect([desk.at, desk.task?.text]).toEqual([1, 1]);
    void desk.answer(answerOf(1));
    await write();
    expect(desk.task?.text).toBe(2);
    expect(recorded()).toEqual([
      [RUDE, 1, 1],
      [REMOVE, 1, 1],
    ]);
  });

  it("goes on by itself if nobody moved, for any order of the responses", async () => {
    const desk = await begun(RUDE, REMOVE, TONE);
    desk.goOn = true;
    desk.focus(2);
    void desk.answer(answerOf(4));
    await write();
    expect([desk.at, desk.task?.text]).toEqual([0, 1]);
  });

  it("does not lose an answer to another question, whichever question is active", async () => {
    const desk = await begun(RUDE, REMOVE, TONE);
    for (const goOn of [false, true]) {
      desk.goOn = goOn;
      const text = desk.task?.text;
      desk.focus(0);
      void desk.answer(answerOf(1));
      desk.focus(1);
      void desk.answer(answerOf(1));
      desk.focus(2);
      await write();
      await write();
      expect(recorded().slice(-2)).toEqual([
        [RUDE, text, 1],
        [REMOVE, text, 1],
      ]);
      expect([desk.at, desk.task?.text]).toEqual([2, text]);
      await desk.skip();
    }
    expect(problems).toEqual([]);
  });

  it("does not apply following keys to the question that the desk goes on to", async () => {
    const desk = await begun(RUDE, REMOVE, TONE);
    desk.goOn = true;
    void desk.answer(answerOf(1));
    void desk.answer(answerOf(0));
    await write();
    expect([desk.at, desk.task?.text]).toEqual([1, 1]);
    expect(recorded()).toEqual([[RUDE, 1, 1]]);
  });

  it("is corrected by the next key if the desk stays, and only that key goes on", async () => {
    const desk = await begun(RUDE, REMOVE);
    void desk.answer(answerOf(1));
    void desk.answer(answerOf(3));
    await write();
    await write();
    expect(recorded()).toEqual([
      [RUDE, 1, 1],
      [RUDE, 1, 3],
    ]);
    // The same answer once more, and then Tab: it goes on from where it was given, and so nowhere.
    void desk.answer(answerOf(3));
    desk.focus(1);
    await settled();
    expect([desk.at, desk.task?.text]).toEqual([1, 1]);
  });

  it("prefetches no text while a question is open", async () => {
    const desk = await begun(RUDE, REMOVE);
    const next = vi.spyOn(commands, "nextText");
    void desk.answer(answerOf(1));
    desk.focus(1);
    await write();
    expect(next).not.toHaveBeenCalled();
    void desk.answer(answerOf(1));
    await write();
    expect(next).toHaveBeenCalledTimes(1);
  });

  it("can be given again right after an undo", async () => {
    const desk = await begun(RUDE);
    void desk.answer(answerOf(1));
    await write();
    void desk.undo();
    void desk.answer(answerOf(3));
    await write();
    expect(recorded()).toEqual([
      [RUDE, 1, 1],
      [RUDE, 1, 3],
    ]);
    expect(desk.question.given).toEqual(answerOf(3));
  });
});

describe("an unsubmitted answer", () => {
  const options = (...all: number[]) => answerOfOptions(all);
  const word = { start: 0, end: 8, kind: 1 };

  it("started while an answer is being saved is not part of it, and stays", async () => {
    const desk = await begun(HARM, RUDE);
    desk.goOn = true;
    desk.question.pending = options(0);
    void desk.answer(options(0));
    desk.question.pending = options(0, 2);
    await write();
    expect(desk.question.given).toEqual(options(0));
    expect([desk.at, desk.question.picked, desk.question.changed]).toEqual([0, [0, 2], true]);
    void desk.answer(options(0, 2));
    await write();
    expect(desk.at).toBe(1);
    desk.focus(0);
    expect([desk.question.picked, desk.question.changed, desk.question.pending]).toEqual([
      [0, 2],
      false,
      null,
    ]);
  });

  it("of other questions stays when an answer on the same text is undone", async () => {
    const desk = await begun(PASSAGES, HARM, RUDE);
    const [passages, harm] = desk.questions;
    const marks = passages?.marks;
    if (!marks || !harm) return expect.unreachable();
    marks.mark({ start: 0, end: 8 }, 1);
    void desk.answer(answerOfSpans(marks.spans));
    await write();
    marks.moveTo(10);
    marks.press(0);
    const words = [...marks.spans];
    harm.pending = options(1);
    desk.focus(2);
    void desk.answer(answerOf(3));
    await write();
    await desk.undo();
    expect([desk.at, desk.task?.text, desk.question.given]).toEqual([2, 1, null]);
    expect([harm.picked, harm.changed]).toEqual([[1], true]);
    expect([marks.spans, marks.caret, marks.undoable, marks.changed]).toEqual([words, 10, true, true]);
  });

  it("of the undone answer itself stays, too, instead of the recorded answer", async () => {
    const desk = await begun(HARM);
    void desk.answer(options(0));
    await write();
    desk.question.pending = options(0, 1);
    await desk.undo();
    expect([desk.question.given, desk.question.picked]).toEqual([null, [0, 1]]);
  });

  it("restores the given marks if their answer is undone; with another current answer they can be redone", async () => {
    const desk = await begun(PASSAGES);
    const { marks } = desk.question;
    if (!marks) return expect.unreachable();
    marks.mark({ start: 0, end: 8 }, 1);
    void desk.answer(answerOfSpans(marks.spans));
    await write();
    marks.nothing();
    void desk.answer(answerOfSpans(marks.spans));
    await write();
    await desk.undo();
    expect([marks.spans, marks.changed]).toEqual([[word], false]);
    marks.redo();
    expect([marks.spans, marks.changed]).toEqual([[], true]);
    marks.undo();
    await desk.undo();
    expect([desk.question.given, marks.spans, marks.changed]).toEqual([null, [word], true]);
  });

  it("is stored with its text until this or another desk returns to it", async () => {
    const desk = await begun(PASSAGES, HARM);
    const [first, second] = desk.questions;
    first?.marks?.mark({ start: 0, end: 8 }, 1);
    if (second) second.pending = options(2);
    await desk.forward();
    expect([desk.task?.text, first?.draft, second?.draft]).toEqual([2, null, null]);
    if (second) second.pending = options(0);
    desk.leave();

    const alone = await begun(HARM);
    expect(alone.question.draft).toEqual(options(2));
    await alone.forward();
    expect([alone.task?.text, alone.question.draft]).toEqual([2, options(0)]);
    await alone.forward();
    expect([alone.task?.text, alone.question.draft]).toEqual([3, null]);
    alone.leave();
    const again = await begun(PASSAGES, HARM);
    expect(again.questions.map(({ draft }) => draft)).toEqual([answerOfSpans([word]), options(2)]);
  });

  it("is dropped if it was being saved when the desk was left", async () => {
    const desk = await begun(HARM);
    desk.question.pending = options(1);
    void desk.answer(options(1));
    await vi.waitFor(() => expect(waiting).toHaveLength(1));
    desk.leave();
    await write();
    const again = await begun(HARM);
    await again.back();
    expect([again.task?.text, again.question.given, again.question.draft]).toEqual([1, options(1), null]);
  });

  it("belongs to one person and one project", async () => {
    const desk = await begun(HARM);
    desk.question.pending = options(1);
    desk.leave();
    const robin = me;
    me = (await commands.addAnnotator("Kim", {})).id;
    expect((await begun(HARM)).question.draft).toBeNull();
    me = robin;
    drafts.forget();
    expect((await begun(HARM)).question.draft).toBeNull();
  });
});

describe("undo after a skip", () => {
  it("goes back to the skipped text, and takes no label", async () => {
    const desk = await begun(RUDE);
    void desk.answer(answerOf(1));
    await write();
    await desk.forward();
    const skipped = desk.task?.text;
    await desk.skip();
    expect(desk.task?.text).not.toBe(skipped);
    expect(await desk.undo()).toBe("skip");
    expect(desk.task?.text).toBe(skipped);
    // The next one is of the label again.
    expect(await desk.undo()).toMatchObject({ text: 1 });
  });

  it("is of the last label once something else was done", async () => {
    const desk = await begun(RUDE);
    void desk.answer(answerOf(1));
    await write();
    await desk.forward();
    await desk.skip();
    await desk.back();
    expect(await desk.undo()).toMatchObject({ text: 1 });
    expect(problems).toEqual([]);
  });
});

describe("the reading time of a text", () => {
  let clock: number;
  beforeEach(() => {
    clock = 1000;
    vi.spyOn(performance, "now").mockImplementation(() => clock);
  });

  it("is recorded only with the first answer on it, for any question", async () => {
    const desk = await begun(RUDE, REMOVE, TONE);
    for (const [at, wait] of [
      [1, 4000],
      [0, 700],
      [2, 300],
    ] as const) {
      desk.focus(at);
      clock += wait;
      void desk.answer(answerOf(0));
      await write();
    }
    expect(times()).toEqual([4000, null, null]);
    await desk.forward();
    clock += 900;
    void desk.answer(answerOf(0));
    await write();
    expect(times().at(-1)).toBe(900);
  });

  it("is that of the question if it is asked alone, corrected or not", async () => {
    const desk = await begun(RUDE);
    for (const level of [1, 2]) {
      clock += 500;
      void desk.answer(answerOf(level));
      await write();
    }
    expect(times()).toEqual([500, 1000]);
  });

  it("is not recorded for a text that was answered in part before", async () => {
    const desk = await begun(RUDE, REMOVE);
    void desk.answer(answerOf(1));
    await write();
    await desk.skip();
    await desk.back();
    clock += 800;
    desk.focus(1);
    void desk.answer(answerOf(1));
    await write();
    expect(times()).toEqual([0, null]);
  });
});
