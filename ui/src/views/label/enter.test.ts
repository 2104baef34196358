// Enter in every mode: without an answer it stays and says so, with one it goes on.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { NO_HELP } from "$kinds/level/level-list";
import { playPacket, practice, reset } from "../../mock/bindings";
import { showOthers } from "../../mock/show-others";
import LabelView from "./LabelView.svelte";

const RUDE = 1;
const SPANS = 4;
const HARM = 5;
let user: ReturnType<typeof userEvent.setup>;

async function press(...keys: string[]): Promise<void> {
  for (const key of keys) {
    await user.keyboard(key);
    await new Promise((settled) => setTimeout(settled, 12));
  }
}

interface Mode {
  name: string;
  /** Lays the first question before the person. */
  begin: () => Promise<void>;
  /** Keys that answer it and confirm that, as far as it is to be confirmed. */
  answer: string[];
  /** The answer itself leads on: no further Enter is wanted. */
  byItself?: boolean;
  /** Where the person is. */
  place?: () => unknown;
}

const onDesk = () => [
  screen.queryByTestId("label-text")?.dataset.textId ?? screen.queryByTestId("span-text")?.textContent,
  screen.queryByTestId("question-now")?.dataset.question,
];

/** The first text is on the desk. */
async function shown(): Promise<void> {
  render(LabelView);
  await screen.findByTestId("question-now");
  await waitFor(() => expect(onDesk()[0]?.trim()).toBeTruthy());
}

async function alone(question: number, others: boolean): Promise<void> {
  await showOthers(others);
  await app.join("Robin");
  app.chooseQuestion(question);
  await shown();
}

async function together(others: boolean): Promise<void> {
  await showOthers(others);
  await app.join("Robin");
  app.chooseQuestions([RUDE, HARM]);
  await shown();
}

const MODES: Mode[] = [
  { name: "one question, others shown", begin: () => alone(RUDE, true), answer: ["3"] },
  {
    name: "one question, going on by itself",
    begin: () => alone(RUDE, false),
    answer: ["3"],
    byItself: true,
  },
  { name: "several questions, others shown", begin: () => together(true), answer: ["3"] },
  {
    name: "several questions, going on by themselves",
    begin: () => together(false),
    answer: ["3"],
    byItself: true,
  },
  { name: "several options", begin: () => alone(HARM, true), answer: ["2", "{Enter}"] },
  { name: "spans", begin: () => alone(SPANS, true), answer: ["0", "{Enter}"] },
  {
    name: "a text once more",
    begin: async () => {
      await app.join("Robin");
      playPacket(app.annotatorId ?? 0, [
        { text: 3, occasion: 2 },
        { text: 1, occasion: 1 },
      ]);
      await app.openSample();
      await shown();
    },
    answer: ["2"],
    byItself: true,
  },
  {
    name: "practice",
    begin: async () => {
      for (const at of [2, 3]) {
        const task = await commands.neighbourText(1, 1, at, 1);
        practice.set(1, task?.external_id ?? "", { kind: "level", value: 1 }, "");
      }
      practice.rule = { pass: 0.5, within: 0, then: "go-on" };
      await app.join("Robin");
      render(LabelView);
      await user.click(await screen.findByTestId("practice-next"));
      await screen.findByTestId("practice-at");
    },
    answer: ["2"],
    place: () => screen.queryByTestId("practice-at")?.textContent,
  },
  {
    name: "the form about oneself",
    begin: async () => {
      const asked = { name: "gender", prompt: "", values: ["woman", "man"], optional: false };
      await commands.setAttributeForm({ attributes: [asked] });
      await app.join("Robin");
      render(LabelView);
      await screen.findByTestId("about-you");
    },
    answer: [" "],
    place: () => screen.queryByTestId("about-you") === null,
  },
];

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  await app.openSample();
  user = userEvent.setup();
  const levels = ["a threat", "an insult", "a lie"];
  await commands.addQuestion("harm", "What is in it?", { kind: "multi-label", levels }, null, NO_HELP, []);
  await app.refresh();
  vi.restoreAllMocks();
});

afterEach(cleanup);

describe.each(MODES)("Enter, $name", ({ begin, answer, byItself, place = onDesk }) => {
  it("stays and shows a notice if nothing is answered", async () => {
    await begin();
    const records = (["recordLabel", "recordAgain", "recordPractice", "answerForm", "skipText"] as const).map(
      (name) => vi.spyOn(commands, name),
    );
    const before = place();
    await press("{Enter}", "{Enter}");
    expect(place()).toEqual(before);
    expect(screen.getByTestId("not-answered").textContent).toContain("Not answered yet");
    for (const record of records) expect(record).not.toHaveBeenCalled();
    // Not in a corner of the window.
    expect(app.toasts.list).toEqual([]);
  });

  it("goes on from an answer without skipping an open question", async () => {
    await begin();
    const before = place();
    await press("{Enter}", ...answer);
    expect(screen.queryByTestId("not-answered")).toBeNull();
    if (!byItself) await press("{Enter}");
    await waitFor(() => expect(place()).not.toEqual(before));
    // The Enter of a habit changes nothing more.
    const there = place();
    await press("{Enter}");
    expect(place()).toEqual(there);
  });
});
