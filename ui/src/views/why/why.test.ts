// Explanations of predictions: opened from a person's line or dot, by mouse and by key, never before the
// reader's own answer.
import { answerOf } from "../../mock/answers";
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import type { DisagreementQuery, ExplainedAnnotator, Problem } from "$api/bindings";
import { oddsWords, range, steps } from "$words/why";
import { reset, emit } from "../../mock/bindings";
import PersonLine from "$views/disagreement/PersonLine.svelte";
import TextPane from "$views/disagreement/TextPane.svelte";
import LevelReveal from "$kinds/level/LevelReveal.svelte";
import WhyDialog from "./WhyDialog.svelte";
import WhyWords from "./WhyWords.svelte";

beforeEach(async () => {
  reset();
  await app.openSample();
});

const question = () => {
  if (!app.question) throw new Error("no question");
  return app.question;
};

const queryWith = (): DisagreementQuery => ({
  question: question().id,
  by: "split",
  cut: null,
  groups: null,
  search: null,
  attributes: {},
  labelled_only: false,
});

const person = (parts: ExplainedAnnotator["parts"], score: number, log_odds: number): ExplainedAnnotator => ({
  annotator: 1,
  name: "Ana",
  hidden: false,
  labels: 3,
  observed: null,
  sentence: "",
  distribution: [],
  parts,
  score,
  log_odds,
  probability: 0.5,
  others: 0,
  influences: [],
  nearest: [],
});

it("stacks the parts so that the last one ends at the odds", () => {
  const ana = person(
    [
      { part: "average", value: -1 },
      { part: "words", value: 3 },
      { part: "severity", value: -0.5 },
    ],
    1.5,
    1.2,
  );
  const lines = steps(ana);
  expect(lines.map(({ from, to }) => [from, to])).toEqual([
    [0, -1],
    [-1, 2],
    [2, 1.5],
    [1.5, 1.2],
  ]);
  expect(lines.at(-1)?.part).toBeNull();
  expect(range([ana])).toEqual([-1, 2]);
  expect(range([])).toEqual([-1, 1]);
});

it("names odds by the scale", () => {
  const scale = { kind: "ordinal" as const, levels: ["1", "2", "3"] };
  expect(oddsWords({ level: 1, against: null }, scale)).toBe("2 or above");
  expect(oddsWords({ level: 2, against: null }, scale)).toBe("3");
  expect(oddsWords({ level: 2, against: 0 }, { ...scale, kind: "choice" })).toBe("3 rather than 1");
});

it("opens from a person's row by key if there is a prediction", async () => {
  const user = userEvent.setup();
  const found = await commands.textDetail(queryWith(), 5, null, null, false);
  const [ana] = found.annotators;
  if (!ana) throw new Error("nobody");
  const onwhy = vi.fn();
  const line = { person: ana, scale: question().scale, you: false, onwhy };
  const { rerender } = render(PersonLine, line);
  await user.tab();
  expect(document.activeElement).toHaveAccessibleName(`Why this prediction for ${ana.name}?`);
  await user.keyboard("{Enter}");
  expect(onwhy).toHaveBeenCalledOnce();
  await rerender({ ...line, person: { ...ana, distribution: null, hidden: true } });
  expect(screen.queryByRole("button")).toBeNull();
});

it("shows the sum and its parts, and returns the focus", async () => {
  const user = userEvent.setup();
  const onclose = vi.fn();
  const { unmount } = render(WhyDialog, { question: question(), text: 5, annotator: 1, onclose });
  const sum = await screen.findByTestId("why-sum");
  expect(app.dialog).toBe("why");
  // A sentence and chances first; logits, which add up, on demand.
  expect(screen.getByTestId("why-sentence")).toHaveTextContent("is predicted by the text's words");
  expect(screen.getByTestId("why-log-odds")).toHaveTextContent(/^\d+ %$/);
  expect(sum).not.toHaveTextContent("−");
  await user.click(screen.getByTestId("why-logits"));
  const rows = within(sum)
    .getAllByRole("row")
    .map((row) => Number(row.lastElementChild?.textContent.replace("−", "-")));
  const total = rows.pop() ?? NaN;
  expect(Math.abs(rows.reduce((a, b) => a + b, 0) - total)).toBeLessThan(0.05);
  expect(screen.getByTestId("why-influences")).toHaveTextContent("Labels of");
  expect(screen.getByTestId("why-nearest")).toHaveTextContent("0.80");
  expect(screen.getByTestId("why-agreed")).toHaveTextContent("×");
  await user.keyboard("{Escape}");
  expect(onclose).toHaveBeenCalledOnce();
  unmount();
  expect(app.dialog).toBeNull();
});

it("starts from the answer of a person who has answered", async () => {
  const ask = commands.explain;
  vi.spyOn(commands, "explain").mockImplementation(async (...wanted) => {
    const found = await ask(...wanted);
    return { ...found, annotators: found.annotators.map((one) => ({ ...one, observed: answerOf(0) })) };
  });
  render(WhyDialog, { question: question(), text: 5, annotator: 1, onclose: () => {} });
  expect(await screen.findByTestId("why-answer")).toHaveTextContent(question().scale.levels[0] ?? "");
});

it("opens from a dot, and arrow keys move from dot to dot", async () => {
  const user = userEvent.setup();
  render(TextPane, { question: question(), query: queryWith(), text: 5 });
  const dots = within(await screen.findByTestId("people-dots")).getAllByRole("button");
  expect(dots.filter((dot) => dot.getAttribute("tabindex") === "0")).toHaveLength(1);
  dots[0]?.focus();
  await user.keyboard("{ArrowRight}");
  expect(dots.some((dot) => dot === document.activeElement)).toBe(true);
  expect(document.activeElement).not.toBe(dots[0]);
  await user.keyboard("{Enter}");
  expect(await screen.findByTestId("why-sum")).toBeVisible();
});

it("hides the reader's own prediction before the answer, and requests it only on demand", async () => {
  const user = userEvent.setup();
  await app.join("Robin");
  const asked = vi.spyOn(commands, "explain");
  render(TextPane, { question: question(), query: queryWith(), text: 5 });
  const plot = await screen.findByTestId("people-dots");
  expect(within(plot).queryByLabelText(/Robin/)).toBeNull();
  await user.click(screen.getByText("Show anyway"));
  await user.click(await within(plot).findByLabelText(/Robin/));
  await screen.findByTestId("why-sum");
  expect(asked.mock.calls.at(-1)?.slice(1)).toEqual([app.annotatorId, true]);
});

it("hides the reader next to another person", async () => {
  await app.join("Robin");
  const me = app.annotatorId ?? 0;
  const ask = commands.explain;
  vi.spyOn(commands, "explain").mockImplementation((query, ...rest) => ask({ ...query, with: me }, ...rest));
  render(WhyDialog, { question: question(), text: 5, annotator: 1, onclose: () => {} });
  expect(await screen.findByTestId("why-hidden")).toBeVisible();
  expect(screen.getAllByTestId("why-sum")).toHaveLength(1);
  expect(screen.queryByTestId("why-differences")).toBeNull();
});

it("is offered in Label only after the answer, and explains the prediction made before it", async () => {
  const onwhy = vi.fn();
  const panel = { scale: question().scale, onnext: () => {}, onwhy };
  const mine = [0.2, 0.2, 0.2, 0.2, 0.2];
  const reveal = { others: mine, mine, annotators: 8, observed: null, pairwise: 0.3 };
  const { rerender } = render(LevelReveal, { ...panel, given: null, reveal });
  expect(screen.queryByTestId("label-why")).toBeNull();
  await rerender({ ...panel, given: answerOf(2), reveal });
  await userEvent.setup().click(screen.getByTestId("label-why"));
  expect(onwhy).toHaveBeenCalledOnce();
  const asked = vi.spyOn(commands, "explain");
  render(WhyDialog, { question: question(), text: 5, annotator: 1, beforeAnswer: true, onclose: () => {} });
  await screen.findByTestId("why-sum");
  expect(asked.mock.calls[0]?.[0].without_own).toBe(true);
});

it("shows the problem in place of a sum", async () => {
  const problem: Problem = { code: "not-encoded", message: "no embeddings yet", detail: null };
  vi.spyOn(commands, "explain").mockRejectedValue(problem);
  render(WhyDialog, { question: question(), text: 5, annotator: 1, onclose: () => {} });
  expect(await screen.findByRole("alert")).toHaveTextContent("No embeddings yet");
  expect(screen.queryByTestId("why-sum")).toBeNull();
});

const words = () => ({
  query: { question: question().id, text: 5, annotator: 1, with: null, without_own: false },
  showHidden: false,
  odds: { level: 2, against: null },
  scale: question().scale,
});

it("leaves out words on request, and again after a new label", async () => {
  const user = userEvent.setup();
  const asked = vi.spyOn(commands, "explainWords");
  render(WhyWords, words());
  expect(asked).not.toHaveBeenCalled();
  await user.click(screen.getByTestId("why-words-ask"));
  await waitFor(() =>
    expect(screen.getByTestId("why-words").querySelectorAll("mark").length).toBeGreaterThan(3),
  );
  expect(screen.getByLabelText("The strongest").children).toHaveLength(5);
  expect(screen.getByTestId("why-words")).toHaveTextContent("not a cause. This text has labels");
  app.changes += 1;
  await waitFor(() => expect(asked).toHaveBeenCalledTimes(2));
});

it("runs one request for words at a time, and the latest one afterwards", async () => {
  const user = userEvent.setup();
  const real = await commands.explainWords(words().query, null, false);
  let end = (_: typeof real) => {};
  const asked = vi
    .spyOn(commands, "explainWords")
    .mockReturnValueOnce(new Promise((resolve) => (end = resolve)))
    .mockResolvedValue({ ...real, pieces: real.pieces.slice(0, 2) });
  render(WhyWords, words());
  await user.click(screen.getByTestId("why-words-ask"));
  app.changes += 1;
  await new Promise((settled) => setTimeout(settled, 20));
  expect(asked).toHaveBeenCalledOnce();
  end(real);
  await waitFor(() => expect(asked).toHaveBeenCalledTimes(2));
  await waitFor(() => expect(screen.getByTestId("why-words").querySelectorAll("mark")).toHaveLength(2));
});

it("shows the progress of leaving out words, and stops it", async () => {
  const user = userEvent.setup();
  await app.start();
  let stop = (_: Problem) => {};
  vi.spyOn(commands, "explainWords").mockReturnValue(new Promise((_, reject) => (stop = reject)));
  const cancelled = vi.spyOn(commands, "cancelJob");
  render(WhyWords, words());
  await user.click(screen.getByTestId("why-words-ask"));
  const job = { id: 7, kind: "words", title: "", total: 12, seconds_left: null, note: null, problem: null };
  emit("jobChanged", { ...job, state: "running", done: 4 });
  await user.click(await screen.findByTestId("why-words-cancel"));
  expect(cancelled).toHaveBeenCalledWith(7);
  emit("jobChanged", { ...job, state: "cancelled", done: 4 });
  stop({ code: "cancelled", message: "stopped", detail: null });
  expect(await screen.findByTestId("why-words-ask")).toHaveTextContent("Try again");
  expect(screen.queryByTestId("why-words-problem")).toBeNull();
});

it("reports what is missing to leave out words", async () => {
  const user = userEvent.setup();
  const problem: Problem = { code: "encoder-missing", message: "the encoder is missing", detail: "fetch it" };
  vi.spyOn(commands, "explainWords").mockRejectedValue(problem);
  render(WhyWords, words());
  await user.click(screen.getByTestId("why-words-ask"));
  expect(await screen.findByTestId("why-words-problem")).toHaveTextContent("The encoder is missing");
});

it("shows numbers only with their own odds, and explains why there are none", async () => {
  const user = userEvent.setup();
  const { query, showHidden, odds, scale } = words();
  const { rerender } = render(WhyWords, { query, showHidden, odds, scale });
  await user.click(screen.getByTestId("why-words-ask"));
  await waitFor(() => expect(screen.getByTestId("why-words")).toHaveTextContent("towards 3 or above"));
  const problem: Problem = { code: "blind", message: "that prediction is hidden", detail: null };
  vi.spyOn(commands, "explainWords").mockRejectedValue(problem);
  await rerender({ query: { ...query, with: 2 }, showHidden, odds: { level: 3, against: null }, scale });
  await waitFor(() => expect(screen.getByTestId("why-words-problem")).toHaveTextContent("hidden"));
  expect(screen.getByTestId("why-words").querySelectorAll("mark")).toHaveLength(0);
});

it("stops a job that is reported after the view was closed", async () => {
  const user = userEvent.setup();
  await app.start();
  let stop = (_: Problem) => {};
  vi.spyOn(commands, "explainWords").mockReturnValue(new Promise((_, reject) => (stop = reject)));
  const cancelled = vi.spyOn(commands, "cancelJob").mockClear();
  const { unmount } = render(WhyWords, words());
  await user.click(screen.getByTestId("why-words-ask"));
  unmount();
  expect(cancelled).not.toHaveBeenCalled();
  const job = { id: 8, kind: "words", title: "", total: 12, seconds_left: null, note: null, problem: null };
  emit("jobChanged", { ...job, state: "running", done: 0 });
  await waitFor(() => expect(cancelled).toHaveBeenCalledExactlyOnceWith(8));
  emit("jobChanged", { ...job, state: "cancelled", done: 0 });
  stop({ code: "cancelled", message: "stopped", detail: null });
});
