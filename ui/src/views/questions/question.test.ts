// Creating and editing questions: templates, lists, keys, and levels in use.
import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { draftOf } from "../../mock/answer-parts";
import { reset } from "../../mock/bindings";
import LabelView from "$views/label/LabelView.svelte";
import AddQuestionDialog from "./AddQuestionDialog.svelte";
import EditQuestionDialog from "./EditQuestionDialog.svelte";

let user: ReturnType<typeof userEvent.setup>;
const names = (of: string) =>
  screen.getAllByTestId(new RegExp(`^${of}-\\d+$`)).map((field) => (field as HTMLInputElement).value);

beforeEach(async () => {
  reset();
  app.dialog = null;
  app.toasts.list = [];
  await app.openSample();
  user = userEvent.setup();
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

describe("a new question", () => {
  it("starts with a template and is previewed as annotators will see it", async () => {
    const add = vi.spyOn(commands, "addQuestion");
    render(AddQuestionDialog);
    await user.type(screen.getByTestId("question-prompt"), "Is it true?");
    await user.type(screen.getByTestId("question-name"), "true");
    await user.click(screen.getByTestId("question-template"));
    await user.click(await screen.findByText("Yes, no, unsure"));
    expect(names("scale-level")).toEqual(["yes", "no", "unsure"]);
    const preview = within(screen.getByTestId("question-preview"));
    expect(preview.getByText("Is it true?")).toBeTruthy();
    expect(preview.getByTestId("level-3")).toHaveTextContent("unsure");
    await user.type(screen.getByTestId("meaning-of-scale-level-3"), "Nobody can know.");
    await user.type(screen.getByTestId("help-text"), "As of today.");
    await user.click(screen.getByTestId("question-add"));
    await waitFor(() => expect(add).toHaveBeenCalledOnce());
    expect(add.mock.calls[0]?.slice(2)).toEqual([
      { kind: "choice", levels: ["yes", "no", "unsure"] },
      null,
      { text: "As of today.", low: "", high: "" },
      ["", "", "Nobody can know."],
    ]);
  });

  it("is edited by keys: Enter goes to the next level, Alt moves and removes", async () => {
    render(AddQuestionDialog);
    await user.clear(screen.getByTestId("scale-level-5"));
    await user.type(screen.getByTestId("scale-level-5"), "very{Enter}");
    await waitFor(() => expect(screen.getByTestId("scale-level-6")).toHaveFocus());
    await user.keyboard("extremely");
    await user.keyboard("{Alt>}{ArrowUp}{/Alt}");
    await waitFor(() => expect(screen.getByTestId("scale-level-5")).toHaveFocus());
    expect(names("scale-level")).toEqual(["1", "2", "3", "4", "extremely", "very"]);
    await user.keyboard("{Alt>}{Delete}{/Alt}");
    await waitFor(() => expect(names("scale-level")).toEqual(["1", "2", "3", "4", "very"]));
    // From a name to what it means, and on to the next name: no arrows between.
    screen.getByTestId("scale-level-1").focus();
    await user.tab();
    expect(screen.getByTestId("meaning-of-scale-level-1")).toHaveFocus();
    await user.tab();
    expect(screen.getByTestId("scale-level-2")).toHaveFocus();
  });

  it("accepts a pasted list", async () => {
    render(AddQuestionDialog);
    await user.click(screen.getByTestId("scale-level-2"));
    await user.paste("calm: nobody is hurt\nheated\nhostile\tsomebody is");
    expect(names("scale-level")).toEqual(["calm", "heated", "hostile"]);
    expect(screen.getByTestId("meaning-of-scale-level-3")).toHaveValue("somebody is");
    // One line is a name.
    await user.clear(screen.getByTestId("scale-level-2"));
    await user.paste("warm: rather");
    expect(names("scale-level")[1]).toBe("warm: rather");
  });
});

describe("an existing question", () => {
  const asked = () => app.project?.questions.find(({ id }) => id === 1) ?? null;

  async function edit(): Promise<void> {
    const question = asked();
    if (!question) throw new Error("there is no question 1");
    render(EditQuestionDialog, { question });
    await waitFor(() => expect(screen.getByLabelText("Take level 2 out")).toBeDisabled());
  }

  it("can change its prompt, help and definitions, and keeps its labels", async () => {
    const change = vi.spyOn(commands, "changeQuestion");
    const open = vi.spyOn(commands, "openProject");
    await edit();
    await user.clear(screen.getByTestId("edit-prompt"));
    await user.type(screen.getByTestId("edit-prompt"), "How rude is it?");
    await user.type(screen.getByTestId("help-low"), "not at all");
    await user.type(screen.getByTestId("meaning-of-rename-level-5"), "A slap.");
    await user.click(screen.getByTestId("question-save"));
    await waitFor(() => expect(change).toHaveBeenCalledOnce());
    const [, draft] = change.mock.calls[0] ?? [];
    expect(draft).toMatchObject({
      prompt: "How rude is it?",
      help: { text: "", low: "not at all", high: "" },
    });
    expect(draft?.levels?.[4]).toEqual({ from: 4, name: "5", definition: "A slap." });
    expect(draft?.levels_before?.map(({ definition }) => definition)).toEqual(["", "", "", "", ""]);
    expect(open, "nothing in memory means something else").not.toHaveBeenCalled();
  });

  it("does not send levels that were not edited, which a merge may have changed", async () => {
    const change = vi.spyOn(commands, "changeQuestion");
    await edit();
    await user.type(screen.getByTestId("edit-prompt"), " Really?");
    await user.click(screen.getByTestId("question-save"));
    await waitFor(() => expect(change).toHaveBeenCalledOnce());
    expect(change.mock.calls[0]?.[1]).toMatchObject({ levels: null, levels_before: null });
  });

  it("states that a training will end, if there is one and levels are rearranged", async () => {
    const job = { id: 7, kind: "train", title: "rasch, rude", done: 0, total: null, seconds_left: null };
    app.work.receive({ ...job, state: "running", note: null, problem: null });
    await edit();
    expect(screen.queryByTestId("edit-ends-training")).toBeNull();
    await user.click(screen.getByTestId("rename-level-5"));
    await user.keyboard("{Enter}");
    expect(await screen.findByTestId("edit-ends-training")).toHaveTextContent("will end");
    app.work.begin([]);
    await waitFor(() => expect(screen.queryByTestId("edit-ends-training")).toBeNull());
  });

  it("can get another level while open; a level in use stays", async () => {
    const change = vi.spyOn(commands, "changeQuestion");
    const open = vi.spyOn(commands, "openProject");
    await edit();
    expect(screen.getByLabelText("Take level 2 out")).toHaveAttribute(
      "title",
      "12 answers use this level: rename it instead",
    );
    expect(screen.queryByTestId("edit-rearranged")).toBeNull();
    await user.click(screen.getByTestId("rename-level-5"));
    await user.keyboard("{Enter}");
    await waitFor(() => expect(screen.getByTestId("rename-level-6")).toHaveFocus());
    expect(screen.getByTestId("question-save")).toBeDisabled();
    await user.keyboard("6");
    expect(screen.getByTestId("edit-rearranged")).toBeVisible();
    await user.click(screen.getByTestId("question-save"));
    await waitFor(() => expect(change).toHaveBeenCalledOnce());
    expect(change.mock.calls[0]?.[1].levels?.map(({ from }) => from)).toEqual([0, 1, 2, 3, 4, null]);
    expect(open).not.toHaveBeenCalled();
  });
});

it("help is shown by its key, and digits still answer", async () => {
  const question = app.project?.questions[0];
  if (!question) throw new Error("there is no question");
  const draft = draftOf(question);
  const levels = draft.levels.map((level, at) => (at === 4 ? { ...level, definition: "A slap." } : level));
  const help = { text: "Think of a stranger.", low: "not at all", high: "extremely" };
  await commands.changeQuestion(question.id, { ...draft, levels, help });
  await app.refresh();
  await app.join("Robin");
  render(LabelView);
  await waitFor(() => expect(screen.getByTestId("level-5")).toBeEnabled());
  expect(screen.getByTestId("level-5")).toHaveAttribute("title", "5: A slap.");
  expect(screen.getByTestId("level-anchors")).toHaveTextContent(/^not at all\s*extremely$/);
  expect(screen.queryByTestId("question-help")).toBeNull();
  await user.keyboard("h");
  expect(await screen.findByTestId("question-help")).toHaveTextContent("Think of a stranger.");
  expect(screen.getByTestId("question-help")).toHaveTextContent("A slap.");
  const record = vi.spyOn(commands, "recordLabel");
  await user.keyboard("5");
  await waitFor(() => expect(record).toHaveBeenCalledOnce());
  await user.keyboard("h");
  await waitFor(() => expect(screen.queryByTestId("question-help")).toBeNull());
});

it('"cannot say" is an answer by its key, where the question offers it', async () => {
  const question = app.project?.questions[0];
  if (!question) throw new Error("there is no question");
  await app.join("Robin");
  const { unmount } = render(LabelView);
  await waitFor(() => expect(screen.getByTestId("level-5")).toBeEnabled());
  const record = vi.spyOn(commands, "recordLabel");
  await user.keyboard("x");
  expect(screen.queryByTestId("label-cannot-say")).toBeNull();
  expect(record).not.toHaveBeenCalled();
  await commands.changeQuestion(question.id, { ...draftOf(question), cannot_say: true });
  await app.refresh();
  await waitFor(() => expect(screen.getByTestId("label-cannot-say")).toBeEnabled());
  await user.keyboard("x");
  await waitFor(() => expect(record).toHaveBeenCalledOnce());
  expect(record.mock.calls[0]?.[0].answer).toEqual({ kind: "cannot-say" });
  unmount();
});
