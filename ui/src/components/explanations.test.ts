// Explanations: by hover, focus and tap alike, never over a dialog, and never as the system's own tip.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { explanations } from "$stores/explanations.svelte";
import ExplanationTip from "./ExplanationTip.svelte";

let page: HTMLElement;
const tip = () => screen.queryByTestId("explanation")?.textContent ?? null;
const it$ = (id: string) => document.getElementById(id) ?? expect.unreachable(id);

beforeEach(() => {
  page = document.createElement("main");
  const rows = [
    ["button", "sort", "Who", "Whether people differ by who they are"],
    ["span", "figure", "0.47", "0 where all agree, 1 where half say one end"],
    ["button", "repeat", "Refresh", "Refresh"],
  ] as const;
  for (const [tag, id, text, title] of rows) {
    const element = document.createElement(tag);
    Object.assign(element, { id, textContent: text, title });
    page.append(element);
  }
  const row = document.createElement("button");
  row.id = "row";
  const cell = document.createElement("span");
  Object.assign(cell, {
    textContent: "no pattern",
    title: "Neither a group nor strictness tells them apart",
  });
  row.append(cell);
  page.append(row);
  document.body.append(page);
  render(ExplanationTip);
});

afterEach(() => page.remove());

describe("an explanation", () => {
  it("is reachable by keyboard and closes on Escape", async () => {
    const user = userEvent.setup();
    const read: (string | null)[] = [];
    for (let i = 0; i < 4; i++) {
      await user.tab();
      await waitFor(() => expect(document.activeElement).not.toBe(document.body));
      read.push(tip());
    }
    expect(read).toEqual([
      "Whether people differ by who they are",
      "0 where all agree, 1 where half say one end",
      // A tip must not repeat the text of its button.
      null,
      "no pattern: Neither a group nor strictness tells them apart",
    ]);
    await user.keyboard("{Escape}");
    expect(tip()).toBeNull();
  });

  it("replaces the system's tooltip on hover, except in dialogs", async () => {
    const user = userEvent.setup();
    await user.hover(it$("figure"));
    expect(it$("figure")).not.toHaveAttribute("title");
    await waitFor(() => expect(tip()).toContain("0 where all agree"));
    await user.hover(it$("row"));
    expect(tip()).toBeNull();
    expect(it$("figure")).toHaveAttribute("title");
  });

  it("opens by a tap on elements without another action", async () => {
    it$("figure").dispatchEvent(
      Object.assign(new MouseEvent("pointerup", { bubbles: true }), { pointerType: "touch" }),
    );
    await waitFor(() => expect(tip()).toContain("0 where all agree"));
  });

  it("closes when a dialog opens", async () => {
    const user = userEvent.setup();
    await user.tab();
    expect(tip()).not.toBeNull();
    const portal = document.createElement("div");
    const dialog = document.createElement("div");
    dialog.setAttribute("role", "dialog");
    portal.append(dialog);
    page.append(portal);
    await waitFor(() => expect(tip()).toBeNull());
  });

  it("is shown once for several parts of a row", () => {
    const row = it$("row");
    row.append(row.firstElementChild?.cloneNode(true) ?? "");
    expect(explanations(row)).toHaveLength(1);
  });
});
