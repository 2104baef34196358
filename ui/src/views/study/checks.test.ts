// Attention checks: set by the text's id, shown with how they were answered, removed.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { reset } from "../../mock/bindings";
import ChecksDialog from "./ChecksDialog.svelte";

let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  reset();
  await app.openSample();
  for (const one of await commands.attentionChecks())
    await commands.setAttentionCheck(one.question, one.text_id, null, "");
  user = userEvent.setup();
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

it("sets a right answer, shows what is wrong, and removes it", async () => {
  render(ChecksDialog, { onclose: () => {} });
  const set = vi.spyOn(commands, "setAttentionCheck");
  await user.type(await screen.findByTestId("check-text"), "nowhere{Enter}");
  expect((await screen.findByTestId("check-problem")).textContent).toContain("nowhere");
  expect(screen.getByTestId<HTMLInputElement>("check-text").value).toBe("nowhere");
  const first = (await commands.nextText(1, [1], "file", null))?.external_id ?? "";
  await user.clear(screen.getByTestId("check-text"));
  await user.type(screen.getByTestId("check-text"), first);
  await user.type(screen.getByTestId("check-reason"), "plain");
  await user.click(screen.getByTestId("check-add"));
  const row = await screen.findByTestId("check-row");
  expect(row.textContent).toContain("0 of 0 right");
  expect(set).toHaveBeenLastCalledWith(1, first, { kind: "level", value: 0 }, "plain");
  expect(screen.getByTestId<HTMLInputElement>("check-text").value).toBe("");
  await user.click(screen.getByTestId("check-remove"));
  await waitFor(() => expect(screen.queryByTestId("check-row")).toBeNull());
});

it("accepts an answer near the right one if levels are ordered", async () => {
  const set = vi.spyOn(commands, "setCheckRule");
  render(ChecksDialog, { onclose: () => {} });
  await user.click(await screen.findByTestId("check-marked"));
  await screen.findByTestId("check-mark");
  expect(screen.queryByTestId("check-mark-within"), "no check is there").toBeNull();
  const first = (await commands.nextText(1, [1], "file", null))?.external_id ?? "";
  await user.type(screen.getByTestId("check-text"), first);
  await user.click(screen.getByTestId("check-add"));
  await user.click(await screen.findByTestId("check-mark-within"));
  await user.click(await screen.findByText("within 1 level"));
  expect(set).toHaveBeenLastCalledWith({ pass: 0.75, within: 1, then: "go-on" });
});

it("flags a check that most people fail", async () => {
  const one = { question: 1, question_name: "q", text: 1, text_id: "t", body: "b", reason: "" };
  const answer = { kind: "level", value: 0 } as const;
  vi.spyOn(commands, "attentionChecks").mockResolvedValue([
    { ...one, answer, answer_name: "1", given: 9, right: 2 },
  ]);
  render(ChecksDialog, { onclose: () => {} });
  expect((await screen.findByText("2 of 9 right")).title).toContain("may be wrong");
});
