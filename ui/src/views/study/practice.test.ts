// What is practised on and the pass mark, as the study's author sets them.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { practice, reset } from "../../mock/bindings";
import ChecksDialog from "./ChecksDialog.svelte";
import PracticeDialog from "./PracticeDialog.svelte";

let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  reset();
  await app.openSample();
  user = userEvent.setup();
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

it("sets a text with its right answer and explanation, and what happens below the pass mark", async () => {
  render(PracticeDialog, { onclose: () => {} });
  await user.type(await screen.findByTestId("practice-text"), "nowhere{Enter}");
  expect((await screen.findByTestId("practice-problem")).textContent).toContain("nowhere");
  const first = (await commands.nextText(1, [1], "file", null))?.external_id ?? "";
  await user.clear(screen.getByTestId("practice-text"));
  await user.type(screen.getByTestId("practice-text"), first);
  await user.type(screen.getByTestId("practice-reason"), "it is plain");
  await user.click(screen.getByTestId("practice-add"));
  const row = await screen.findByTestId("practice-row");
  expect(row.textContent).toContain("0 of 0 right");
  expect(practice.texts[0]?.reason).toBe("it is plain");
  const rule = vi.spyOn(commands, "setPracticeRule");
  await user.click(screen.getByTestId("practice-mark-then"));
  await user.click(await screen.findByText("they practise again"));
  await waitFor(() => expect(rule).toHaveBeenCalledWith({ pass: null, within: null, then: "practise" }));
  await user.click(screen.getByTestId("practice-remove"));
  await waitFor(() => expect(screen.queryByTestId("practice-row")).toBeNull());
});

it("shows the result of each person", async () => {
  const first = (await commands.nextText(1, [1], "file", null))?.external_id ?? "";
  practice.set(1, first, { kind: "level", value: 0 }, "");
  const text = practice.texts[0]?.text ?? 0;
  practice.record({ annotator: 2, question: 1, text, answer: { kind: "level", value: 3 } });
  render(PracticeDialog, { onclose: () => {} });
  expect((await screen.findByTestId("practice-person")).textContent).toContain("not passed, 0 of 1 right");
});

it("sets a pass mark for attention checks, and removes it", async () => {
  render(ChecksDialog, { onclose: () => {} });
  await user.click(await screen.findByTestId("check-marked"));
  await waitFor(() => expect(practice.checkRule).toEqual({ pass: 0.75, within: 0, then: "go-on" }));
  await user.click(await screen.findByTestId("check-mark-then"));
  await user.click(await screen.findByText("they get no more texts"));
  await waitFor(() => expect(practice.checkRule?.then).toBe("stop"));
  await user.click(screen.getByTestId("check-marked"));
  await waitFor(() => expect(practice.checkRule).toBeNull());
});
