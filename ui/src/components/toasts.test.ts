// Notices: how long they are shown, what closes them, and where.
import { fireEvent, render, screen } from "@testing-library/svelte";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Toasts } from "$stores/toasts.svelte";
import { flushSync } from "svelte";
import ToastStack from "./ToastStack.svelte";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const shown = () => screen.queryAllByTestId(/-toast$/).map((one) => one.textContent.trim());

function pass(ms: number) {
  vi.advanceTimersByTime(ms);
  flushSync();
}

it("closes a success notice by itself, later if it is longer", () => {
  const toasts = new Toasts();
  render(ToastStack, { toasts });
  toasts.done("Written");
  pass(4400);
  expect(shown()).toHaveLength(1);
  pass(200);
  expect(shown()).toHaveLength(0);
  toasts.done("828 rows written to labels.csv", "/home/you/labels.csv\n".repeat(8));
  pass(8000);
  expect(shown()).toHaveLength(1);
  pass(12_000);
  expect(shown()).toHaveLength(0);
});

it("keeps a notice while it is hovered or focused", async () => {
  const toasts = new Toasts();
  render(ToastStack, { toasts });
  const stack = screen.getByRole("region", { name: "Notices" });
  toasts.done("Written");
  flushSync();
  await fireEvent.pointerEnter(stack);
  pass(60_000);
  expect(shown()).toHaveLength(1);
  await fireEvent.pointerLeave(stack);
  screen.getByLabelText("Close notice").focus();
  pass(60_000);
  expect(shown()).toHaveLength(1);
  screen.getByLabelText("Close notice").blur();
  pass(5000);
  expect(shown()).toHaveLength(0);
});

it("closes the newest notice by Escape, one at a time, except in a field", async () => {
  const toasts = new Toasts();
  render(ToastStack, { toasts });
  toasts.problem({ code: "io", message: "The disk is full", detail: null });
  toasts.done("Written");
  flushSync();
  const field = document.body.appendChild(document.createElement("input"));
  await fireEvent.keyDown(field, { key: "Escape" });
  expect(shown()).toHaveLength(2);
  field.remove();
  await fireEvent.keyDown(document.body, { key: "Escape" });
  expect(shown()).toEqual(["The disk is full"]);
  await fireEvent.keyDown(document.body, { key: "Escape" });
  expect(shown()).toHaveLength(0);
  // Without notices the key belongs to the view.
  expect(await fireEvent.keyDown(document.body, { key: "Escape" })).toBe(true);
});

it("is at the top left in labelling views, so that it covers no answer and no button", () => {
  const source = (path: string) => readFileSync(`src/${path}`, "utf8");
  const top = /body:has\(\[data-answers\]\)\) \.stack \{\s*top: [^;]+;\s*bottom: auto;/;
  const left =
    /:not\(:has\(\.dialog-veil\)\)\) \.stack \{\s*inset-inline-end: auto;\s*inset-inline-start: calc\(104px/;
  expect(source("components/ToastStack.svelte")).toMatch(top);
  expect(source("components/ToastStack.svelte")).toMatch(left);
  // As wide as the rail is.
  expect(source("components/Rail.svelte")).toContain('style:width="104px"');
  expect(source("views/label/LabelView.svelte")).toContain("data-answers");
});
