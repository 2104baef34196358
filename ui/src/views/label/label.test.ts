// Labelling by keyboard against the invented project.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { reset, emit } from "../../mock/bindings";
import { showOthers } from "../../mock/show-others";
import LabelView from "./LabelView.svelte";
import { NO_HELP } from "$kinds/level/level-list";

const text = () => screen.getByTestId("label-text").dataset.textId;
const done = () => screen.getByTestId("label-progress-done").textContent;
const pressed = (level: number) => screen.getByTestId(`level-${level}`).getAttribute("aria-pressed");
let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  await app.openSample();
  user = userEvent.setup();
});

async function begin(): Promise<void> {
  await app.join("Robin");
  render(LabelView);
  await waitFor(() => expect(text()).toBe("1"));
}

async function press(key: string): Promise<void> {
  await user.keyboard(key);
  await new Promise((settled) => setTimeout(settled, 5));
}

describe("who labels", () => {
  it("is nobody until someone is chosen, even if a simulated annotator was chosen before", async () => {
    const simulated = app.people.find((person) => person.simulated);
    await commands.saveChoices({
      annotator: simulated?.id ?? 0,
      question: 1,
      order: "file",
      view: null,
      group_by: null,
      compared: null,
      plan: null,
    });
    await app.openSample();
    expect(app.annotatorId).toBeNull();
  });

  it("is added with one field, and found again by the same name", async () => {
    render(LabelView);
    await user.type(screen.getByTestId("label-annotator-name"), "Robin");
    await user.click(screen.getByTestId("label-add-annotator"));
    await waitFor(() => expect(app.annotator?.name).toBe("Robin"));
    const people = app.people.length;
    await app.join("robin");
    expect(app.people).toHaveLength(people);
  });
});

it("shows a prediction after the answer, and requests none before it", async () => {
  await app.start();
  await begin();
  const asked = vi.spyOn(commands, "labelTask");
  emit("modelChanged", { question: 1, revision: 2 });
  const record = commands.recordLabel;
  vi.spyOn(commands, "recordLabel").mockImplementation(async (label, details) => ({
    ...(await record(label, details)),
    reveal: null,
  }));
  expect(asked).not.toHaveBeenCalled();
  await press("3");
  await waitFor(() => expect(screen.getByTestId("label-reveal")).toHaveTextContent("Predicted for you"));
  // The bar next to it is of the others; this probability is of everybody, and says so.
  const chance = screen.getByTestId("label-reveal-differ").parentElement;
  expect(chance).toHaveTextContent(/^\d+ % probability that two of all differ$/);
  expect(chance?.title).toContain("including you");
  expect(asked).toHaveBeenCalledTimes(1);
  emit("modelChanged", { question: 1, revision: 3 });
  await press("{Enter}");
  expect(text()).toBe("2");
  expect(screen.queryByTestId("label-reveal")).toBeNull();
  expect(asked).toHaveBeenCalledTimes(1);
});

it("takes a break without access to the view beneath, and Escape continues", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  try {
    await app.saveSettings({ ...app.settings, break_minutes: 1 });
    await begin();
    vi.advanceTimersByTime(60_000);
    await user.click(await screen.findByText("Take a break"));
    const level = screen.getByTestId("level-1");
    const beneath = level.closest<HTMLElement>(".desk");
    expect(beneath?.inert).toBe(true);
    expect(screen.getByText("Go on")).toHaveFocus();
    await press("{Escape}");
    expect(screen.queryByRole("dialog", { name: "Break" })).toBeNull();
    expect(beneath?.inert).toBe(false);
  } finally {
    vi.useRealTimers();
    await app.saveSettings({ ...app.settings, break_minutes: 0 });
  }
});

describe("what is announced", () => {
  const announced = () => screen.getByTestId("label-message");

  it("is the answer, then which text comes next, and never the text itself", async () => {
    await begin();
    expect(announced()).toHaveAttribute("aria-live", "polite");
    expect(announced()).toHaveTextContent(/^$/);
    await press("3");
    expect(announced()).toHaveTextContent(/^Labelled 3$/);
    await press("{Enter}");
    expect(announced()).toHaveTextContent(/^Next: text 2 of [\d,]+$/);
    await press("4");
    expect(announced()).toHaveTextContent(/^Labelled 4$/);
    // What was answered before is announced with its answer.
    await press("{ArrowLeft}");
    expect(announced()).toHaveTextContent(/^Labelled 3$/);
  });

  it("is both where the next text comes at once, also after the same answer", async () => {
    await begin();
    await showOthers(false);
    await press("3");
    await waitFor(() => expect(text()).toBe("2"));
    expect(announced()).toHaveTextContent(/^Labelled 3 Next: text 2 of [\d,]+$/);
    const [answer, next] = announced().children;
    await press("3");
    await waitFor(() => expect(text()).toBe("3"));
    expect(announced()).toHaveTextContent(/^Labelled 3 Next: text 3 of [\d,]+$/);
    // Screen readers read new elements out.
    expect(announced().children[0]).not.toBe(answer);
    expect(announced().children[1]).not.toBe(next);
    await press("{ArrowLeft}");
    expect(announced().children[1]).toHaveTextContent("Your answer “3” is stored.");
    expect(document.querySelectorAll("[aria-live]")).toHaveLength(1);
  });
});

describe("a key", () => {
  it("chooses a level, and Enter goes on", async () => {
    await begin();
    await press("3");
    expect(pressed(3)).toBe("true");
    expect(done()).toBe("1");
    await press("{Enter}");
    expect(text()).toBe("2");
    expect(pressed(3)).toBe("false");
  });

  it("chooses a level and goes on if a button had the focus", async () => {
    await begin();
    screen.getByTestId("questions-open").focus();
    await press("3");
    await press("{Enter}");
    expect(text()).toBe("2");
    expect(app.importing).toBeNull();
  });

  it("goes on if the level is the same, and corrects if it is another", async () => {
    await begin();
    await press("2");
    await press("4");
    expect(text()).toBe("1");
    expect(pressed(4)).toBe("true");
    expect(done()).toBe("1");
    await press("4");
    expect(text()).toBe("2");
  });

  it("beyond the scale does nothing", async () => {
    await begin();
    const record = vi.spyOn(commands, "recordLabel");
    await press("7");
    expect(record).not.toHaveBeenCalled();
  });

  it("typed into a field is no answer", async () => {
    await begin();
    const record = vi.spyOn(commands, "recordLabel");
    const field = document.body.appendChild(document.createElement("input"));
    field.focus();
    await press("3");
    field.remove();
    expect(record).not.toHaveBeenCalled();
  });

  it("U undoes the last label, shows its text and reports it", async () => {
    await begin();
    await press("3");
    await press("{Enter}");
    await press("u");
    expect(text()).toBe("1");
    expect(pressed(3)).toBe("false");
    expect(done()).toBe("0");
    expect(app.toasts.list.at(-1)?.message).toBe("Label “3” undone");
  });

  it("U explains why a label that an import has replaced is not undone, and nothing else", async () => {
    await begin();
    await press("3");
    const message = "nothing was undone: an import has replaced the last label that you gave, 3 on c1, by 5";
    vi.spyOn(commands, "undoLabel").mockRejectedValue({ code: "label-replaced", message, detail: null });
    await press("u");
    expect(app.toasts.list.map((toast) => [toast.kind, toast.message])).toEqual([["problem", message]]);
    expect(done()).toBe("1");
  });

  it("S skips a text, F flags it, arrow keys move to the next and previous text", async () => {
    await begin();
    await press("f");
    expect(screen.getByTestId("label-flag")).toHaveAttribute("aria-pressed", "true");
    await press("{ArrowRight}");
    expect(text()).toBe("2");
    await press("{ArrowLeft}");
    expect(text()).toBe("1");
    await press("s");
    expect(text()).toBe("2");
  });

  it("holding B shows a blurred text, and releasing it hides it again", async () => {
    await begin();
    await app.saveSettings({ ...app.settings, blur: true });
    const box = screen.getByLabelText("Text to label");
    await waitFor(() => expect(box).toHaveClass("blurred"));
    await press("{b>}");
    expect(box).not.toHaveClass("blurred");
    await press("{/b}");
    expect(box).toHaveClass("blurred");
    await app.saveSettings({ ...app.settings, blur: false });
  });
});

describe("any of several options", () => {
  beforeEach(async () => {
    const made = await commands.addQuestion(
      "harm",
      "What is in it?",
      {
        kind: "multi-label",
        levels: ["rude", "threat", "lie"],
      },
      null,
      NO_HELP,
      [],
    );
    await app.refresh();
    app.showFigures(made.id);
    await begin();
  });

  it("is put together by keys, and submitted by Enter", async () => {
    await press("1");
    await press("3");
    expect([pressed(1), pressed(2), pressed(3)]).toEqual(["true", "false", "true"]);
    expect(screen.getByTestId("label-set")).toHaveTextContent("Answer: rude + lie");
    expect(done()).toBe("0");
    await press("{Enter}");
    await waitFor(() => expect(done()).toBe("1"));
    expect(screen.getByTestId("label-set")).toHaveTextContent("Given: rude + lie");
    await press("{Enter}");
    await waitFor(() => expect(text()).not.toBe("1"));
    expect(pressed(1)).toBe("false");
  });

  it("can be none, and be corrected", async () => {
    await press("{Enter}");
    expect(screen.getByTestId("label-set")).toHaveTextContent("Choose all that apply");
    expect(done()).toBe("0");
    await press("0");
    await press("{Enter}");
    await waitFor(() => expect(screen.getByTestId("label-set")).toHaveTextContent("Given: none"));
    await user.click(screen.getByTestId("level-2"));
    expect(screen.getByTestId("label-set")).toHaveTextContent("Answer: threat");
    await user.click(screen.getByTestId("label-give"));
    await waitFor(() => expect(screen.getByTestId("label-set")).toHaveTextContent("Given: threat"));
    expect(done()).toBe("1");
  });

  it("keeps an unsubmitted answer with its text, not on the next one", async () => {
    await press("1");
    await press("s");
    await waitFor(() => expect(text()).not.toBe("1"));
    expect(pressed(1)).toBe("false");
    await press("{ArrowLeft}");
    expect(text()).toBe("1");
    expect(screen.getByTestId("label-set")).toHaveTextContent("Answer: rude");
    expect(done()).toBe("0");
  });

  it("keeps an unsubmitted answer while another view, question or person is chosen, for this person only", async () => {
    await showOthers(true);
    await press("1");
    await press("3");
    const harm = app.question?.id ?? 0;
    const robin = app.annotatorId;
    app.chooseQuestion(1);
    await waitFor(() => expect(screen.queryByTestId("label-set")).toBeNull());
    app.chooseQuestion(harm);
    const set = () => screen.getByTestId("label-set");
    await waitFor(() => expect(set()).toHaveTextContent("Answer: rude + lie"));
    await app.join("Kim");
    await waitFor(() => expect(set()).toHaveTextContent("Choose all that apply"));
    app.labelAs(robin);
    await waitFor(() => expect(set()).toHaveTextContent("Answer: rude + lie"));
    cleanup();
    render(LabelView);
    await waitFor(() => expect(set()).toHaveTextContent("Answer: rude + lie"));
    await press("{Enter}");
    await waitFor(() => expect(set()).toHaveTextContent("Given: rude + lie"));
    cleanup();
    render(LabelView);
    await waitFor(() => expect(text()).toBe("2"));
    await press("{ArrowLeft}");
    expect(set()).toHaveTextContent("Given: rude + lie");
    // The next project knows nothing of it.
    await press("2");
    expect(set()).toHaveTextContent("Answer: rude + threat + lie");
    cleanup();
    await app.openSample();
    app.showFigures(harm);
    app.labelAs(robin);
    render(LabelView);
    await waitFor(() => expect(text()).toBe("2"));
    await press("{ArrowLeft}");
    expect(set()).toHaveTextContent("Given: rude + lie");
  });

  it("keeps the options of an undone answer, to be changed", async () => {
    await press("1");
    await press("3");
    await press("{Enter}");
    await waitFor(() => expect(done()).toBe("1"));
    await press("u");
    await waitFor(() => expect(done()).toBe("0"));
    expect(screen.getByTestId("label-set")).toHaveTextContent("Answer: rude + lie");
    expect(screen.queryByTestId("label-reveal")).toBeNull();
    await press("3");
    await press("{Enter}");
    await waitFor(() => expect(screen.getByTestId("label-set")).toHaveTextContent("Given: rude"));
    await press("2");
    await press("{Enter}");
    await waitFor(() => expect(screen.getByTestId("label-set")).toHaveTextContent("Given: rude + threat"));
    // If the previous answer is current again, it is shown.
    await press("u");
    await waitFor(() => expect(screen.getByTestId("label-set")).toHaveTextContent("Given: rude"));
    expect(pressed(2)).toBe("false");
  });
});

describe("any of many options", () => {
  const names = Array.from({ length: 64 }, (_, option) => `${"abcdefgh"[option % 8]}-${option}`);
  const option = (n: number) => screen.getByTestId(`level-${n}`);

  beforeEach(async () => {
    const made = await commands.addQuestion(
      "topics",
      "Name",
      {
        kind: "multi-label",
        levels: names,
      },
      null,
      NO_HELP,
      [],
    );
    await app.refresh();
    app.showFigures(made.id);
    await begin();
  });

  it("are answered by keyboard alone: digits, arrows, letters, space and Enter", async () => {
    const record = vi.spyOn(commands, "recordLabel");
    await press("9");
    // The tenth has no key of its own: 0 is none of them.
    expect(option(9)).toHaveAttribute("aria-keyshortcuts", "9");
    expect(option(10)).not.toHaveAttribute("aria-keyshortcuts");
    await press("{Shift>}b{/Shift}");
    expect(option(2)).toHaveFocus();
    await press("{ArrowUp}");
    expect(option(1)).toHaveFocus();
    await press("{ArrowDown}");
    await press("{ArrowUp}");
    await press("{ArrowUp}");
    expect(option(1)).toHaveFocus();
    await press("{Shift>}h{/Shift}");
    expect(option(8)).toHaveFocus();
    await press("{Shift>}h{/Shift}");
    expect(option(16)).toHaveFocus();
    await press(" ");
    for (let n = 0; n < 60; n += 1) await press("{ArrowDown}");
    expect(option(64)).toHaveFocus();
    await press(" ");
    expect([pressed(9), pressed(16), pressed(63), pressed(64)]).toEqual(["true", "true", "false", "true"]);
    await press("{Enter}");
    await waitFor(() => expect(done()).toBe("1"));
    expect(record.mock.calls[0]?.[0].answer).toEqual({ kind: "options", value: [8, 15, 63] });
  });

  it("shows one row an option afterwards, and none before", async () => {
    expect(screen.queryByTestId("label-reveal")).toBeNull();
    await press("1");
    expect(screen.queryByTestId("label-reveal")).toBeNull();
    await press("{Enter}");
    await waitFor(() => expect(screen.getByTestId("label-reveal")).toBeVisible());
    expect(screen.getAllByTestId(/^label-reveal-option-/)).toHaveLength(64);
    expect(screen.getByTestId("label-reveal-option-1")).toHaveClass("chosen");
    expect(screen.getByTestId("label-reveal-option-2")).not.toHaveClass("chosen");
    expect(screen.getByTestId("label-reveal-differ").parentElement).toHaveTextContent("mean probability");
  });

  it("shows figures for one option at a time", () => {
    expect(app.figured?.name).toBe("topics: a-0");
    const third = app.question?.options[2];
    app.showFigures(third?.id ?? 0);
    expect([app.question?.name, app.figured?.name]).toEqual(["topics", "topics: c-2"]);
    expect(app.allFigured).toHaveLength(3 + 3 + 64);
  });
});

describe("blind", () => {
  it("shows predictions only after the answer", async () => {
    await begin();
    expect(screen.queryByTestId("label-reveal")).toBeNull();
    await press("1");
    expect(screen.getByTestId("label-reveal")).toBeVisible();
    await press("{Enter}");
    expect(screen.queryByTestId("label-reveal")).toBeNull();
  });

  it("hides a reveal that is sent with an unanswered text", async () => {
    const reveal = {
      others: [1, 0, 0, 0, 0],
      mine: [1, 0, 0, 0, 0],
      annotators: 8,
      observed: null,
      pairwise: 0.5,
    };
    const real = commands.nextText;
    vi.spyOn(commands, "nextText").mockImplementation(async (...args) => {
      const task = await real(...args);
      return task && { ...task, reveal };
    });
    await begin();
    expect(screen.queryByTestId("label-reveal")).toBeNull();
  });

  it("goes on by itself if nothing is to be shown", async () => {
    await begin();
    await showOthers(false);
    await waitFor(() => expect(screen.queryByText(/after you have answered/)).toBeNull());
    await press("2");
    await waitFor(() => expect(text()).toBe("2"));
    await showOthers(true);
  });
});

describe("a label", () => {
  it("that could not be saved is not shown as given, and the reason is shown", async () => {
    await begin();
    const problem = {
      code: "disk-full",
      message: "The disk is full.",
      detail: "Make room, then answer again.",
    };
    vi.spyOn(commands, "recordLabel").mockRejectedValueOnce(problem);
    await press("3");
    expect(pressed(3)).toBe("false");
    expect(done()).toBe("0");
    expect(app.toasts.list.at(-1)).toMatchObject({ kind: "problem", message: "The disk is full." });
    await press("3");
    expect(pressed(3)).toBe("true");
  });

  it("goes only to the text that was on screen when the key was pressed", async () => {
    await begin();
    const record = vi.spyOn(commands, "recordLabel");
    await press("3");
    for (const key of ["Enter", "4"]) window.dispatchEvent(new KeyboardEvent("keydown", { key }));
    await waitFor(() => expect(text()).toBe("2"));
    expect(record.mock.calls.every(([label]) => label.text === 1)).toBe(true);
  });

  it("reports the reading time of the text", async () => {
    await begin();
    const record = vi.spyOn(commands, "recordLabel");
    await press("1");
    expect(record.mock.calls[0]?.[0].duration_ms).toBeGreaterThanOrEqual(0);
  });
});

it("is shown with markup of its text as plain text", async () => {
  const real = commands.nextText;
  const body = "<img src=x onerror=alert(1)> & <b>bold</b>";
  vi.spyOn(commands, "nextText").mockImplementation(async (...args) => {
    const task = await real(...args);
    return task && { ...task, body };
  });
  await begin();
  expect(screen.getByTestId("label-text").textContent).toBe(body);
  expect(document.querySelector("img")).toBeNull();
});

it("reports when all is answered", async () => {
  vi.spyOn(commands, "nextText").mockResolvedValue(null);
  const all = { today: 160, done: 160, total: 160, skipped: 0, flagged: 0 };
  vi.spyOn(commands, "progress").mockResolvedValue(all);
  await app.join("Robin");
  render(LabelView);
  await waitFor(() =>
    expect(screen.getByTestId("label-all-done")).toHaveTextContent("All texts are answered"),
  );
  // No text was on the desk: what leads to answers is the list.
  expect(screen.queryByText("Go back")).toBeNull();
  await userEvent.click(screen.getByTestId("label-to-list"));
  expect(app.view).toBe("label-list");
});

it("does not report it if the last text is only passed over", async () => {
  vi.spyOn(commands, "nextText").mockResolvedValue(null);
  await app.join("Robin");
  render(LabelView);
  await waitFor(() =>
    expect(screen.getByTestId("label-all-done")).toHaveTextContent("160 texts without your answer"),
  );
});
