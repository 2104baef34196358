// The table sorts, and table and map choose the same person.
import { alphaChange } from "$words/format";
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { draftOf } from "../../mock/answer-parts";
import { reset, emit } from "../../mock/bindings";
import AnnotatorDetail from "./AnnotatorDetail.svelte";
import AnnotatorsView from "./AnnotatorsView.svelte";

beforeEach(async () => {
  reset();
  await app.openSample();
});

it("chooses a person on the map by keyboard", async () => {
  const user = userEvent.setup();
  // jsdom measures nothing, and on a map without a size all places are one.
  vi.spyOn(Element.prototype, "clientWidth", "get").mockReturnValue(400);
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(300);
  render(AnnotatorsView);
  await waitFor(() => expect(screen.getAllByTestId("map-point")).toHaveLength(8));
  screen.getAllByTestId("map-point")[0]?.focus();
  await waitFor(() => expect(screen.getByTestId("annotator-detail")).toHaveTextContent("Amara"));
  await user.keyboard("{ArrowRight}");
  await waitFor(() => expect(screen.getByTestId("annotator-detail")).not.toHaveTextContent("Amara"));
});

it("states that texts which tuned the encoder are left out of the accuracy, and only then", async () => {
  const user = userEvent.setup();
  const { unmount } = render(AnnotatorsView);
  await waitFor(() => expect(screen.getByTestId("annotators-update")).toHaveTextContent("Refresh"));
  expect(screen.queryByTestId("held-out-note")).toBeNull();
  unmount();

  const plain = await commands.annotatorReport(1);
  const note = "112 texts are left out of the test: the encoder was tuned on their labels.";
  vi.spyOn(commands, "annotatorReport").mockResolvedValue({ ...plain, held_out_note: note });
  vi.spyOn(Element.prototype, "clientWidth", "get").mockReturnValue(400);
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(300);
  render(AnnotatorsView);
  await waitFor(() => expect(screen.getByTestId("held-out-note")).toHaveTextContent(`Accuracy: ${note}`));
  await waitFor(() => expect(screen.getAllByTestId("map-point")).toHaveLength(8));
  screen.getAllByTestId("map-point")[0]?.focus();
  await user.keyboard("{ArrowRight}");
  await waitFor(() => expect(screen.getByTestId("annotator-detail")).toHaveTextContent(note));
});

it("is one grid for the keyboard and names the chosen person", async () => {
  const user = userEvent.setup();
  render(AnnotatorsView);
  const grid = await screen.findByRole("grid", { name: "Annotators" });
  grid.focus();
  await user.keyboard("{Home}");
  const chosen = grid.getAttribute("aria-activedescendant");
  expect(chosen).not.toBeNull();
  await user.keyboard("{ArrowDown}");
  expect(grid.getAttribute("aria-activedescendant")).not.toBe(chosen);
  // No row group takes the focus, because it could not announce the selection.
  expect(grid.querySelector('[role="rowgroup"]')).toHaveAttribute("tabindex", "-1");
});

it("marks figures that are older than the labels", async () => {
  await app.start();
  render(AnnotatorsView);
  await waitFor(() => expect(screen.getByTestId("annotators-update")).toHaveTextContent("Refresh"));
  emit("labelsChanged", { question: 1, text: 1, annotator: 1, revision: 2 });
  await waitFor(() =>
    expect(screen.getByTestId("annotators-update")).toHaveTextContent("New labels · refresh"),
  );
});

it("shows people at once, and their accuracy once it is measured", async () => {
  const user = userEvent.setup();
  await app.start();
  const whole = await commands.annotatorReport(1);
  const row = (known: boolean) => ({
    ...whole,
    held_out_measured: known,
    annotators: whole.annotators.map((a) => (known ? a : { ...a, held_out_accuracy: null })),
  });
  const report = vi.spyOn(commands, "annotatorReport").mockResolvedValue(row(false));
  const measure = vi.spyOn(commands, "measureAnnotators").mockResolvedValue(70);
  const cancel = vi.spyOn(commands, "cancelJob");
  const job = { id: 70, kind: "evaluate", title: "accuracy for each annotator", done: 1, total: 5 };
  const rest = { seconds_left: null, note: null, problem: null };
  render(AnnotatorsView);
  await waitFor(() => expect(screen.getByTestId("measuring")).toBeInTheDocument());
  expect(screen.getByTestId("annotators-alpha")).toBeInTheDocument();
  emit("jobChanged", { ...job, ...rest, state: "running" });
  await waitFor(() => expect(screen.getByRole("progressbar", { name: /accuracy/ })).toHaveValue(1));
  await user.click(screen.getByTestId("measuring-stop"));
  expect(cancel).toHaveBeenCalledWith(70);
  emit("jobChanged", { ...job, ...rest, state: "cancelled" });
  await waitFor(() => expect(screen.getByTestId("not-measured")).toHaveTextContent("Refresh"));
  expect(measure).toHaveBeenCalledTimes(1);

  measure.mockResolvedValue(71);
  await user.click(screen.getByTestId("annotators-update"));
  await waitFor(() => expect(screen.getByTestId("measuring")).toBeInTheDocument());
  expect(measure).toHaveBeenCalledTimes(2);
  report.mockResolvedValue(row(true));
  emit("jobChanged", { ...job, ...rest, id: 71, state: "finished" });
  await waitFor(() => expect(screen.queryByTestId("measuring")).toBeNull());
  expect(screen.queryByTestId("not-measured")).toBeNull();
});

it("shows severity and map once the models are fitted", async () => {
  await app.start();
  const whole = await commands.annotatorReport(1);
  const remark = "The annotator models are being fitted: severity and map follow.";
  const report = vi.spyOn(commands, "annotatorReport").mockResolvedValue({ ...whole, remark });
  render(AnnotatorsView);
  await waitFor(() => expect(screen.getByText(remark)).toBeInTheDocument());
  report.mockResolvedValue({ ...whole, remark: null });
  emit("modelChanged", { question: 1, revision: 3 });
  await waitFor(() => expect(screen.queryByText(remark)).toBeNull());
  expect(report).toHaveBeenCalledTimes(2);
});

it("describes what the labels do not determine about severities", async () => {
  await app.start();
  const whole = await commands.annotatorReport(1);
  const limit = "No text has labels of two annotators.";
  const estimation = {
    text_sd: 1,
    annotator_sd: 1,
    discrimination_sd: null,
    group_slopes: "Held-out labels do not show that groups (by gender) react differently.",
    rounds: 4,
    change: 0.001,
    converged: true,
    log_likelihood: -100,
    limits: ["one_label_per_text"],
    limit_texts: [limit],
  };
  vi.spyOn(commands, "annotatorReport").mockResolvedValue({ ...whole, remark: null, estimation });
  render(AnnotatorsView);
  await waitFor(() => expect(screen.getByTestId("estimation-limits").textContent).toContain(limit));
  // The statistic on demand, under the question that it answers.
  const groups = screen.getByTestId("group-slopes");
  expect(groups).not.toHaveAttribute("open");
  expect(groups.querySelector("summary")).toHaveTextContent(/^Do groups react differently/);
  expect(groups.textContent).toContain(estimation.group_slopes);
});

it("shows how long a label takes, and who is too fast", async () => {
  const [found] = (await commands.annotatorReport(1)).annotators;
  if (!found || !app.question) throw new Error("nobody");
  const words = "Answers in 0.6 s, where the others need 8.4 s on texts as long.";
  const flags = [{ kind: "too-fast", words }];
  const person = { ...found, flags, timed_labels: 40, seconds_per_label: 0.61 };
  const given = {
    scale: app.question.scale,
    alpha: null,
    note: null,
    onslips: () => undefined,
    onchange: () => undefined,
    onwithdraw: () => undefined,
    onremove: () => undefined,
  };
  const { rerender } = render(AnnotatorDetail, { ...given, person });
  expect(screen.getByTestId("annotator-flag")).toHaveTextContent(words);
  expect(screen.getByTestId("annotator-seconds")).toHaveTextContent(
    "0.6 s a label, the median of 40 timed labels.",
  );
  await rerender({ ...given, person: { ...person, flags: [], timed_labels: 0, seconds_per_label: null } });
  expect(screen.queryByTestId("annotator-flag")).toBeNull();
  expect(screen.queryByTestId("annotator-seconds")).toBeNull();
});

it("distinguishes people whose alphas are equal to two digits", async () => {
  const whole = await commands.annotatorReport(1);
  vi.spyOn(commands, "annotatorReport").mockResolvedValue({
    ...whole,
    alpha: 0.2921,
    annotators: whole.annotators.map((row, at) => ({ ...row, alpha_without: 0.292 + at * 0.0003 })),
  });
  render(AnnotatorsView);
  expect(await screen.findByRole("columnheader", { name: /α change/ })).toBeVisible();
  expect(alphaChange(0.292, 0.2921)).toBe("−0.0001");
  expect(alphaChange(0.2923, 0.2921)).toBe("+0.0002");
  expect(alphaChange(null, 0.2921)).toBe("–");
});

it("starts with the strictest, and leaves out columns in which people do not differ", async () => {
  const whole = await commands.annotatorReport(1);
  const alike = { labels: 50, alpha_without: 0.29, held_out_accuracy: 0.76, baseline_accuracy: 0.7 };
  vi.spyOn(commands, "annotatorReport").mockResolvedValue({
    ...whole,
    held_out_measured: true,
    annotators: whole.annotators.map((row) => ({ ...row, ...alike })),
  });
  const { unmount } = render(AnnotatorsView);
  const heads = async () => (await screen.findAllByRole("columnheader")).map((head) => head.className);
  await waitFor(async () => expect((await heads()).length).toBe(3));
  const severity = screen.getByRole("columnheader", { name: /Severity/ });
  expect(severity).toHaveAttribute("aria-sort", "descending");
  expect(screen.queryByRole("columnheader", { name: /Labels|α change|Accuracy/ })).toBeNull();
  unmount();

  vi.mocked(commands.annotatorReport).mockResolvedValue({
    ...whole,
    held_out_measured: true,
    annotators: whole.annotators.map((row, at) => ({ ...row, ...alike, labels: at })),
  });
  render(AnnotatorsView);
  await waitFor(async () => expect((await heads()).length).toBe(4));
  expect(screen.getByRole("columnheader", { name: /Labels/ })).toBeVisible();
});

it("loads the report again when levels are added, and shows none with another scale", async () => {
  const made = vi.spyOn(commands, "annotatorReport");
  render(AnnotatorsView);
  await screen.findByRole("grid", { name: "Annotators" });
  const before = made.mock.calls.length;
  const question = app.project?.questions[0];
  if (!question) throw new Error("there is no question");
  const draft = draftOf(question);
  made.mockReturnValueOnce(new Promise(() => {}));
  const added = { from: null, name: "0", definition: "" };
  await commands.changeQuestion(1, { ...draft, levels: [added, ...draft.levels] });
  await app.refresh();
  await waitFor(() => expect(made.mock.calls.length).toBeGreaterThan(before));
  expect(screen.getByTestId("annotators-waiting")).toBeVisible();
});
