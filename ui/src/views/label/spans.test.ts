// Marking spans against the invented project: by key, by mouse, and what others marked afterwards.
import { spansOf } from "../../mock/answers";
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import AddQuestionDialog from "$views/questions/AddQuestionDialog.svelte";
import { app } from "$stores/app.svelte";
import type { LabelTask, Span } from "$api/bindings";
import { reset } from "../../mock/bindings";
import { showOthers } from "../../mock/show-others";
import LabelView from "./LabelView.svelte";

const BODY = "You pathetic 🙃 fool, shut up!";
const body = () => screen.getByTestId("label-text");
const text = () => body().dataset.textId;
const done = () => screen.getByTestId("label-progress-done").textContent;
const region = () => screen.getByTestId("span-text");
const list = () =>
  [...document.querySelectorAll("[data-testid=span-list] li")].map((li) =>
    li.textContent?.replace(/\s+/g, " ").trim(),
  );
let user: ReturnType<typeof userEvent.setup>;

/** The first text has a body of our own. */
function give(own: string): void {
  const real = commands.nextText;
  const put = (task: LabelTask | null) => task && (task.text === 1 ? { ...task, body: own } : task);
  vi.spyOn(commands, "nextText").mockImplementation(async (...args) => put(await real(...args)));
}

async function begin(): Promise<void> {
  await app.join("Robin");
  render(LabelView);
  await waitFor(() => expect(text()).toBe("1"));
}

async function press(key: string): Promise<void> {
  await user.keyboard(key);
  await new Promise((settled) => setTimeout(settled, 5));
}

/** The caret is found where `at` says, as an engine does by coordinates. */
function pointAt(at: () => number): void {
  document.caretRangeFromPoint = () => {
    const pieces = [...body().querySelectorAll<HTMLElement>("[data-at]")];
    const piece = pieces.findLast((one) => Number(one.dataset.at) <= at());
    const range = document.createRange();
    const node = piece?.firstChild;
    if (node) range.setStart(node, at() - Number(piece?.dataset.at));
    return range;
  };
}

async function drag(from: number, to: number, more: Partial<MouseEventInit> = {}): Promise<void> {
  let at = from;
  pointAt(() => at);
  await fireEvent.pointerDown(body(), { button: 0, clientX: from * 10, clientY: 5 });
  at = to;
  await fireEvent.pointerMove(body(), { clientX: to * 10, clientY: 5, ...more });
  await fireEvent.pointerUp(body(), { clientX: to * 10, clientY: 5, ...more });
}

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  await app.openSample();
  await app.saveSettings({ ...app.settings, snap_to_words: true });
  user = userEvent.setup();
  app.showFigures(4);
  give(BODY);
});

describe("by key alone", () => {
  it("words are marked, the answer given and the next text reached", async () => {
    const record = vi.spyOn(commands, "recordLabel");
    await begin();
    expect(region()).toHaveFocus();
    await press("{ArrowRight}{ArrowRight}{Shift>}{ArrowRight}{ArrowRight}{ArrowRight}{/Shift}");
    expect(region().dataset.selection).toBe("4-20");
    await press("1");
    await press("{ArrowRight}{Shift>}{ArrowRight}{ArrowRight}{/Shift}2");
    expect(list()).toEqual(["1 insult pathetic 🙃 fool", "2 order or threat shut up"]);
    expect(done()).toBe("0");
    await press("{Enter}");
    await waitFor(() => expect(done()).toBe("1"));
    // Characters, not code units: the emoji counts once.
    expect(record.mock.calls[0]?.[0].answer).toEqual({
      kind: "spans",
      value: [
        { start: 4, end: 19, kind: 0 },
        { start: 21, end: 28, kind: 1 },
      ],
    });
    await press("{Enter}");
    await waitFor(() => expect(text()).toBe("2"));
    expect(region()).toHaveFocus();
    expect(list()).toEqual([]);
  });

  it("no mark is an answer only if submitted explicitly", async () => {
    const record = vi.spyOn(commands, "recordLabel");
    await begin();
    await press("{Enter}");
    expect(record).not.toHaveBeenCalled();
    expect(screen.getByTestId("not-answered")).toHaveTextContent("press 0 for “nothing to mark”");
    expect(screen.getByTestId("span-nothing")).toHaveAttribute("aria-pressed", "false");
    await press("0");
    expect(screen.getByTestId("span-nothing")).toHaveAttribute("aria-pressed", "true");
    await press("{Enter}");
    await waitFor(() => expect(done()).toBe("1"));
    expect(record.mock.calls[0]?.[0].answer).toEqual({ kind: "spans", value: [] });
    expect(screen.getByTestId("span-none")).toHaveTextContent("Given: nothing to mark");
  });

  it("Ctrl+Z and U undo marks first, then U undoes the label", async () => {
    const undo = vi.spyOn(commands, "undoLabel");
    await begin();
    await press("{ArrowRight}1{ArrowRight}2");
    expect(list()).toHaveLength(2);
    await press("{Control>}z{/Control}");
    expect(list()).toEqual(["1 insult You"]);
    await press("u");
    expect(list()).toEqual([]);
    expect(undo).not.toHaveBeenCalled();
    await press("{Control>}y{/Control}");
    await press("{Enter}");
    await waitFor(() => expect(done()).toBe("1"));
    await press("{Control>}z{/Control}");
    expect(undo).not.toHaveBeenCalled();
    await press("u");
    await waitFor(() => expect(done()).toBe("0"));
    expect(app.toasts.list.at(-1)?.message).toBe("Label “insult” undone");
    // Its marks are there to be changed, and are no answer.
    expect(list()).toEqual(["1 insult You"]);
    expect(screen.queryByTestId("span-reveal")).toBeNull();
    await press("{ArrowLeft}{Delete}2{Enter}");
    await waitFor(() => expect(done()).toBe("1"));
    expect(list()).toEqual(["2 order or threat You"]);
  });

  it("Escape leaves the text, and arrow keys move to other texts again", async () => {
    await begin();
    await press("{ArrowRight}{Shift>}{ArrowRight}{/Shift}");
    await press("{Escape}");
    expect(region().dataset.selection).toBeUndefined();
    expect(region()).toHaveFocus();
    await press("{Escape}");
    expect(region()).not.toHaveFocus();
    await press("{ArrowRight}");
    expect(text()).toBe("2");
    await press("{ArrowLeft}");
    expect(text()).toBe("1");
    await press("{ArrowDown}");
    expect(region()).toHaveFocus();
    expect(region().dataset.caret).toBe("0");
  });

  it("Tab moves to marks, and then to the controls after the text", async () => {
    await begin();
    await press("{ArrowRight}1{ArrowRight}2");
    await press("{Shift>}{Tab}{/Shift}");
    expect(document.querySelector("[data-testid=span-list] .chosen")).toHaveTextContent("insult");
    await press("3");
    expect(list()[0]).toBe("3 scorn You");
    await press("{Tab}");
    await press("{Delete}");
    expect(list()).toEqual(["3 scorn You"]);
    await press("{Tab}");
    await press("{Tab}");
    expect(region()).not.toHaveFocus();
  });

  it("other keys of the view keep their function", async () => {
    await begin();
    await press("f");
    expect(screen.getByTestId("label-flag")).toHaveAttribute("aria-pressed", "true");
    await press("{ArrowRight}1");
    // A flag is not another text: marks stay.
    await press("f");
    expect(list()).toHaveLength(1);
    await press("s");
    await waitFor(() => expect(text()).toBe("2"));
    expect(list()).toEqual([]);
  });

  it("marks are kept on a text that was left", async () => {
    await begin();
    await press("{ArrowRight}1{Escape}{Escape}{ArrowRight}");
    await waitFor(() => expect(text()).toBe("2"));
    await press("{ArrowLeft}");
    await waitFor(() => expect(text()).toBe("1"));
    expect(list()).toHaveLength(1);
  });

  it("a digit typed into a field marks nothing", async () => {
    await begin();
    await press("{ArrowRight}");
    const field = document.body.appendChild(document.createElement("input"));
    field.focus();
    await press("1");
    field.remove();
    expect(list()).toEqual([]);
  });
});

describe("by mouse", () => {
  it("dragging marks words, with Alt characters, and a double click a word", async () => {
    await begin();
    await user.click(screen.getByTestId("span-type-2"));
    await drag(6, 17);
    expect(list()).toEqual(["2 order or threat pathetic 🙃 fool"]);
    await drag(23, 25, { altKey: true });
    expect(list()).toEqual(["2 order or threat pathetic 🙃 fool", "2 order or threat hu"]);
    pointAt(() => 1);
    await fireEvent.dblClick(body());
    expect(list()[0]).toBe("2 order or threat You");
  });

  it("snapping can be switched off, and stays so", async () => {
    await begin();
    await user.click(screen.getByTestId("span-snap"));
    await waitFor(() => expect(app.settings.snap_to_words).toBe(false));
    await drag(5, 7);
    expect(list()).toEqual(["1 insult at"]);
    // Half of an emoji is the whole of it.
    await drag(13, 14);
    expect(list()).toEqual(["1 insult at", "1 insult 🙃"]);
    expect((await commands.settings()).snap_to_words).toBe(false);
  });

  it("a click chooses a mark, a type changes it, and its cross removes it", async () => {
    await begin();
    await drag(4, 11);
    await drag(22, 24);
    pointAt(() => 6);
    await fireEvent.pointerDown(body(), { button: 0, clientX: 60, clientY: 5 });
    await fireEvent.pointerUp(body(), { clientX: 60, clientY: 5 });
    await user.click(screen.getByTestId("span-type-3"));
    expect(list()).toEqual(["3 scorn pathetic", "1 insult shut"]);
    await user.click(screen.getByLabelText("Take out scorn: pathetic"));
    expect(list()).toEqual(["1 insult shut"]);
    await user.click(screen.getByTestId("label-give"));
    await waitFor(() => expect(done()).toBe("1"));
  });

  it("marks nothing with another button, and nothing outside the text", async () => {
    await begin();
    pointAt(() => 6);
    await fireEvent.pointerDown(body(), { button: 2, clientX: 60, clientY: 5 });
    await fireEvent.pointerUp(body(), { button: 2, clientX: 60, clientY: 5 });
    document.caretRangeFromPoint = () => null;
    await fireEvent.pointerDown(body(), { button: 0, clientX: 60, clientY: 0 });
    await fireEvent.pointerMove(body(), { clientX: 160, clientY: 0 });
    await fireEvent.pointerUp(body(), { clientX: 160, clientY: 0 });
    expect(list()).toEqual([]);
  });
});

describe("the text", () => {
  it("stays plain text with any marks", async () => {
    vi.restoreAllMocks();
    const markup = "<img src=x onerror=alert(1)> & <b>bold</b>\r\n\r\nשלום 👩‍👩‍👧 e\u0301";
    give(markup);
    await begin();
    await press("{ArrowRight}1");
    expect(list()).toHaveLength(1);
    expect(body().textContent).toBe(markup);
    expect(document.querySelector("img")).toBeNull();
  });

  it("renders few elements for 10,000 words", async () => {
    vi.restoreAllMocks();
    give(Array.from({ length: 10_000 }, (_, i) => `word${i}`).join(" "));
    await begin();
    for (let i = 0; i < 10; i += 1) await press("{ArrowRight}{ArrowRight}1");
    expect(list()).toHaveLength(10);
    expect(body().childElementCount).toBeLessThan(120);
  });

  it("shows every mark, with the number of overlapping ones", async () => {
    await begin();
    await drag(0, 20);
    await press("3");
    await drag(4, 12);
    const tagged = [...body().querySelectorAll<HTMLElement>("[data-tag]")].map((e) => [
      e.textContent,
      e.dataset.tag,
    ]);
    expect(tagged).toEqual([
      ["You ", "1"],
      ["pathetic", "3"],
    ]);
    expect(body().querySelector("[data-tag='3']")).toHaveAttribute("title", "insult, scorn");
  });
});

describe("what others marked", () => {
  const people = (...spans: Span[][]) =>
    spans.map((own, i) => ({ annotator: i + 1, name: ["Amara", "Bruno", "Chiara"][i] ?? "", spans: own }));

  function answerWith(spans: ReturnType<typeof people> | null): void {
    const real = commands.recordLabel;
    vi.spyOn(commands, "recordLabel").mockImplementation(async (label, details) => ({
      ...(await real(label, details)),
      spans,
    }));
  }

  it("is hidden before the answer, even if it was sent", async () => {
    vi.restoreAllMocks();
    const real = commands.nextText;
    const spans = people([{ start: 0, end: 3, kind: 0 }]);
    vi.spyOn(commands, "nextText").mockImplementation(async (...args) => {
      const task = await real(...args);
      return task && { ...task, spans };
    });
    await begin();
    expect(screen.queryByTestId("span-reveal")).toBeNull();
    expect(body().innerHTML).not.toContain("level-high");
    expect(screen.getByText("You see what others marked after you have answered.")).toBeVisible();
  });

  it("is shown as heat with its figures, and who marked the word at the caret", async () => {
    answerWith(people([{ start: 4, end: 12, kind: 0 }], [{ start: 4, end: 12, kind: 1 }], []));
    await begin();
    await press("{ArrowRight}1{Enter}");
    await waitFor(() => expect(screen.getByTestId("span-reveal")).toBeVisible());
    expect(screen.getByTestId("span-heat-any")).toHaveTextContent("Any type 2 of 3");
    expect(screen.getByTestId("span-heat-1")).toHaveTextContent("insult 1 of 3");
    const piece = () => body().querySelector<HTMLElement>("[data-at='4']");
    expect(piece()?.style.background).toContain("level-high) 33%");
    await press("{ArrowRight}");
    expect(screen.getByTestId("span-markers")).toHaveTextContent(
      "pathetic: 2 of 3 others: Amara (insult), Bruno (order or threat)",
    );
    await user.click(screen.getByTestId("span-heat-2"));
    expect(piece()?.style.background).toContain("cat-2) 17%");
    pointAt(() => 1);
    await fireEvent.pointerMove(body(), { clientX: 1, clientY: 5 });
    expect(screen.getByTestId("span-markers")).toHaveTextContent("You: none of 3 others marked this");
  });

  it("reports that nobody else has answered", async () => {
    answerWith([]);
    await begin();
    await press("0{Enter}");
    await waitFor(() =>
      expect(screen.getByText("Answered. Nobody else has answered this text.")).toBeVisible(),
    );
  });

  it("is shown again on return, and kept by a correction", async () => {
    await begin();
    await press("{ArrowRight}1{Enter}");
    await waitFor(() => expect(screen.getByTestId("span-reveal")).toBeVisible());
    await press("{Enter}");
    await waitFor(() => expect(text()).toBe("2"));
    expect(screen.queryByTestId("span-reveal")).toBeNull();
    await press("{Escape}{Escape}{ArrowLeft}");
    await waitFor(() => expect(screen.getByTestId("span-reveal")).toBeVisible());
    expect(list()).toHaveLength(1);
    await press("{ArrowDown}2{Enter}");
    await waitFor(() => expect(screen.getByTestId("label-give")).toBeDisabled());
    expect(list()).toHaveLength(2);
    expect(done()).toBe("1");
  });

  it("goes on by itself if nothing is to be shown", async () => {
    await showOthers(false);
    await begin();
    await press("{ArrowRight}1{Enter}");
    await waitFor(() => expect(text()).toBe("2"));
    await showOthers(true);
  });
});

it("words of a text that is hidden are hidden in the list of marks as well", async () => {
  await begin();
  await press("{ArrowRight}1");
  const veiled = () => document.querySelector("[data-testid=span-list] .words")?.closest(".veiled");
  expect(veiled()).toBeNull();
  await app.saveSettings({ ...app.settings, blur: true });
  await waitFor(() => expect(veiled()).not.toBeNull());
  await press("{b>}");
  expect(veiled()).toBeNull();
  await press("{/b}");
  await app.saveSettings({ ...app.settings, blur: false });
});

it("one answer is saved at a time, and undone as a whole", async () => {
  const real = commands.recordLabel;
  let written = () => {};
  const record = vi.spyOn(commands, "recordLabel").mockImplementation(async (new_, details) => {
    await new Promise<void>((resolve) => (written = resolve));
    return real(new_, details);
  });
  await begin();
  await press("{ArrowRight}{ArrowRight}1");
  await press("{Enter}");
  await press("{ArrowRight}{ArrowRight}2");
  await press("{Enter}");
  expect(record).toHaveBeenCalledTimes(1);
  expect(list()).toHaveLength(2);
  written();
  await waitFor(() => expect(done()).toBe("1"));
  // What was marked meanwhile is still there, to be given.
  expect(list()).toHaveLength(2);
  record.mockRestore();
  await press("{Enter}");
  await waitFor(async () => {
    const task = await commands.labelTask(app.annotator?.id ?? 0, 4, 1, 1);
    expect(spansOf(task.answer).length).toBe(2);
  });
});

it("what could not be saved stays, to be submitted again", async () => {
  await begin();
  const problem = { code: "disk-full", message: "The disk is full.", detail: null };
  vi.spyOn(commands, "recordLabel").mockRejectedValueOnce(problem);
  await press("{ArrowRight}1{Enter}");
  expect(app.toasts.list.at(-1)).toMatchObject({ kind: "problem", message: "The disk is full." });
  expect([list().length, done()]).toEqual([1, "0"]);
  await press("{Enter}");
  await waitFor(() => expect(done()).toBe("1"));
});

describe("elsewhere", () => {
  it("a question with spans is created with one type, and previewed before", async () => {
    const add = vi.spyOn(commands, "addQuestion");
    render(AddQuestionDialog);
    await user.type(screen.getByTestId("question-prompt"), "Which words?");
    await user.type(screen.getByTestId("question-name"), "words");
    expect(screen.queryByTestId("span-preview")).toBeNull();
    await user.click(screen.getByTestId("scale-kind"));
    await user.click(await screen.findByText("Spans"));
    expect(screen.getByTestId("span-preview")).toHaveTextContent("Marked passages look like this: type 1.");
    expect(screen.getByLabelText("Take type 1 out")).toBeDisabled();
    for (let n = 0; n < 25; n += 1) {
      const more = screen.queryByText("Add a type");
      if (more) await user.click(more);
    }
    expect(screen.getAllByTestId(/^scale-level-/)).toHaveLength(20);
    await user.click(screen.getByTestId("question-add"));
    expect(add.mock.calls[0]?.[2]).toMatchObject({ kind: "spans" });
    expect(add.mock.calls[0]?.[2].levels).toHaveLength(20);
  });

  it("figures are of its types, one at a time", () => {
    expect(app.figured?.name).toBe("passages: insult");
  });
});
