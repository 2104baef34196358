// The heat of words of a text: what is shown when, and what is hidden.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import type { DisagreementQuery, JobInfo, TextId, WordFigure, WordHeat } from "$api/bindings";
import { heatChoice } from "$stores/word-heat.svelte";
import { reset, emit } from "../../mock/bindings";
import DisagreementView from "./DisagreementView.svelte";
import TextPane from "./TextPane.svelte";

const BODY = "You 🙃 fool, shut up now!";
const WORDS: readonly (readonly [number, number])[] = [
  [0, 3],
  [6, 10],
  [12, 16],
  [17, 19],
  [20, 23],
];
let user: ReturnType<typeof userEvent.setup>;

function type() {
  const found = app.project?.questions.find(({ scale }) => scale.kind === "spans")?.options[0];
  if (!found) throw new Error("no question of spans");
  return found;
}

const queryWith = (attributes: Record<string, string> = {}): DisagreementQuery => ({
  question: type().id,
  by: "split",
  cut: null,
  groups: null,
  search: null,
  attributes,
  labelled_only: false,
});

/** Words that nobody marked but the second and third, and of which this is expected. */
function figures(more: Partial<WordHeat> = {}, expected: number | null = null): WordHeat {
  const words = WORDS.map(([start, end], i): WordFigure => ({
    start,
    end,
    marked_by: i === 1 ? [1, 2, 3] : i === 2 ? [2] : [],
    expected: expected === null ? null : expected / (i + 1),
    differ: expected === null ? null : 0.1 * i,
  }));
  return { words, answers: 4, people: 0, needs: "fit", reader_left_out: false, fitted_on: null, ...more };
}

const known = () => figures({ people: 8, needs: null }, 0.8);

/** The text has a body of our own, and these figures. */
function give(heat: WordHeat, body = BODY) {
  const real = commands.textDetail;
  vi.spyOn(commands, "textDetail").mockImplementation(async (...args) => ({
    ...(await real(...args)),
    body,
  }));
  return vi.spyOn(commands, "wordHeat").mockResolvedValue(heat);
}

const region = () => screen.getByTestId("heat-text");
const explanation = () => screen.getByTestId("heat-explanation");
const chosen = () =>
  ["marked", "expected", "differ"].filter(
    (by) => screen.getByTestId(`heat-${by}`).getAttribute("aria-pressed") === "true",
  );
const coloured = () =>
  [...region().querySelectorAll<HTMLElement>("[data-heat]")]
    .filter((run) => Number(run.dataset.heat) > 0)
    .map((run) => [run.textContent, Number(run.dataset.heat)]);

const show = (text: TextId = 5) => render(TextPane, { question: type(), query: queryWith(), text } as const);

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  app.work.all = [];
  heatChoice.by = null;
  await app.start();
  await app.openSample();
  app.labelAs(null);
  user = userEvent.setup();
  app.showFigures(type().id);
});

it("shows plain text if the question has no spans", async () => {
  const asked = vi.spyOn(commands, "wordHeat");
  const plain = app.project?.questions[0];
  if (!plain) throw new Error("no question");
  render(TextPane, { question: plain, query: { ...queryWith(), question: plain.id }, text: 5 });
  await screen.findByTestId("text-pane");
  expect(screen.queryByTestId("heat-text")).toBeNull();
  expect(asked).not.toHaveBeenCalled();
});

it("shows who marked a word without predictions, and explains why the rest is disabled", async () => {
  give(figures());
  show();
  await waitFor(() => expect(coloured()).toHaveLength(2));
  expect(coloured()).toEqual([
    ["fool", 0.76],
    ["shut", 0.24],
  ]);
  expect(region().textContent?.trim()).toBe(BODY);
  expect(chosen()).toEqual(["marked"]);
  for (const by of ["expected", "differ"]) {
    expect(screen.getByTestId(`heat-${by}`)).toBeDisabled();
    expect(screen.getByTestId(`heat-${by}`).title).toMatch(/need a model of words/);
  }
  expect(screen.getByTestId("heat-needs")).toHaveTextContent("There is no model of words yet");
  expect(screen.getByTestId("heat-scale")).toHaveTextContent(/^0\s+100 %$/);
});

it("shows where people differ once that is known, and keeps what was chosen for the next text", async () => {
  give(known());
  const { rerender } = show();
  await waitFor(() => expect(chosen()).toEqual(["differ"]));
  expect(screen.getByTestId("heat-scale")).toHaveTextContent(/^0\s+50 %$/);
  expect(explanation()).toHaveTextContent("two of 8 people differ on a word; at most 50 %");
  expect(coloured().map(([words]) => words)).toEqual(["fool", "shut", "up", "now"]);
  expect(screen.queryByTestId("heat-needs")).toBeNull();
  screen.getByTestId("heat-expected").focus();
  await user.keyboard("{Enter}");
  expect(chosen()).toEqual(["expected"]);
  expect(coloured()[0]).toEqual(["You", 0.8]);
  await rerender({ question: type(), query: queryWith(), text: 6 });
  await waitFor(() => expect(screen.getByTestId("text-pane").dataset["textId"]).toBe("6"));
  expect(chosen()).toEqual(["expected"]);
});

it("describes the word that an arrow key moves to, without moving the list", async () => {
  give(known());
  const outside = vi.fn();
  window.addEventListener("keydown", outside);
  show();
  await waitFor(() => expect(coloured().length).toBeGreaterThan(0));
  region().focus();
  await user.keyboard("{ArrowRight}");
  expect(explanation()).toHaveTextContent(
    "You: none of 4 marked it; expected 80 % of 8; two of them differ with probability 0 %",
  );
  await user.keyboard("{ArrowRight}");
  expect(explanation()).toHaveTextContent(
    /^fool: 3 of 4 marked it: Amara, Bruno, Chiara; expected 40 % of 8; two of them differ with probability 10 %$/,
  );
  expect(explanation()).toHaveAttribute("aria-live", "polite");
  await user.keyboard("{End}");
  expect(explanation()).toHaveTextContent(/^now:/);
  await user.keyboard("{ArrowRight}{ArrowDown}");
  expect(region().dataset["caret"]).toBe("4");
  await user.keyboard("{ArrowLeft}{ArrowUp}");
  expect(Number(region().dataset["caret"])).toBeLessThan(3);
  await user.keyboard("{Home}{ArrowLeft}");
  expect(region().dataset["caret"]).toBe("0");
  await user.keyboard("{Escape}");
  expect(region().dataset["caret"]).toBeUndefined();
  expect(explanation()).toHaveTextContent("Point at a word");
  expect(outside).not.toHaveBeenCalled();
  window.removeEventListener("keydown", outside);
});

it("keeps its position in a text that is loaded again", async () => {
  const asked = give(known());
  const detail = vi.mocked(commands.textDetail);
  const { rerender } = show();
  await waitFor(() => expect(coloured().length).toBeGreaterThan(0));
  region().focus();
  await user.keyboard("{ArrowRight}{ArrowRight}");
  const before = [detail.mock.calls.length, asked.mock.calls.length] as const;
  emit("labelsChanged", { question: 4, text: 5, annotator: 1, revision: 9 });
  await waitFor(() => expect(detail.mock.calls.length).toBeGreaterThan(before[0]));
  await waitFor(() => expect(asked.mock.calls.length).toBeGreaterThan(before[1]));
  await new Promise((settled) => setTimeout(settled, 30));
  expect(region().dataset["caret"]).toBe("1");
  expect(explanation()).toHaveTextContent(/^fool:/);
  // It does not apply to another text.
  detail.mockImplementation(async () => ({
    ...(await detail.mock.results[0]?.value),
    text: 6,
    body: "Fool!",
  }));
  await rerender({ question: type(), query: queryWith(), text: 6 });
  await waitFor(() => expect(region()).toHaveTextContent("Fool!"));
  expect(region().dataset["caret"]).toBeUndefined();
});

it("moves left to the next word of a right-to-left text", async () => {
  const heat = figures({
    words: WORDS.slice(0, 2).map(([start, end]) => ({ ...known().words[0]!, start, end })),
  });
  give(heat, "أنت   أحمق");
  show();
  await waitFor(() => expect(region().textContent).toContain("أحمق"));
  await waitFor(() => expect(explanation()).toHaveTextContent("Point at a word"));
  region().focus();
  await user.keyboard("{ArrowLeft}{ArrowLeft}");
  expect(region().dataset["caret"]).toBe("1");
  expect(explanation()).toHaveTextContent(/^أحمق:/);
});

it("describes the word under the pointer", async () => {
  give(figures());
  show();
  await waitFor(() => expect(coloured()).toHaveLength(2));
  const fool = [...region().querySelectorAll("span")].find((run) => run.textContent === "fool");
  document.caretRangeFromPoint = () => {
    const range = document.createRange();
    if (fool?.firstChild) range.setStart(fool.firstChild, 2);
    return range;
  };
  await fireEvent.pointerMove(region(), { clientX: 5, clientY: 5 });
  expect(explanation()).toHaveTextContent(/^fool: 3 of 4 marked it: Amara, Bruno, Chiara$/);
  await fireEvent.pointerLeave(region());
  expect(explanation()).toHaveTextContent("Point at a word");
});

it("reads words as a job with progress, and loads them again when it has ended", async () => {
  show();
  await user.click(await screen.findByTestId("heat-read"));
  await waitFor(() => expect(screen.queryByTestId("heat-needs")).toBeNull());
  await waitFor(() => expect(chosen()).toEqual(["differ"]));
  expect(screen.getByTestId("heat-differ")).toBeEnabled();
});

it("shows a reading that another text began, and stops it", async () => {
  const job: JobInfo = {
    id: 9,
    kind: "word_model",
    title: "passages",
    state: "running",
    done: 2,
    total: 5,
    seconds_left: null,
    note: null,
    problem: null,
  };
  const cancel = vi.spyOn(commands, "cancelJob").mockResolvedValue(null);
  const asked = give(figures());
  show();
  await screen.findByTestId("heat-read");
  emit("jobChanged", job);
  await waitFor(() =>
    expect(screen.getByTestId("heat-needs")).toHaveTextContent(/Reading words of passages….*40 %/),
  );
  expect(screen.queryByTestId("heat-read")).toBeNull();
  await user.click(screen.getByTestId("heat-cancel"));
  expect(cancel).toHaveBeenCalledWith(9);
  const before = asked.mock.calls.length;
  asked.mockResolvedValue(known());
  emit("jobChanged", { ...job, state: "finished" });
  await waitFor(() => expect(asked.mock.calls.length).toBeGreaterThan(before));
  await waitFor(() => expect(chosen()).toEqual(["differ"]));
});

it("does not report a stopped job as an error, but a failed one", async () => {
  give(figures());
  const fit = vi.spyOn(commands, "fitWords");
  fit.mockRejectedValueOnce({ code: "cancelled", message: "cancelled", detail: null });
  show();
  await user.click(await screen.findByTestId("heat-read"));
  await waitFor(() => expect(screen.getByTestId("heat-read")).toBeEnabled());
  expect(fit).toHaveBeenCalledWith(app.question?.id);
  expect(app.toasts.list).toEqual([]);
  fit.mockRejectedValueOnce({ code: "no-answers", message: "Nobody has answered it.", detail: null });
  await user.click(screen.getByTestId("heat-read"));
  await waitFor(() => expect(app.toasts.list.at(-1)?.message).toBe("Nobody has answered it."));
  await waitFor(() => expect(screen.getByTestId("heat-read")).toBeEnabled());
});

it("reports that texts are not encoded, or that too few people are chosen", async () => {
  const asked = give(figures({ needs: "encoder" }));
  const { rerender } = show();
  await waitFor(() => expect(screen.getByTestId("heat-needs")).toHaveTextContent("not encoded yet"));
  expect(screen.queryByTestId("heat-read")).toBeNull();
  asked.mockResolvedValue(figures({ needs: "people" }));
  await rerender({ question: type(), query: queryWith({ age: "60+" }), text: 5 });
  await waitFor(() => expect(screen.getByTestId("heat-needs")).toHaveTextContent("fewer are selected"));
  expect(screen.getByTestId("heat-differ")).toBeDisabled();
});

it("requests the reader's own prediction only on demand, for one text", async () => {
  await app.join("Robin");
  const asked = give(figures({ needs: "people", reader_left_out: true }));
  const { rerender } = show();
  await waitFor(() => expect(screen.getByTestId("heat-needs")).toHaveTextContent("hidden until you answer"));
  expect(asked.mock.calls[0]).toEqual([queryWith(), 5, app.annotatorId, false]);
  await user.click(screen.getByText("Show anyway"));
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[3]).toBe(true));
  await rerender({ question: type(), query: queryWith(), text: 6 });
  await waitFor(() => expect(asked.mock.calls.at(-1)).toEqual([queryWith(), 6, app.annotatorId, false]));
});

it("offers to read words again once there are many more answers than were fitted", async () => {
  const asked = give({ ...known(), fitted_on: { answers: 100, now: 119, tuned: false } });
  const fit = vi.spyOn(commands, "fitWords").mockResolvedValue({} as never);
  const { rerender } = show();
  await waitFor(() => expect(chosen()).toEqual(["differ"]));
  expect(screen.queryByTestId("heat-needs")).toBeNull();
  // Where the head learned with its encoder, reading words again would change nothing.
  asked.mockResolvedValue({ ...known(), fitted_on: { answers: 100, now: 130, tuned: true } });
  await rerender({ question: type(), query: queryWith(), text: 7 });
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[1]).toBe(7));
  expect(screen.queryByTestId("heat-needs")).toBeNull();
  asked.mockResolvedValue({ ...known(), fitted_on: { answers: 100, now: 130, tuned: false } });
  await rerender({ question: type(), query: queryWith(), text: 6 });
  await waitFor(() =>
    expect(screen.getByTestId("heat-needs")).toHaveTextContent(
      "Learned from 100 answers; there are 130 now.",
    ),
  );
  // What is known stays on screen until the words were read again.
  expect(chosen()).toEqual(["differ"]);
  asked.mockResolvedValue({ ...known(), fitted_on: { answers: 130, now: 130, tuned: false } });
  await user.click(screen.getByRole("button", { name: "Read again" }));
  expect(fit).toHaveBeenCalledWith(app.question?.id);
  await waitFor(() => expect(screen.queryByTestId("heat-needs")).toBeNull());
});

it("loads again when labels change", async () => {
  const asked = give(figures());
  show();
  await waitFor(() => expect(coloured()).toHaveLength(2));
  const words = figures().words.map((word) => ({ ...word, marked_by: [] }));
  asked.mockResolvedValue(figures({ words }));
  emit("labelsChanged", { question: 4, text: 5, annotator: 1, revision: 9 });
  await waitFor(() => expect(coloured()).toEqual([]));
});

it("ignores outdated figures of another text", async () => {
  const asked = give(figures());
  let late: (heat: WordHeat) => void = () => {};
  asked.mockImplementation((_, text) =>
    text === 5 ? new Promise((answer) => (late = answer)) : Promise.resolve(figures()),
  );
  const { rerender } = show();
  await waitFor(() => expect(asked).toHaveBeenCalled());
  expect(coloured()).toEqual([]);
  await rerender({ question: type(), query: queryWith(), text: 6 });
  await waitFor(() => expect(coloured()).toHaveLength(2));
  late(known());
  await new Promise((settled) => setTimeout(settled, 20));
  expect(chosen()).toEqual(["marked"]);
  expect(coloured()).toHaveLength(2);
});

it("reports a text without words, and one that nobody has answered", async () => {
  const asked = give(figures({ words: [] }), " … ");
  const { rerender } = show();
  await waitFor(() => expect(explanation()).toHaveTextContent("This text has no words."));
  region().focus();
  await user.keyboard("{ArrowRight}{End}");
  expect(region().dataset["caret"]).toBeUndefined();
  vi.mocked(commands.textDetail).mockRestore();
  asked.mockResolvedValue(
    figures({ answers: 0, words: figures().words.map((word) => ({ ...word, marked_by: [] })) }),
  );
  await rerender({ question: type(), query: queryWith(), text: 6 });
  await waitFor(() => expect(explanation()).toHaveTextContent("Nobody has answered this text yet."));
  expect(coloured()).toEqual([]);
});

it("reports an empty text", async () => {
  give(figures({ words: [], answers: 0 }), "");
  show();
  await waitFor(() => expect(explanation()).toHaveTextContent("This text is empty."));
});

it("shows the text, and the reason, where figures are not available", async () => {
  give(figures());
  vi.mocked(commands.wordHeat).mockRejectedValue({
    code: "io",
    message: "the project cannot be read",
    detail: "Try again.",
  });
  show();
  await waitFor(() => expect(explanation()).toHaveTextContent("The project cannot be read Try again."));
  expect(region()).toHaveTextContent(BODY);
});

it("is shown in the view with a choice of the types of the question", async () => {
  render(DisagreementView);
  await waitFor(() => expect(screen.getByTestId("heat-text")).toBeInTheDocument());
  await waitFor(() => expect(screen.getByTestId("heat-needs")).toBeInTheDocument());
});
