// The panel view: members, rule, saved panels, and predicted verdicts.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { parseRule, rulesOf, sureWords, formatRule } from "$words/panel";
import { reset } from "../../mock/bindings";
import PanelPane from "./PanelPane.svelte";

let user: ReturnType<typeof userEvent.setup>;

async function show() {
  const question = app.allFigured[0];
  if (!question) throw new Error("no question");
  render(PanelPane, { question, selected: 1 });
  await screen.findByTestId("panel-verdict");
}

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  await app.openSample();
  user = userEvent.setup();
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

it("shows what a drawn panel would decide on the chosen text, how sure, and what others would", async () => {
  await show();
  const verdict = screen.getByTestId("panel-verdict").textContent ?? "";
  expect(verdict).toContain("no majority");
  expect(screen.getByTestId("panel-sure").textContent).toMatch(/certain|ikely|Open|Too little/);
  expect(screen.getByTestId("panel-others").textContent).toMatch(
    /50 other panels drawn the same way: “.+” is the most likely verdict of \d+ %/,
  );
  expect(screen.getByTestId("panel-who").textContent).toContain("with labels");
  // What more labels could do has the level of every other interval.
  expect(verdict).toMatch(/from\s+\d+ % to \d+ % \(95 %\)/);
});

it("predicts for named people without a draw", async () => {
  await show();
  const ask = vi.spyOn(commands, "panelOnText");
  const [first, second] = app.people;
  for (const person of [first, second]) {
    await user.type(screen.getByTestId("panel-person"), person?.name ?? "");
    await user.click(screen.getByTestId("panel-join"));
  }
  expect(screen.getAllByTestId("panel-member")).toHaveLength(2);
  await waitFor(() =>
    expect(ask).toHaveBeenLastCalledWith(
      expect.objectContaining({ members: [first?.external_id, second?.external_id] }),
      null,
      1,
    ),
  );
  await waitFor(() => expect(screen.queryByTestId("panel-others")).toBeNull());
  expect(screen.queryByTestId("panel-draws")).toBeNull();
  await user.type(screen.getByTestId("panel-person"), "nobody of that name");
  await user.click(screen.getByTestId("panel-join"));
  expect(screen.getByRole("alert").textContent).toContain("Nobody here");
});

it("reports what cannot be drawn, and continues when it can", async () => {
  await show();
  const size = screen.getByTestId<HTMLInputElement>("panel-size");
  await user.clear(size);
  await user.type(size, "900");
  expect((await screen.findByTestId("panel-problem")).textContent).toContain("cannot be drawn");
  await user.clear(size);
  await user.type(size, "5");
  await waitFor(() => expect(screen.queryByTestId("panel-problem")).toBeNull());
});

it("lists the texts that are least sure, and chooses one", async () => {
  await show();
  await user.click(screen.getByTestId("panel-ask"));
  const rows = await screen.findAllByTestId("panel-text");
  expect(rows.length).toBeGreaterThan(10);
  await user.click(rows[3] as HTMLElement);
  expect(rows[3]?.getAttribute("aria-current")).toBe("true");
});

it("saves a panel, compares it with another, and deletes it", async () => {
  await show();
  await user.type(screen.getByTestId("panel-name"), "board");
  await user.click(screen.getByTestId("panel-keep"));
  await screen.findByTestId("panel-kept");
  expect((await commands.savedPanels()).map(({ name, rule }) => [name, rule])).toEqual([
    ["board", "majority"],
  ]);
  // The closed list handles typing like a native one.
  screen.getByTestId("panel-compared-choice").focus();
  await user.keyboard("b");
  expect((await screen.findByTestId("panel-comparison")).textContent).toContain("apart");
  await user.click(screen.getByTestId("panel-forget"));
  await waitFor(() => expect(screen.queryByTestId("panel-kept")).toBeNull());
  await waitFor(() => expect(screen.queryByTestId("panel-comparison")).toBeNull());
});

it("writes rules as the program reads them", () => {
  for (const rule of [
    "majority",
    "mean",
    "median",
    "veto:4",
    "veto",
    "quorum:3@2",
    "quorum:0.5@a@b",
    "quorum:3",
  ])
    expect(formatRule(parseRule(rule))).toBe(rule);
  const choice = { kind: "choice" as const, levels: ["a", "b", "c"] };
  expect(rulesOf(choice).map(({ value }) => value)).toEqual(["majority", "quorum", "veto"]);
  expect(sureWords({ sure: 0.97, too_little: false })).toBe("Almost certain");
  expect(sureWords({ sure: 0.97, too_little: true })).toBe("Too few labels");
});
