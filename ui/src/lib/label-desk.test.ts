// The desk without a screen: what becomes of answers, and of who has the keys, while another answer is being written.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import type { Answer, AnnotatorId, QuestionId, QuestionInfo } from "$lib/bindings";
import { LabelDesk } from "$lib/label-desk.svelte";
import { answerOf } from "$lib/levels";
import { reset } from "../mock/bindings";

const RUDE = 1;
const REMOVE = 2;
const TONE = 3;
const real = { ...commands };
let me: AnnotatorId;
let problems: unknown[];
/** Answers wait to be written until they are let through, one by one. */
let waiting: (() => void)[];

beforeEach(async () => {
  reset();
  await commands.openSample();
  me = (await commands.addAnnotator("Robin", {})).id;
  problems = [];
  waiting = [];
  vi.spyOn(commands, "recordLabel").mockImplementation(async (label) => {
    await new Promise<void>((written) => waiting.push(written));
    return real.recordLabel(label);
  });
});

async function begun(...ids: QuestionId[]): Promise<LabelDesk> {
  const all = (await commands.project())?.questions ?? [];
  const questions = ids.flatMap((id): QuestionInfo[] => all.filter((q) => q.id === id));
  const desk = new LabelDesk({ annotator: me, questions, order: "file" }, (thrown) => problems.push(thrown));
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
const recorded = () =>
  vi
    .mocked(commands.recordLabel)
    .mock.calls.map(([{ question, text, answer }]) => [question, text, answer.value as Answer["value"]]);
const times = () => vi.mocked(commands.recordLabel).mock.calls.map(([label]) => label.duration_ms);

describe("an answer that is still being written", () => {
  it("does not take the keys from the question that was gone to meanwhile", async () => {
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

  it("lays no other text where one is not answered", async () => {
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

  it("goes on by itself where nobody went anywhere, whatever the order of the answers", async () => {
    const desk = await begun(RUDE, REMOVE, TONE);
    desk.goOn = true;
    desk.focus(2);
    void desk.answer(answerOf(4));
    await write();
    expect([desk.at, desk.task?.text]).toEqual([0, 1]);
  });

  it("does not swallow what was answered to another question, wherever the keys are by then", async () => {
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

  it("keeps keys that follow it from the question that the desk goes on to", async () => {
    const desk = await begun(RUDE, REMOVE, TONE);
    desk.goOn = true;
    void desk.answer(answerOf(1));
    void desk.answer(answerOf(0));
    await write();
    expect([desk.at, desk.task?.text]).toEqual([1, 1]);
    expect(recorded()).toEqual([[RUDE, 1, 1]]);
  });

  it("is corrected by the next key where the desk stays, and that key alone goes on", async () => {
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

  it("fetches no next text ahead while a question waits", async () => {
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

  it("is typed anew at once after an undo", async () => {
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

describe("how long a text was looked at", () => {
  let clock: number;
  beforeEach(() => {
    clock = 1000;
    vi.spyOn(performance, "now").mockImplementation(() => clock);
  });

  it("is told of the first answer on it alone, by whichever question that is", async () => {
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

  it("is that of the question where one is asked alone, corrected or not", async () => {
    const desk = await begun(RUDE);
    for (const level of [1, 2]) {
      clock += 500;
      void desk.answer(answerOf(level));
      await write();
    }
    expect(times()).toEqual([500, 1000]);
  });

  it("is not told of a text that was answered in part before", async () => {
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
