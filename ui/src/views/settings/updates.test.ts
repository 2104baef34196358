// The check for updates: in Settings, in its dialog, once a week, and offered where a file needs it.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import type { Problem, UpdateState } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { app } from "$stores/app.svelte";
import App from "../../App.svelte";
import { reset } from "../../mock/bindings";

let user: ReturnType<typeof userEvent.setup>;

const known: UpdateState = { version: "0.1.0", checked_at: null, newer: null, managed: null, due: true };
const found: UpdateState = {
  ...known,
  checked_at: Date.UTC(2027, 2, 5),
  due: false,
  newer: {
    version: "0.2.0",
    date: "2027-03-01",
    notes: "- <b>Faster</b>",
    page: "https://example.org/releases/tag/v0.2.0",
  },
};
const problem = (code: string): Problem => ({ code, message: `It is ${code}.`, detail: null });

beforeEach(async () => {
  vi.restoreAllMocks();
  reset();
  app.toasts.list = [];
  app.dialog = null;
  app.updates.state = null;
  app.updates.problem = null;
  await app.close();
  await app.saveSettings({ ...app.settings, check_updates: false });
  user = userEvent.setup();
});

it("shows what is new as plain text, and opens the page of the release", async () => {
  vi.spyOn(commands, "updateState").mockResolvedValue(known);
  vi.spyOn(commands, "checkUpdates").mockResolvedValue(found);
  const open = vi.spyOn(commands, "openPage");
  render(App);
  await screen.findByTestId("welcome-new");
  app.dialog = "settings";
  expect(await screen.findByTestId("updates-last")).toHaveTextContent(t("updates.never"));
  await user.click(screen.getByTestId("updates-check"));
  expect(await screen.findByTestId("updates-result")).toHaveTextContent(/0\.2\.0/);
  expect(screen.getByText("- <b>Faster</b>")).toBeInTheDocument();
  expect(screen.getByTestId("updates-address")).toHaveTextContent("https://example.org/releases/tag/v0.2.0");
  await user.click(screen.getByTestId("updates-download"));
  expect(open).toHaveBeenCalledExactlyOnceWith("https://example.org/releases/tag/v0.2.0");
});

it("shows a problem, and what was known before", async () => {
  vi.spyOn(commands, "updateState").mockResolvedValue(found);
  vi.spyOn(commands, "checkUpdates").mockRejectedValue(problem("update-unreachable"));
  render(App);
  await screen.findByTestId("welcome-new");
  await app.updates.open();
  expect(await screen.findByTestId("updates-problem")).toHaveTextContent("It is update-unreachable.");
  expect(screen.getByTestId("updates-result")).toHaveTextContent(/0\.2\.0/);
});

it("can be cancelled", async () => {
  let stop: (thrown: Problem) => void = () => undefined;
  vi.spyOn(commands, "checkUpdates").mockReturnValue(new Promise((_, reject) => (stop = reject)));
  const cancel = vi
    .spyOn(commands, "cancelUpdateCheck")
    .mockImplementation(async () => (stop(problem("cancelled")), null));
  render(App);
  await screen.findByTestId("welcome-new");
  void app.updates.open();
  await user.click(await screen.findByTestId("updates-cancel"));
  await screen.findByTestId("updates-check");
  expect(cancel).toHaveBeenCalledOnce();
  expect(screen.queryByTestId("updates-problem")).toBeNull();
});

it("is replaced by a sentence where a store installed the program", async () => {
  vi.spyOn(commands, "updateState").mockResolvedValue({ ...known, managed: "Update it there.", due: false });
  render(App);
  await screen.findByTestId("welcome-new");
  app.dialog = "settings";
  expect(await screen.findByTestId("updates-managed")).toHaveTextContent("Update it there.");
  expect(screen.queryByTestId("updates-check")).toBeNull();
  expect(screen.queryByTestId("updates-weekly")).toBeNull();
});

it("is off at first, and stored when it is switched on", async () => {
  const save = vi.spyOn(commands, "saveSettings");
  const check = vi.spyOn(commands, "checkUpdates");
  render(App);
  await screen.findByTestId("welcome-new");
  await app.updates.checkWeekly();
  expect(check).not.toHaveBeenCalled();
  app.dialog = "settings";
  await user.click(await screen.findByTestId("updates-weekly"));
  await waitFor(() =>
    expect(save).toHaveBeenLastCalledWith(expect.objectContaining({ check_updates: true })),
  );
});

it("once a week shows only what is new or suspicious", async () => {
  const state = vi.spyOn(commands, "updateState").mockResolvedValue(known);
  const check = vi.spyOn(commands, "checkUpdates").mockResolvedValue(found);
  await app.saveSettings({ ...app.settings, check_updates: true });
  await app.updates.checkWeekly();
  expect(app.toasts.list).toMatchObject([{ kind: "done", act: { label: t("updates.show") } }]);
  app.toasts.list = [];
  check.mockRejectedValue(problem("update-unreachable"));
  await app.updates.checkWeekly();
  expect(app.toasts.list).toEqual([]);
  check.mockRejectedValue(problem("update-signature"));
  await app.updates.checkWeekly();
  expect(app.toasts.list).toMatchObject([{ kind: "problem", code: "update-signature" }]);
  expect(check).toHaveBeenCalledTimes(3);
  state.mockResolvedValue(found);
  await app.updates.checkWeekly();
  expect(check).toHaveBeenCalledTimes(3);
});

it("is offered where a file was written by a newer version", async () => {
  vi.spyOn(commands, "openProject").mockRejectedValue(problem("project-newer"));
  const check = vi.spyOn(commands, "checkUpdates").mockResolvedValue(found);
  expect(await app.open("/newer.dissensus")).toBe(false);
  const [toast] = app.toasts.list;
  expect(toast?.act?.label).toBe(t("updates.check"));
  await toast?.act?.run();
  expect(check).toHaveBeenCalledOnce();
  expect(app.dialog).toBe("updates");
});

it("leaves settings in effect that cannot be stored", async () => {
  vi.spyOn(commands, "saveSettings").mockRejectedValue(problem("settings-not-stored"));
  await app.saveSettings({ ...app.settings, text_size: 28 });
  expect(app.settings.text_size).toBe(28);
  expect(app.toasts.list).toMatchObject([{ code: "settings-not-stored" }]);
  vi.spyOn(commands, "saveSettings").mockRejectedValue(problem("setting"));
  await app.saveSettings({ ...app.settings, text_size: 20 });
  expect(app.settings.text_size).toBe(28);
});
