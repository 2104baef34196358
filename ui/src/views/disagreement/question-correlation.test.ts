// Questions are selected and correlated, a pair and a text are picked by mouse and keys, and errors are
// shown.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { perform } from "$stores/actions";
import { app } from "$stores/app.svelte";
import { reset, emit } from "../../mock/bindings";
import DisagreementView from "./DisagreementView.svelte";

beforeEach(async () => {
  vi.restoreAllMocks();
  reset();
  await app.start();
  await app.openSample();
  app.show("findings-texts");
});

async function open() {
  const user = userEvent.setup();
  render(DisagreementView);
  perform("disagreement.questions");
  await screen.findByTestId("question-correlation");
  return user;
}

async function correlated() {
  const user = await open();
  await user.click(screen.getByTestId("correlate"));
  await screen.findByTestId("correlation-pair");
  return user;
}

it("describes what will be shown before the first correlation", async () => {
  const user = await open();
  expect(await screen.findByTestId("correlate-empty")).toBeVisible();
  expect(screen.queryByTestId("ranking-list")).toBeNull();
  await user.click(screen.getByTestId("mode-back"));
  expect(screen.queryByTestId("question-correlation")).toBeNull();
});

it("shows every pair, held-out and with labels", async () => {
  const user = await correlated();
  const cells = screen.getAllByTestId("correlation-cell");
  const n = app.allFigured.length;
  expect(cells).toHaveLength((n * (n - 1)) / 2);
  expect(screen.getByTestId("correlation-held-out").textContent).toMatch(/95 %/);
  expect(screen.getByText(/learned from labels of 140 of these texts/)).toBeVisible();

  // One cell is a tab stop; arrows select an adjacent pair.
  const [first, second] = cells;
  expect(first).toHaveAttribute("aria-pressed", "true");
  expect(cells.filter((cell) => cell.tabIndex === 0)).toHaveLength(1);
  first?.focus();
  await user.keyboard("{ArrowDown}");
  await waitFor(() => expect(second).toHaveAttribute("aria-pressed", "true"));
  expect(second).toHaveFocus();

  const before = second?.textContent;
  await user.click(screen.getByTestId("correlate-pearson"));
  await waitFor(() => expect(second?.textContent).not.toBe(before));
});

it("opens a text of the plot by keys", async () => {
  const user = await correlated();
  const plot = await screen.findByTestId("correlation-scatter");
  const asked = vi.spyOn(commands, "textDetail");
  plot.focus();
  await user.keyboard("{ArrowRight}{ArrowUp}");
  await waitFor(() => expect(asked).toHaveBeenCalled());
});

it("correlates the questions that are chosen", async () => {
  const user = await correlated();
  const boxes = screen.getAllByTestId("correlate-question");
  expect(boxes.every((box) => (box as HTMLInputElement).checked)).toBe(true);
  const asked = vi.spyOn(commands, "correlateQuestions");
  await user.click(boxes.at(-1) as HTMLElement);
  // Another choice has not been correlated.
  await screen.findByTestId("correlate-empty");
  await user.click(screen.getByTestId("correlate"));
  await screen.findByTestId("correlation-pair");
  const [choice] = asked.mock.calls[0] ?? [];
  expect(choice?.questions).toEqual((app.project?.questions ?? []).slice(0, -1).map((q) => q.id));
});

it("reports what cannot be correlated, and that it was stopped", async () => {
  const user = await open();
  vi.spyOn(commands, "correlateQuestions").mockRejectedValueOnce({
    code: "not-correlated",
    message: "nothing can be correlated: it takes two questions with labels",
    detail: null,
  });
  await user.click(screen.getByTestId("correlate"));
  expect(await screen.findByTestId("correlate-problem")).toHaveTextContent("it takes two questions");

  vi.spyOn(commands, "correlateQuestions").mockResolvedValueOnce(44);
  await user.click(screen.getByTestId("correlate"));
  const job = {
    id: 44,
    kind: "correlate",
    title: "questions",
    done: 1,
    total: 3,
    seconds_left: null,
    note: null,
    problem: null,
  };
  emit("jobChanged", { ...job, state: "running" });
  await screen.findByTestId("correlate-stop");
  emit("jobChanged", { ...job, state: "cancelled" });
  expect(await screen.findByText("Stopped. Nothing was correlated.")).toBeVisible();
});

it("offers to correlate again when labels have changed", async () => {
  await correlated();
  const real = commands.questionCorrelation;
  vi.spyOn(commands, "questionCorrelation").mockImplementation(async (...of) => {
    const found = await real(...of);
    return found && { ...found, stale: true };
  });
  app.changes += 1;
  await waitFor(() => expect(screen.getByTestId("correlate")).toHaveTextContent("New labels"));
});
