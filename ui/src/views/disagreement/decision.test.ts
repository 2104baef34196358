// Deciding about a text that people see differently.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { reset } from "../../mock/bindings";
import TextDecision from "./TextDecision.svelte";

let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  reset();
  localStorage.clear();
  app.toasts.list = [];
  await app.openSample();
  user = userEvent.setup();
  render(TextDecision, { question: 1, text: 1, body: "A text." });
  await screen.findByTestId("text-decision");
});

afterEach(cleanup);

it("shows all answers and notes, by name or without", async () => {
  await user.click(screen.getByTestId("talk-open"));
  const rows = await screen.findAllByTestId("talk-answer");
  expect(rows.length).toBeGreaterThan(1);
  expect(rows.some((row) => row.textContent?.includes("I read this as irony."))).toBe(true);
  const named = rows[0]?.textContent;
  await user.click(screen.getByTestId("talk-names"));
  expect(screen.getAllByTestId("talk-answer")[0]?.textContent).toContain("Person 1");
  expect(screen.getAllByTestId("talk-answer")[0]?.textContent).not.toBe(named);
});

it("groups people by their answers where there are no notes", async () => {
  const real = await commands.textTalk(1, 1);
  const answers = real.answers.map((one) => ({ ...one, note: null }));
  vi.spyOn(commands, "textTalk").mockResolvedValue({ ...real, answers });
  cleanup();
  render(TextDecision, { question: 1, text: 1, body: "A text." });
  await user.click(await screen.findByTestId("talk-open"));
  const rows = await screen.findAllByTestId("talk-answer");
  const levels = new Set(answers.map(({ answer }) => (answer?.kind === "level" ? answer.value : undefined)));
  expect(rows).toHaveLength(levels.size);
  const counted = rows.map((row) => Number(row.children[1]?.textContent));
  expect(counted.reduce((a, b) => a + b, 0)).toBe(answers.length);
});

it("decides only once something is chosen, keeps who decided, and opens again", async () => {
  const decide = vi.spyOn(commands, "decide");
  await user.click(screen.getByTestId("talk-open"));
  // Outcome is chosen first.
  await waitFor(() => expect(screen.getByTestId("outcome-real-difference")).toHaveFocus());
  expect((screen.getByTestId("talk-decide") as HTMLButtonElement).disabled).toBe(true);
  await user.click(screen.getByTestId("outcome-real-difference"));
  await user.type(screen.getByTestId("talk-by"), "Ana");
  await user.type(screen.getByTestId("talk-comment"), "both are right");
  await user.click(screen.getByTestId("talk-decide"));
  await waitFor(() => expect(screen.queryByTestId("talk-dialog")).toBeNull());
  expect(decide).toHaveBeenCalledWith(
    expect.objectContaining({
      outcome: "real-difference",
      comment: "both are right",
      by: "Ana",
      answer: null,
    }),
  );
  expect(screen.getByTestId("text-decision").textContent).toContain("Decided: a real difference");
  await user.click(screen.getByTestId("talk-open"));
  expect((await screen.findByTestId<HTMLInputElement>("talk-by")).value).toBe("Ana");
  await user.click(screen.getByTestId("talk-reopen"));
  await waitFor(() => expect(screen.getByTestId("text-decision").textContent).not.toContain("Decided"));
});

it("stays open with the typed text if it cannot be saved", async () => {
  vi.spyOn(commands, "decide").mockRejectedValueOnce({
    code: "disk-full",
    message: "The disk is full.",
    detail: null,
  });
  await user.click(screen.getByTestId("talk-open"));
  await user.click(await screen.findByTestId("outcome-slip"));
  await user.type(screen.getByTestId("talk-comment"), "meant 4");
  await user.click(screen.getByTestId("talk-decide"));
  await waitFor(() => expect(app.toasts.list[0]?.message).toBe("The disk is full."));
  expect((screen.getByTestId("talk-comment") as HTMLTextAreaElement).value).toBe("meant 4");
});
