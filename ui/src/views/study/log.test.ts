// The log: newest first, filtered, loaded on scrolling, with names hidden on request.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { shortTime } from "$words/log";
import { reset } from "../../mock/bindings";
import LogDialog from "./LogDialog.svelte";

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

const count = () => screen.getByTestId("log-count").textContent;

it("starts with the newest and loads one page", async () => {
  const asked = vi.spyOn(commands, "history");
  render(LogDialog, { onclose: () => {} });
  await waitFor(() => expect(count()).toContain("The newest 200 entries"));
  expect(asked).toHaveBeenCalledTimes(1);
  expect(asked.mock.calls[0]?.[0]).toMatchObject({ after: null, limit: 200, hide_names: false, kinds: [] });
});

it("sends the reader’s own person, so that nothing is shown before they have answered", async () => {
  const person = app.people.find((p) => !p.simulated) ?? app.people[0];
  app.annotatorId = person?.id ?? null;
  const asked = vi.spyOn(commands, "history");
  render(LogDialog, { onclose: () => {} });
  await waitFor(() => expect(asked).toHaveBeenCalled());
  expect(asked.mock.calls[0]?.[0].reader).toBe(person?.id);
});

it("can be searched and filtered, and reports an empty result", async () => {
  render(LogDialog, { onclose: () => {} });
  await waitFor(() => expect(count()).toContain("200"));
  await user.type(screen.getByTestId("log-search"), "irony");
  await waitFor(() => expect(count()).toContain("56 entries"));
  await user.type(screen.getByTestId("log-search"), " and nothing like it");
  await waitFor(() => expect(count()).toContain("No matching entries"));
});

it("hides names and the choice of a person", async () => {
  const asked = vi.spyOn(commands, "history");
  render(LogDialog, { onclose: () => {} });
  await waitFor(() => expect(count()).toContain("200"));
  expect(screen.getByTestId("log-person")).toBeVisible();
  await user.click(screen.getByTestId("log-hide-names"));
  await waitFor(() => expect(asked.mock.lastCall?.[0].hide_names).toBe(true));
  expect(screen.queryByTestId("log-person")).toBeNull();
});

it("shows a time without its offset", () => {
  expect(shortTime("2026-03-01 14:05:31 +01:00")).toBe("2026-03-01 14:05:31");
  expect(shortTime("not known")).toBe("not known");
});
