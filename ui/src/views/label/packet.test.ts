// A packet: texts in its order, some repeated as if new, and handing in.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import Rail from "$components/Rail.svelte";
import StatusLine from "$components/StatusLine.svelte";
import { playPacket, reset } from "../../mock/bindings";
import SubmitDialog from "$views/study/SubmitDialog.svelte";
import LabelView from "./LabelView.svelte";

const text = () => screen.getByTestId("label-text").dataset.textId;
const pressed = (level: number) => screen.getByTestId(`level-${level}`).getAttribute("aria-pressed");
let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  await app.openSample();
  await app.join("Robin");
  // Nobody has answered these; the third is the first once more.
  playPacket(app.annotatorId ?? 0, [
    { text: 3, occasion: 1 },
    { text: 1, occasion: 1 },
    { text: 3, occasion: 2 },
    { text: 2, occasion: 1 },
  ]);
  await app.openSample();
  user = userEvent.setup();
  render(Rail);
  render(StatusLine);
  render(LabelView);
  await waitFor(() => expect(text()).toBe("3"));
});

afterEach(cleanup);

async function press(key: string): Promise<void> {
  await user.keyboard(key);
  await new Promise((settled) => setTimeout(settled, 5));
}

it("opens with the texts of its person and nothing else", async () => {
  expect(screen.getByTestId("packet-person").textContent).toBe("Robin");
  expect(screen.queryByTestId("nav-findings")).toBeNull();
  expect(screen.queryByTestId("label-order")).toBeNull();
  expect(screen.queryByText("You see how others judge this text after you have answered.")).toBeNull();
  app.show("models");
  expect(app.view).toBe("label");
  await waitFor(() => expect(screen.getByTestId("packet-status").textContent).toContain("Not submitted"));
});

it("goes on by itself, and asks a text again without showing the earlier answer", async () => {
  const again = vi.spyOn(commands, "recordAgain");
  const first = vi.spyOn(commands, "recordLabel");
  await press("2");
  await waitFor(() => expect(text()).toBe("1"));
  await press("3");
  await waitFor(() => expect(text()).toBe("3"));
  for (const level of [1, 2, 3]) expect(pressed(level)).toBe("false");
  await press("1");
  await waitFor(() => expect(text()).toBe("2"));
  expect(again).toHaveBeenCalledWith(expect.objectContaining({ text: 3 }), expect.anything(), 2);
  expect(first).toHaveBeenCalledTimes(2);
  // Going back shows the second answer, then the first.
  await press("{ArrowLeft}");
  await waitFor(() => expect(pressed(1)).toBe("true"));
  await press("{ArrowLeft}");
  await waitFor(() => expect(text()).toBe("1"));
  await press("{ArrowLeft}");
  await waitFor(() => expect(text()).toBe("3"));
  expect(pressed(2)).toBe("true");
  expect(pressed(1)).toBe("false");
});

it("explains at the end how to hand in, and confirms it", async () => {
  const handIn = vi.spyOn(commands, "handIn");
  for (const [key, next] of [
    ["2", "1"],
    ["2", "3"],
    ["2", "2"],
  ] as const) {
    await press(key);
    await waitFor(() => expect(text()).toBe(next));
  }
  await press("2");
  const done = await screen.findByTestId("packet-done");
  expect(done.textContent).toContain("You have answered everything");
  await user.click(screen.getByTestId("hand-in"));
  // The contents and the destination are explained before a file is chosen.
  render(SubmitDialog);
  expect(await screen.findByTestId("hand-in-dialog")).toHaveTextContent("your answers, notes and reasons");
  expect(app.dialog).toBe("hand-in");
  expect(handIn).not.toHaveBeenCalled();
  await user.click(screen.getByTestId("hand-in-write"));
  await waitFor(() => expect(handIn).toHaveBeenCalledWith("/home/you/Comments.handin", null));
  await waitFor(() => expect(app.toasts.list[0]?.message).toBe("All 4 texts submitted as Comments.handin"));
  expect(app.toasts.list[0]?.detail).toContain("/home/you/Comments.handin");
});
