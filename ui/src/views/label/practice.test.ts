// Practising before the texts: by the same keys, with the right answer after each, and what comes of it.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { draftOf } from "../../mock/answer-parts";
import type { AfterFailing } from "$api/bindings";
import { practice, reset } from "../../mock/bindings";
import LabelView from "./LabelView.svelte";

let user: ReturnType<typeof userEvent.setup>;

/** Two practice texts, whose right answers are the keys 2 and 3. */
async function begin(then: AfterFailing) {
  reset();
  app.toasts.list = [];
  await app.openSample();
  const ids = [];
  for (const step of [0, 1]) {
    const task = await commands.neighbourText(1, 1, step === 0 ? 2 : 3, 1);
    ids.push(task?.external_id ?? "");
  }
  practice.set(1, ids[0] ?? "", { kind: "level", value: 1 }, "Because it mocks nobody.");
  practice.set(1, ids[1] ?? "", { kind: "level", value: 2 }, "");
  practice.rule = { pass: 1, within: 0, then };
  await app.join("Robin");
  user = userEvent.setup();
  render(LabelView);
  await screen.findByTestId("practice-message");
}

beforeEach(() => {
  vi.restoreAllMocks();
});

afterEach(cleanup);

async function press(key: string): Promise<void> {
  await user.keyboard(key);
  await new Promise((settled) => setTimeout(settled, 5));
}

it("shows after each answer what was right, and records no label", async () => {
  await begin("go-on");
  const label = vi.spyOn(commands, "recordLabel");
  expect(screen.getByTestId("practice-message").textContent).toContain("2 of 2 must be right");
  expect(screen.queryByTestId("label-text")).toBeNull();
  await press("{Enter}");
  await waitFor(() => expect(screen.getByTestId("practice-at").textContent).toBe("1 of 2"));
  expect(screen.queryByTestId("practice-feedback")).toBeNull();
  // What comes into a region that is there before is read out.
  const announced = document.querySelector<HTMLElement>("[aria-live='polite']");
  await press("2");
  const feedback = await screen.findByTestId("practice-feedback");
  expect(announced).toContainElement(feedback);
  expect(feedback.textContent).toContain("Right");
  expect(feedback.textContent).toContain("Because it mocks nobody.");
  // The first answer counts: another key changes nothing.
  await press("4");
  expect(screen.getByTestId("level-2").getAttribute("aria-pressed")).toBe("true");
  await press("{Enter}");
  await waitFor(() => expect(screen.getByTestId("practice-at").textContent).toBe("2 of 2"));
  await press("1");
  expect((await screen.findByTestId("practice-feedback")).textContent).toContain("Not right");
  await press("{Enter}");
  const message = await screen.findByTestId("practice-message");
  expect(message.textContent).toContain("You had 1 of 2 right; 2 are needed.");
  expect(message.textContent).toContain("You can continue");
  await press("{Enter}");
  await screen.findByTestId("label-text");
  expect(label).not.toHaveBeenCalled();
});

it("asks for another round where the study's author decided so", async () => {
  await begin("practise");
  for (const key of ["{Enter}", "1", "{Enter}", "1", "{Enter}"]) await press(key);
  const message = await screen.findByTestId("practice-message");
  expect(message.textContent).toContain("Once more, in another order");
  for (const key of ["{Enter}", "2", "{Enter}", "3", "{Enter}"]) await press(key);
  await waitFor(() =>
    expect(screen.getByTestId("practice-message").textContent).toContain("Practice passed"),
  );
  await user.click(screen.getByTestId("practice-next"));
  await screen.findByTestId("label-text");
});

it("explains kindly that there are no more texts, and shows none", async () => {
  await begin("stop");
  const next = vi.spyOn(commands, "nextText");
  for (const key of ["{Enter}", "1", "{Enter}", "1", "{Enter}"]) await press(key);
  const message = await screen.findByTestId("practice-message");
  await waitFor(() => expect(message.textContent).toContain("gives you no more texts"));
  await press("{Enter}");
  expect(screen.queryByTestId("label-text")).toBeNull();
  expect(next).not.toHaveBeenCalled();
});

it("comes back to the practice where a text is refused for it", async () => {
  await begin("practise");
  for (const key of ["{Enter}", "2", "{Enter}", "3", "{Enter}", "{Enter}"]) await press(key);
  await screen.findByTestId("label-text");
  const stopped = { step: "stopped", by_checks: true, round: 1, done: 2, total: 2, result: null } as const;
  const rule = { pass: 1, within: 0, then: "stop" } as const;
  vi.spyOn(commands, "practiceState").mockResolvedValue({ ...stopped, rule });
  vi.spyOn(commands, "recordLabel").mockRejectedValue({
    code: "practice-stopped",
    message: "no",
    detail: null,
  });
  await press("1");
  expect((await screen.findByTestId("practice-message")).textContent).toContain("All your answers are saved");
  expect(app.toasts.list).toEqual([]);
});

it('shows the ends of the scale and the help, and accepts "cannot say"', async () => {
  await begin("go-on");
  const asked = app.project?.questions[0];
  if (!asked) throw new Error("no question");
  const help = { text: "Judge the words alone.", low: "harmless", high: "vile" };
  await commands.changeQuestion(1, { ...draftOf(asked), help, cannot_say: true });
  await app.refresh();
  await press("{Enter}");
  await waitFor(() => expect(screen.getByTestId("practice-at").textContent).toBe("1 of 2"));
  expect(screen.getByText("harmless")).toBeInTheDocument();
  expect(screen.getByText("vile")).toBeInTheDocument();
  await press("h");
  expect(screen.getByTestId("question-help").textContent).toContain("Judge the words alone.");
  const record = vi.spyOn(commands, "recordPractice");
  await press("x");
  await screen.findByTestId("practice-feedback");
  expect(record.mock.calls[0]?.[0].answer).toEqual({ kind: "cannot-say" });
  expect(screen.getByTestId("label-cannot-say").getAttribute("aria-pressed")).toBe("true");
});
