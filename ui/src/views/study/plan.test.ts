// Planning a study: requested when typing pauses, stored with the project, stopped, and explicit about
// missing data.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { perform } from "$stores/actions";
import { app } from "$stores/app.svelte";
import { USUAL } from "$words/plan";
import { reset, emit } from "../../mock/bindings";
import StudyView from "./StudyView.svelte";

beforeEach(async () => {
  localStorage.clear();
  reset();
  await app.start();
  await app.openSample();
  app.show("people-study");
});

const opened = async () => {
  const user = userEvent.setup();
  render(StudyView);
  await user.click(await screen.findByTestId("study-plan"));
  await user.click(await screen.findByTestId("study-how-many"));
  return user;
};

it("plans at once, again for another request, and stores the request with the project", async () => {
  const asked = vi.spyOn(commands, "plan");
  const kept = vi.spyOn(commands, "saveChoices");
  const user = await opened();
  await waitFor(() => expect(screen.getByTestId("plan-per-text")).toHaveTextContent("9"));
  expect(asked).toHaveBeenCalledTimes(1);
  expect(screen.getByTestId("plan-effort")).toHaveTextContent("Time at 6.2 s per label");
  const field = screen.getByTestId("plan-reliability");
  await user.clear(field);
  await user.type(field, "0.9");
  await waitFor(() => expect(screen.getByTestId("plan-per-text")).toHaveTextContent("19"));
  // Not once a key.
  expect(asked.mock.calls.map(([, request]) => request.reliability)).toEqual([0.8, 0.9]);
  expect(kept.mock.calls.at(-1)?.[0].plan?.reliability).toBe(0.9);
  await user.type(screen.getByTestId("plan-cost"), "0.5");
  await waitFor(() => expect(screen.getByTestId("plan-effort")).toHaveTextContent("Cost at 0.50 per label"));
  // On return the settings are still there.
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByTestId("plan")).toBeNull());
  await user.click(screen.getByTestId("study-plan"));
  await user.click(await screen.findByTestId("study-how-many"));
  await waitFor(() =>
    expect(asked.mock.calls.at(-1)?.[1]).toMatchObject({ reliability: 0.9, cost_per_label: 0.5 }),
  );
});

it("does not request impossible numbers, and marks the field", async () => {
  const asked = vi.spyOn(commands, "plan");
  const user = await opened();
  await waitFor(() => expect(asked).toHaveBeenCalledTimes(1));
  const field = screen.getByTestId("plan-reliability");
  await user.clear(field);
  await user.type(field, "1.5");
  await waitFor(() => expect(field).toHaveAttribute("aria-invalid", "true"));
  await new Promise((settled) => setTimeout(settled, 450));
  expect(asked).toHaveBeenCalledTimes(1);
});

it("reports what is missing before there is a plan", async () => {
  const found = await commands.plan(1, {
    reliability: 0.8,
    interval_width: null,
    cost_per_label: null,
    seconds_per_label: null,
  });
  vi.spyOn(commands, "plan").mockResolvedValue({
    ...found,
    needs: "A plan needs a pilot: 20 texts or more.",
    labels_missing: null,
  });
  await opened();
  await waitFor(() => expect(screen.getByTestId("plan-needs")).toHaveTextContent("20 texts or more"));
  expect(screen.queryByTestId("plan-per-text")).toBeNull();
});

it("shows its progress, stops, and plans again on demand", async () => {
  let fail: (thrown: unknown) => void = () => undefined;
  vi.spyOn(commands, "plan").mockImplementation(() => new Promise((_, reject) => (fail = reject)));
  const cancelled = vi.spyOn(commands, "cancelJob").mockImplementation(async () => {
    fail({ code: "cancelled", message: "stopped", detail: null });
    return null;
  });
  const user = await opened();
  await waitFor(() => expect(screen.getByTestId("plan-working")).toHaveTextContent("Simulating"));
  emit("jobChanged", {
    id: 31,
    kind: "plan",
    title: "",
    state: "running",
    done: 40,
    total: 400,
    note: null,
    started_at: 0,
    ended_at: null,
  } as never);
  await user.click(await screen.findByTestId("plan-stop"));
  expect(cancelled).toHaveBeenCalledWith(31);
  await waitFor(() => expect(screen.getByTestId("plan-working")).toHaveTextContent("Stopped."));
  expect(screen.getByText("Plan again")).toBeVisible();
});

it("opens a text that needs more labels in Findings", async () => {
  const user = await opened();
  const texts = await screen.findAllByTestId("plan-text");
  expect(texts[0]).toHaveTextContent("thank you for taking the time");
  await user.click(texts[0] as HTMLElement);
  await waitFor(() => expect(app.view).toBe("findings-texts"));
});

it("offers no width if levels have no order", async () => {
  app.showFigures(3);
  await opened();
  await waitFor(() => expect(screen.getByTestId("plan-reliability")).toBeVisible());
  expect(screen.queryByTestId("plan-width")).toBeNull();
});

it("opens from the plan of the study, which continues with its result", async () => {
  const user = await opened();
  await waitFor(() => expect(screen.getByTestId("plan-per-text")).toHaveTextContent("9"));
  const report = await commands.plan(app.question!.id, USUAL);
  await user.click(screen.getByTestId("plan-go-on"));
  await screen.findByTestId("study-dialog");
  // Existing labels are not requested again.
  const missing = Math.max(1, Math.ceil(report.labels_missing! / report.texts));
  expect(missing).toBeLessThan(9);
  expect(screen.getByTestId("study-per-text")).toHaveValue(missing);
  expect(screen.getByTestId("study-dialog")).toHaveTextContent("to reach 9 labels per text");
  expect(screen.getByTestId("study-dialog")).toHaveTextContent("from your labels: for reliability 0.80");
  // And back.
  await user.click(screen.getByTestId("study-how-many"));
  expect(await screen.findByTestId("plan")).toBeVisible();
  // An old result does not overwrite later input.
  await user.keyboard("{Escape}");
  await user.click(screen.getByTestId("study-plan"));
  await screen.findByTestId("study-dialog");
  expect(screen.getByTestId("study-dialog")).not.toHaveTextContent("from your labels");
});

it("can be opened by name from anywhere", async () => {
  app.show("label");
  render(StudyView);
  perform("annotators.plan");
  expect(app.view).toBe("people-study");
  expect(await screen.findByTestId("plan")).toBeVisible();
});
