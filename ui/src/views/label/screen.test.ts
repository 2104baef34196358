// Several questions on one screen, and questions with conditions, against the mock project.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import App from "../../App.svelte";
import { app } from "$stores/app.svelte";
import type { Condition, Scale } from "$api/bindings";
import { conditionWords, mayWaitFor } from "$words/conditions";
import { reset } from "../../mock/bindings";
import { showOthers } from "../../mock/show-others";
import LabelView from "./LabelView.svelte";
import { NO_HELP } from "$kinds/level/level-list";
import { ANSWER_ALONE, draftOf } from "../../mock/answer-parts";

const RUDE = 1;
const SPANS = 4;
const HARM = 5;
const text = () => screen.getByTestId("label-text").dataset.textId;
const done = () => screen.getByTestId("label-progress-done").textContent;
const now = () => screen.getByTestId("question-now").dataset.question;
const rows = () => screen.queryAllByTestId("question-row").map((row) => row.dataset.question);
const row = (name: string) =>
  screen.getAllByTestId("question-row").find((one) => one.dataset.question === name) ??
  expect.unreachable(`no row for ${name}`);
const given = () => vi.mocked(commands.recordLabel).mock.calls.map(([label]) => [label.question, label.text]);
const lastToast = () => app.toasts.list.at(-1);
let user: ReturnType<typeof userEvent.setup>;

async function press(key: string): Promise<void> {
  await user.keyboard(key);
  await new Promise((settled) => setTimeout(settled, 12));
}

async function begin(): Promise<void> {
  await app.join("Robin");
  render(LabelView);
  await waitFor(() => expect(text()).toBe("1"));
}

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  await app.openSample();
  await showOthers(true);
  user = userEvent.setup();
  const levels = Array.from({ length: 11 }, (_, i) => `option ${i + 1}`);
  await commands.addQuestion("harm", "What is in it?", { kind: "multi-label", levels }, null, NO_HELP, []);
  await app.refresh();
  vi.spyOn(commands, "recordLabel");
});

/** Sets the condition of a question, by names. */
async function askOnlyIf(id: number, only_if: Condition | null) {
  const asked = app.project?.questions.find((question) => question.id === id);
  if (!asked) throw new Error(`there is no question ${id}`);
  const note_form = { reasons: [], confidence: false };
  await commands.changeQuestion(id, { ...draftOf(asked), only_if, note_form });
}

describe("three questions on one screen", () => {
  beforeEach(async () => {
    app.chooseQuestions([SPANS, HARM, RUDE]);
    await begin();
  });

  it("are answered by keyboard alone, each saved before the next is active", async () => {
    expect([now(), rows()]).toEqual(["passages", ["harm", "offensiveness"]]);
    expect(screen.getByTestId("span-text")).toHaveFocus();
    await press("{ArrowRight}1");
    expect(given()).toEqual([]);
    await press("{Enter}");
    expect(given()).toEqual([[SPANS, 1]]);
    // What others marked is there to be seen; the next Enter goes on.
    expect(screen.getByTestId("span-reveal")).toBeVisible();
    await press("{Enter}");
    expect(now()).toBe("harm");
    expect(screen.getByTestId("question-now")).toHaveFocus();
    await press("2");
    await press("9");
    await press("{Enter}");
    expect(screen.getByTestId("label-set")).toHaveTextContent("Given: option 2 + option 9");
    await press("{Enter}");
    expect([now(), text(), done()]).toEqual(["offensiveness", "1", "0"]);
    await press("4");
    expect(given()).toEqual([
      [SPANS, 1],
      [HARM, 1],
      [RUDE, 1],
    ]);
    expect(done()).toBe("1");
    await press("{Enter}");
    expect([now(), text()]).toEqual(["passages", "2"]);
    expect(screen.getByTestId("span-text")).toHaveFocus();
  });

  it("share one area as high as the tallest of them, and their rows keep their height", async () => {
    // As if every option took ten pixels, and every panel fifty.
    vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockImplementation(function (this: HTMLElement) {
      return 50 + 10 * this.querySelectorAll("[data-level]").length;
    });
    window.dispatchEvent(new Event("resize"));
    const height = () => screen.getByTestId("question-place").style.minHeight;
    const places = () =>
      [...document.querySelectorAll("[data-testid^=question-row]")].map(
        (one) => (one as HTMLElement).dataset.question,
      );
    window.innerHeight += 1;
    window.dispatchEvent(new Event("resize"));
    await waitFor(() => expect(height()).toBe("160px"));
    for (const question of ["passages", "harm", "offensiveness"]) {
      expect([now(), height(), places()]).toEqual([question, "160px", ["passages", "harm", "offensiveness"]]);
      await press("{Tab}");
    }
    vi.restoreAllMocks();
  });

  it("Tab moves to the next or previous unanswered question, and leaves them if there is none", async () => {
    await press("{Tab}");
    expect(now()).toBe("harm");
    await press("{Tab}");
    expect(now()).toBe("offensiveness");
    await press("3");
    await press("{Shift>}{Tab}{/Shift}");
    expect(now()).toBe("harm");
    // The last one is answered: Tab goes on to the controls.
    await press("{Tab}");
    expect(now()).toBe("harm");
    expect(screen.getByTestId("question-now")).not.toHaveFocus();
    expect(document.activeElement).not.toBe(document.body);
  });

  it("Tab is not handled without a text on the desk", async () => {
    vi.spyOn(commands, "nextText").mockResolvedValue(null);
    vi.spyOn(commands, "neighbourText").mockResolvedValue(null);
    await press("s");
    screen.getByText("Go back").focus();
    await press("{Tab}");
    expect(screen.getByText("See the findings")).toHaveFocus();
    await press("{Shift>}{Tab}{/Shift}");
    await press("{Enter}");
    expect([now(), text()]).toEqual(["passages", "1"]);
    await press("{Tab}");
    expect(now()).toBe("harm");
    // Nor where none could be fetched.
    vi.mocked(commands.nextText).mockRejectedValue({ code: "disk", message: "No disk.", detail: null });
    app.chooseQuestions([HARM, RUDE]);
    const again = await screen.findByText("Try again");
    // The button that stops is the control before it.
    const stop = screen.getByTitle(/^Stop here/);
    stop.focus();
    await press("{Tab}");
    expect(again).toHaveFocus();
    await press("{Shift>}{Tab}{/Shift}");
    expect(stop).toHaveFocus();
  });

  it("a text keeps its scroll position when another question is active, and another text starts at the top", async () => {
    const box = screen.getByLabelText("Text to label");
    const after = async (key: string) => {
      box.scrollTop = 120;
      await press(key);
      return box.scrollTop;
    };
    expect(await after("{Tab}")).toBe(120);
    expect(await after("f")).toBe(120);
    expect(await after("{Shift>}{Tab}{/Shift}")).toBe(120);
    expect([now(), text()]).toEqual(["passages", "1"]);
    expect(await after("s")).toBe(0);
    expect(text()).toBe("2");
  });

  it("digits answer the active question, and a click activates another", async () => {
    await user.click(row("offensiveness"));
    expect(screen.getByTestId("question-now")).toHaveAttribute("aria-current", "true");
    await press("5");
    expect(given()).toEqual([[RUDE, 1]]);
    await user.click(row("passages"));
    expect(row("offensiveness")).toHaveTextContent("5");
    expect(row("offensiveness").dataset.open).toBe("false");
    expect(row("harm")).toHaveTextContent("not answered");
  });

  it("Enter does not leave a text with an open question, and shows the key that does", async () => {
    await press("0{Enter}");
    await press("{Enter}");
    await press("0{Enter}");
    await press("{Enter}");
    expect([now(), text()]).toEqual(["offensiveness", "1"]);
    await press("{Enter}");
    expect([now(), text()]).toEqual(["offensiveness", "1"]);
    expect(screen.getByTestId("not-answered")).toBeVisible();
    await press("{ArrowRight}");
    expect(text()).toBe("2");
  });

  it("a draft is stored until it is submitted, and its question is active again", async () => {
    await press("{Tab}");
    await press("3");
    await press("{Tab}");
    expect(row("harm")).toHaveTextContent("not submitted: option 3");
    await press("2");
    await press("{Enter}");
    await press("0{Enter}");
    await press("{Enter}");
    expect(now()).toBe("harm");
    expect(screen.getByTestId("label-set")).toHaveTextContent("Answer: option 3");
    await press("{Enter}");
    expect(given()).toHaveLength(3);
  });

  it("others' answers to a question are hidden before it is answered, whatever other questions were answered", async () => {
    await press("0{Enter}");
    expect(screen.getByTestId("span-reveal")).toBeVisible();
    await press("{Enter}");
    expect(screen.queryByTestId("label-reveal")).toBeNull();
    await press("{Tab}");
    expect(screen.queryByTestId("label-reveal")).toBeNull();
    await press("2");
    expect(screen.getByTestId("label-reveal")).toBeVisible();
    await press("{Enter}");
    expect([now(), screen.queryByTestId("label-reveal")]).toEqual(["harm", null]);
  });

  it("an answer that cannot be saved is reported and keeps its draft, and the others are stored", async () => {
    await press("0{Enter}");
    await press("{Enter}");
    await press("1");
    const problem = { code: "disk-full", message: "The disk is full.", detail: null };
    vi.mocked(commands.recordLabel).mockRejectedValueOnce(problem);
    await press("{Enter}");
    expect(lastToast()).toMatchObject({ kind: "problem", message: "harm: The disk is full." });
    expect([now(), text()]).toEqual(["harm", "1"]);
    expect(screen.getByTestId("label-set")).toHaveTextContent("Answer: option 1");
    expect(row("passages").dataset.open).toBe("false");
    await press("{Enter}");
    expect(screen.getByTestId("label-set")).toHaveTextContent("Given: option 1");
  });

  it("U undoes the last answer, and activates its question on its text", async () => {
    await press("0{Enter}");
    await press("{Enter}");
    await press("0{Enter}");
    await press("{Enter}");
    await press("2");
    await press("{Enter}");
    expect([text(), done()]).toEqual(["2", "1"]);
    await press("u");
    expect([text(), now(), done()]).toEqual(["1", "offensiveness", "0"]);
    expect(lastToast()?.message).toBe("Label “2” undone");
    await press("u");
    expect([text(), now()]).toEqual(["1", "harm"]);
    expect(lastToast()?.message).toBe("Label “none” undone");
    await press("u");
    expect(now()).toBe("passages");
    await press("u");
    expect(lastToast()?.message).toBe("Nothing to undo");
  });

  it("S skips the open questions and goes on", async () => {
    await press("0{Enter}");
    const skip = vi.spyOn(commands, "skipText");
    await press("s");
    expect(skip.mock.calls[0]?.[1]).toEqual([SPANS, HARM, RUDE]);
    expect(text()).toBe("2");
    const me = app.annotator?.id ?? 0;
    expect((await commands.labelTask(me, SPANS, 1, 1)).skipped).toBe(false);
    expect((await commands.labelTask(me, RUDE, 1, 1)).skipped).toBe(true);
  });

  it("a key pressed while an answer is being saved applies to the question that was active", async () => {
    await press("{Tab}{Tab}");
    for (const key of ["3", "Enter", "1"]) window.dispatchEvent(new KeyboardEvent("keydown", { key }));
    await waitFor(() => expect(now()).toBe("passages"));
    expect(given()).toEqual([[RUDE, 1]]);
    expect(row("offensiveness")).toHaveTextContent("3");
  });

  it("keys typed while saving apply to the questions that Tab moved to, and the last of these stays active", async () => {
    await showOthers(false);
    app.chooseQuestions([RUDE, 2, SPANS]);
    await waitFor(() => expect([now(), text()]).toEqual(["offensiveness", "1"]));
    for (const key of ["2", "Tab", "1", "Tab"])
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await waitFor(() => expect(given()).toHaveLength(2));
    await new Promise((settled) => setTimeout(settled, 12));
    expect(given()).toEqual([
      [RUDE, 1],
      [2, 1],
    ]);
    expect([now(), text()]).toEqual(["passages", "1"]);
  });

  it("only the first answer on a text reports its reading time", async () => {
    let clock = performance.now();
    vi.spyOn(performance, "now").mockImplementation(() => clock);
    await press("s");
    for (const [wait, keys] of [
      [4000, "0{Enter}"],
      [2000, "0{Enter}"],
      [700, "2"],
    ] as const) {
      clock += wait;
      await press(keys);
      await press("{Enter}");
    }
    const times = vi.mocked(commands.recordLabel).mock.calls.map(([label]) => label.duration_ms);
    expect(times).toEqual([4000, null, null]);
  });
});

describe("a question that is asked only after another", () => {
  const condition = { question: RUDE, levels: [3, 4] };

  it("appears if its condition is met, and counts only then", async () => {
    await askOnlyIf(HARM, condition);
    await app.refresh();
    app.chooseQuestions([RUDE, HARM]);
    await begin();
    expect(rows()).toEqual([]);
    await press("1");
    expect([rows(), done()]).toEqual([[], "1"]);
    await press("{Enter}");
    expect(text()).toBe("2");
    await press("5");
    expect([rows(), done()]).toEqual([["harm"], "1"]);
    await press("{Enter}");
    expect([now(), text()]).toEqual(["harm", "2"]);
    await press("1{Enter}");
    expect(done()).toBe("2");
    // Another answer above: the old answer is stored and shown.
    await user.click(row("offensiveness"));
    await press("2");
    expect(rows()).toEqual([]);
    expect(screen.getByTestId("question-kept")).toHaveTextContent("not asked here; “option 1” is stored");
    await press("4");
    expect(row("harm")).toHaveTextContent("option 1");
    expect(given().filter(([question]) => question === HARM)).toHaveLength(1);
  });

  it("on one's own is asked of texts that meet the condition, and explains why not of others", async () => {
    await askOnlyIf(HARM, condition);
    await app.join("Robin");
    const me = app.annotator?.id ?? 0;
    for (const [id, value] of [
      [1, 4],
      [3, 3],
    ] as const)
      await commands.recordLabel(
        {
          question: RUDE,
          annotator: me,
          text: id,
          answer: { kind: "level", value },
          duration_ms: null,
        },
        ANSWER_ALONE,
      );
    await app.refresh();
    app.chooseQuestion(HARM);
    render(LabelView);
    await waitFor(() => expect(text()).toBe("1"));
    expect(screen.getByText("of 2")).toBeVisible();
    await press("1{Enter}");
    await press("{Enter}");
    expect(text()).toBe("3");
    await press("{ArrowLeft}");
    await press("{ArrowLeft}");
    await press("{ArrowRight}");
    await press("{ArrowRight}");
    expect(text()).toBe("4");
    expect(screen.getByTestId("question-not-asked")).toHaveTextContent("only if offensiveness is 4 or 5");
    await press("1");
    await press("{Enter}");
    expect(given().filter(([question]) => question === HARM)).toEqual([[HARM, 1]]);
  });

  it("is evaluated again if the condition of the question that it depends on changes", async () => {
    await askOnlyIf(HARM, { question: 2, levels: [1] });
    await app.join("Robin");
    const label = { annotator: app.annotator?.id ?? 0, text: 1, duration_ms: null };
    const answer = { kind: "level", value: 1 } as const;
    await commands.recordLabel({ ...label, question: 2, answer }, ANSWER_ALONE);
    await app.refresh();
    app.chooseQuestions([HARM, 3]);
    render(LabelView);
    await waitFor(() => expect([text(), now()]).toEqual(["1", "harm"]));
    await askOnlyIf(2, condition);
    await app.refresh();
    await waitFor(() => expect(now()).not.toBe("harm"));
    expect(rows()).toEqual([]);
    // Another question alone changes nothing of it.
    await press("{ArrowRight}");
    expect(text()).toBe("2");
    const tone: Scale = { kind: "binary", levels: ["kind", "rude"] };
    await commands.addQuestion("tone", "Which tone?", tone, null, NO_HELP, []);
    await app.refresh();
    expect(text()).toBe("2");
  });

  it("is described in words, and cannot have a circular condition", () => {
    const questions = (app.project?.questions ?? []).map((q) =>
      q.id === HARM
        ? { ...q, only_if: condition }
        : q.id === SPANS
          ? { ...q, only_if: { question: HARM, levels: [0] } }
          : q,
    );
    expect(conditionWords(null, questions)).toBe("Asked everywhere");
    const moved = questions.map((q) =>
      q.id === HARM ? { ...q, scale: { ...q.scale, ids: q.scale.levels.map((_, at) => at).reverse() } } : q,
    );
    const inIdOrder = conditionWords({ question: HARM, levels: [0, 1] }, moved).split(" or ");
    const names = moved.find(({ id }) => id === HARM)?.scale.levels ?? [];
    expect(inIdOrder.length).toBe(2);
    expect(inIdOrder[1], "in the order of the scale").toBe(names.at(-1));
    expect(conditionWords({ question: HARM, levels: [0, 1] }, questions)).toBe(
      "Asked only if harm has option 1 or option 2",
    );
    const ids = (of: number | null) => mayWaitFor(of, questions).map(({ id }) => id);
    expect(ids(RUDE)).toEqual([2, 3]);
    expect(ids(HARM)).toEqual([1, 2, 3]);
    expect(ids(null)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("the questions of the screen", () => {
  it("default to one; several are shown in an order that is stored with the project", async () => {
    await app.start();
    await app.join("Robin");
    render(App);
    await screen.findByTestId("summary-step");
    // The window begins with the open project.
    await new Promise((settled) => setTimeout(settled, 50));
    app.show("label");
    await waitFor(() => expect(now()).toBe("offensiveness"));
    expect(rows()).toEqual([]);
    await user.click(screen.getByTestId("questions-open"));
    const order = () => screen.getAllByTestId("screen-row").map((one) => one.dataset.question);
    expect(screen.getByTestId("screen-on-1")).toBeDisabled();
    await user.click(screen.getByTestId("screen-on-5"));
    for (let i = 0; i < 4; i += 1) await user.click(screen.getByTestId("screen-up-5"));
    expect(order().slice(0, 2)).toEqual(["harm", "offensiveness"]);
    await user.click(screen.getByTestId("questions-done"));
    await waitFor(() => expect([now(), rows()]).toEqual(["harm", ["offensiveness"]]));
    expect((await commands.project())?.choices.screen).toEqual([HARM, RUDE]);
    app.screen = [];
    await app.openSample();
    expect(app.shownQuestions.map(({ id }) => id)).toEqual([HARM, RUDE]);
    // A question that no longer exists, for example after restoring a file, is not requested.
    app.screen = [77, RUDE];
    expect(app.shownQuestions.map(({ id }) => id)).toEqual([RUDE]);
    app.chooseQuestions([HARM, RUDE]);
    app.chooseQuestion(2);
    app.show("label");
    await waitFor(() => expect([now(), rows()]).toEqual(["remove", []]));
    expect((await commands.project())?.choices.screen).toEqual([]);
  });

  it("can be edited with labels: levels renamed, none removed, and a condition set", async () => {
    await app.start();
    await app.join("Robin");
    render(App);
    await screen.findByTestId("summary-step");
    // The window begins with the open project.
    await new Promise((settled) => setTimeout(settled, 50));
    app.show("label");
    await waitFor(() => expect(now()).toBe("offensiveness"));
    await press("4");
    await user.click(screen.getByTestId("questions-open"));
    await user.click(screen.getByTestId("question-edit-1"));
    const dialog = within(screen.getByTestId("question-edit-dialog"));
    await waitFor(() => expect(dialog.getByLabelText("Take level 4 out")).toBeDisabled());
    const save = () => screen.getByTestId("question-save");
    expect(save()).toBeDisabled();
    const field = screen.getByTestId("rename-level-4");
    await user.clear(field);
    expect(save()).toBeDisabled();
    await user.type(field, "rather");
    await user.click(save());
    await user.click(screen.getByTestId("questions-done"));
    await waitFor(() => expect(screen.getByTestId("level-4")).toHaveTextContent("rather"));
    // The label is unchanged, under the new name.
    await press("{ArrowLeft}");
    expect(text()).toBe("1");
    expect(screen.getByTestId("level-4")).toHaveAttribute("aria-pressed", "true");
    const rename = vi.spyOn(commands, "changeQuestion").mockRejectedValueOnce({
      code: "no-scale",
      message: 'the level "1" is listed twice',
      detail: null,
    });
    await user.click(screen.getByTestId("questions-open"));
    await user.click(screen.getByTestId("question-edit-1"));
    await user.type(screen.getByTestId("rename-level-2"), "{Backspace}1");
    await user.click(save());
    await waitFor(() => expect(lastToast()?.message).toContain("is listed twice"));
    expect(rename).toHaveBeenCalledTimes(1);
    expect(screen.getByTestId("question-edit-dialog")).toBeVisible();
  });
});
