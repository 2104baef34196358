// Notes, reasons and confidences: by key, saved with the answer, after it, and before one when the text is
// left.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { playPacket, reset } from "../../mock/bindings";
import { showOthers } from "../../mock/show-others";
import LabelView from "./LabelView.svelte";
import type { NoteForm } from "$api/bindings";
import { draftOf } from "../../mock/answer-parts";

const text = () => screen.getByTestId("label-text").dataset.textId;
const chosen = () =>
  screen
    .getAllByTestId("remark-reason")
    .filter((one) => one.getAttribute("aria-pressed") === "true")
    .map((one) => one.textContent);
let user: ReturnType<typeof userEvent.setup>;
/** Configures the note form of a question. */
async function offer(note_form: NoteForm): Promise<void> {
  const asked = app.project?.questions[0];
  if (asked) await commands.changeQuestion(1, { ...draftOf(asked), note_form });
}

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  await app.openSample();
  await offer({ reasons: ["slang", "irony"], confidence: true });
  await app.refresh();
  await app.join("Robin");
  user = userEvent.setup();
});

afterEach(cleanup);

async function begin(): Promise<void> {
  render(LabelView);
  await waitFor(() => expect(text()).toBe("1"));
}

async function press(key: string): Promise<void> {
  await user.keyboard(key);
  await new Promise((settled) => setTimeout(settled, 5));
}

const task = (text: number) => commands.labelTask(app.annotatorId ?? 0, 1, text, 1);

describe("with an answer", () => {
  it("is saved with it", async () => {
    const record = vi.spyOn(commands, "recordLabel");
    const alone = vi.spyOn(commands, "saveNote");
    await begin();
    await press("{Alt>}[Digit2]{/Alt}");
    await press("{Alt>}[Digit1]{/Alt}");
    await press("{Shift>}[Digit4]{/Shift}");
    expect(chosen()).toEqual(["slang", "irony"]);
    expect(record).not.toHaveBeenCalled();
    await press("n");
    await press("quotes somebody{Escape}");
    await press("3");
    await waitFor(() => expect(record).toHaveBeenCalledTimes(1));
    const note = { note: "quotes somebody", reasons: ["slang", "irony"], confidence: 4 };
    expect(record.mock.calls[0]?.[1]).toEqual({ note, guideline: null });
    expect(alone).not.toHaveBeenCalled();
    expect((await task(1)).note).toEqual(note);
  });

  it("is saved on its own if there is an answer, and undone by the same key", async () => {
    const alone = vi.spyOn(commands, "saveNote");
    await begin();
    await press("3");
    await press("{Shift>}[Digit2]{/Shift}");
    await waitFor(() => expect(alone).toHaveBeenCalledTimes(1));
    expect((await task(1)).note.confidence).toBe(2);
    await press("{Shift>}[Digit2]{/Shift}");
    await waitFor(async () => expect((await task(1)).note.confidence).toBeNull());
  });

  it("is saved without an answer when the text is left, and is there on return", async () => {
    await begin();
    await press("n");
    await press("odd{Escape}");
    await press("{ArrowRight}");
    await waitFor(() => expect(text()).toBe("2"));
    expect(screen.queryByTestId("remark-noted")).toBeNull();
    await waitFor(async () => expect((await task(1)).note.note).toBe("odd"));
    await press("{ArrowLeft}");
    await waitFor(() => expect(screen.getByTestId("remark-noted").textContent).toContain("odd"));
  });

  it("is offered again with an undone answer", async () => {
    await begin();
    await press("{Alt>}[Digit1]{/Alt}");
    await press("3");
    await waitFor(async () => expect((await task(1)).answer).not.toBeNull());
    await press("u");
    await waitFor(async () => expect((await task(1)).answer).toBeNull());
    await waitFor(() => expect(chosen()).toEqual(["slang"]));
  });

  it("keeps the typed note if saving fails, and reports it", async () => {
    await begin();
    await press("3");
    const problem = { code: "disk-full", message: "The disk is full.", detail: null };
    vi.spyOn(commands, "saveNote").mockRejectedValueOnce(problem);
    await press("{Alt>}[Digit2]{/Alt}");
    await waitFor(() => expect(app.toasts.list.length).toBeGreaterThan(0));
    expect(chosen()).toEqual(["irony"]);
  });

  it("is typed with letters and digits that give no answer", async () => {
    const record = vi.spyOn(commands, "recordLabel");
    await begin();
    await press("n");
    await press("a 3 and u");
    expect(record).not.toHaveBeenCalled();
    expect(screen.getByTestId<HTMLTextAreaElement>("remark-note").value).toBe("a 3 and u");
  });
});

describe("an unsaved note", () => {
  it("is saved before another project is opened, and not after", async () => {
    await begin();
    await press("{Alt>}[Digit1]{/Alt}");
    const order: string[] = [];
    const alone = commands.saveNote;
    vi.spyOn(commands, "saveNote").mockImplementation(async (...arguments_) => {
      order.push("note");
      return alone(...arguments_);
    });
    const opened = commands.openSample;
    vi.spyOn(commands, "openSample").mockImplementation(async () => {
      order.push("open");
      return opened();
    });
    await app.openSample();
    cleanup();
    await new Promise((settled) => setTimeout(settled, 20));
    expect(order).toEqual(["note", "open"]);
  });

  it("is saved before the project is closed", async () => {
    await begin();
    await press("n");
    await press("odd");
    const order: string[] = [];
    vi.spyOn(commands, "saveNote").mockImplementation(async () => (order.push("note"), null));
    vi.spyOn(commands, "closeProject").mockImplementation(async () => (order.push("close"), null));
    await app.close();
    cleanup();
    expect(order).toEqual(["note", "close"]);
  });

  it("stays when the answer before it is undone", async () => {
    await begin();
    await press("3");
    await press("n");
    await press("after{Escape}");
    await waitFor(async () => expect((await task(1)).note.note).toBe("after"));
    // The note belongs to the text, as in the program.
    const undo = commands.undoLabel;
    const none = { note: null, reasons: [], confidence: null };
    vi.spyOn(commands, "undoLabel").mockImplementation(async (...of) => {
      const { note } = await task(1);
      const undone = await undo(...of);
      await commands.saveNote(app.annotatorId ?? 0, 1, 1, { note, guideline: null });
      return undone && { ...undone, note: none };
    });
    await press("u");
    await waitFor(async () => expect((await task(1)).answer).toBeNull());
    expect(screen.getByTestId("remark-noted").textContent).toContain("after");
  });

  it("is sent as empty with the answer where it was deleted before it", async () => {
    const record = vi.spyOn(commands, "recordLabel");
    await begin();
    await press("{Alt>}[Digit1]{/Alt}");
    await press("{ArrowRight}");
    await waitFor(() => expect(text()).toBe("2"));
    await press("{ArrowLeft}");
    await waitFor(() => expect(chosen()).toEqual(["slang"]));
    await press("{Alt>}[Digit1]{/Alt}");
    await press("2");
    await waitFor(() => expect(record).toHaveBeenCalledTimes(1));
    expect(record.mock.calls[0]?.[1].note.reasons).toEqual([]);
    expect((await task(1)).note.reasons).toEqual([]);
  });

  it("keeps the desk on its text while a note is being saved", async () => {
    await showOthers(false);
    await begin();
    await press("n");
    await press("abo");
    screen.getByTestId("level-2").click();
    await new Promise((settled) => setTimeout(settled, 20));
    expect(text()).toBe("1");
    await press("ut");
    await press("{Escape}");
    await waitFor(async () => expect((await task(1)).note.note).toBe("about"));
    await showOthers(true);
  });

  it("follows the question when other reasons are offered", async () => {
    await begin();
    await offer({ reasons: ["new one"], confidence: false });
    await app.refresh();
    await waitFor(() =>
      expect(screen.getAllByTestId("remark-reason").map((one) => one.textContent)).toEqual(["new one"]),
    );
  });
});

it("is a part of an answer of a later round, and never reveals that it is one", async () => {
  playPacket(app.annotatorId ?? 0, [
    { text: 3, occasion: 1 },
    { text: 1, occasion: 1 },
    { text: 3, occasion: 2 },
    { text: 2, occasion: 1 },
  ]);
  await app.openSample();
  const alone = vi.spyOn(commands, "saveNote");
  const again = vi.spyOn(commands, "recordAgain");
  render(LabelView);
  await waitFor(() => expect(text()).toBe("3"));
  await press("{Alt>}[Digit1]{/Alt}");
  await press("2");
  await waitFor(() => expect(text()).toBe("1"));
  await press("2");
  // The same text comes as if it were new: without its note.
  await waitFor(() => expect(text()).toBe("3"));
  expect(chosen()).toEqual([]);
  await press("{Alt>}[Digit2]{/Alt}");
  await press("1");
  await waitFor(() => expect(text()).toBe("2"));
  expect(again).toHaveBeenCalledTimes(1);
  expect(again.mock.calls[0]?.[1].note.reasons).toEqual(["irony"]);
  expect(alone).not.toHaveBeenCalled();
  expect((await task(3)).note.reasons).toEqual(["slang"]);
});

it("is kept while another view is open if it cannot be saved yet", async () => {
  playPacket(app.annotatorId ?? 0, [
    { text: 3, occasion: 2 },
    { text: 2, occasion: 1 },
  ]);
  await app.openSample();
  render(LabelView);
  await waitFor(() => expect(text()).toBe("3"));
  await press("{Alt>}[Digit2]{/Alt}");
  cleanup();
  render(LabelView);
  await waitFor(() => expect(text()).toBe("3"));
  await waitFor(() => expect(chosen()).toEqual(["irony"]));
});

it("shows no reasons if the question offers none, but a note", async () => {
  await offer({ reasons: [], confidence: false });
  await app.refresh();
  await begin();
  expect(screen.queryByTestId("remark-bar")).toBeNull();
  await user.click(screen.getByTestId("label-note"));
  expect(await screen.findByTestId("remark-note")).toBe(document.activeElement);
});

describe("a draft note", () => {
  it("is saved before the window closes, and restored when it opens again", async () => {
    await begin();
    await press("n");
    await press("half a thou");
    // The window closes at once: no question, no dialog, no answer.
    await app.openSample();
    app.drafts.forget();
    cleanup();
    expect((await task(1)).draft ?? (await task(1)).note).toMatchObject({ note: "half a thou" });
    render(LabelView);
    await waitFor(() => expect(screen.getByTestId("remark-noted").textContent).toContain("half a thou"));
  });

  it("is stored with every letter, and deleted once the note is recorded", async () => {
    const keep = vi.spyOn(commands, "saveDraft");
    await begin();
    await press("n");
    await press("odd");
    await waitFor(() => expect(keep.mock.calls.at(-1)?.[4]).toMatchObject({ note: "odd" }));
    expect((await task(1)).draft).toMatchObject({ note: "odd" });
    await press("{Control>}{Enter}{/Control}");
    expect(screen.queryByTestId("remark-note")).toBeNull();
    await press("3");
    await waitFor(async () => expect((await task(1)).draft).toBeNull());
    expect((await task(1)).note.note).toBe("odd");
  });

  it("ends with Ctrl+Enter or Esc, as shown next to the box, and Enter starts a line", async () => {
    await begin();
    await press("n");
    expect(screen.getByTestId("remark-how").textContent).toMatch(/Enter.*Esc/s);
    await press("one{Enter}two");
    expect(screen.getByTestId<HTMLTextAreaElement>("remark-note").value).toBe("one\ntwo");
    await press("{Control>}{Enter}{/Control}");
    expect(screen.queryByTestId("remark-note")).toBeNull();
    expect(document.activeElement).toBe(document.body);
  });
});
