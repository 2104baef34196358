// A copy of the project, and the diagnostics for a report.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import * as platform from "$platform";
import { app } from "$stores/app.svelte";
import ProjectView from "./ProjectView.svelte";
import StatusLine from "$components/StatusLine.svelte";
import { reset, emit } from "../../mock/bindings";
import SettingsDialog from "$views/settings/SettingsDialog.svelte";

const copying = {
  id: 80,
  kind: "copy",
  title: "Comments copy.dissensus",
  state: "running",
  done: 1,
  total: 4,
  seconds_left: null,
  note: null,
  problem: null,
};

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  app.work.all = [];
  app.leaving = null;
  await app.openSample();
  await app.start();
});

it("saves a copy at the chosen path, and shows the path", async () => {
  const save = vi.spyOn(commands, "saveCopy");
  const user = userEvent.setup();
  render(ProjectView);
  await user.click(screen.getByTestId("act-project.copy"));
  expect(save).toHaveBeenCalledWith("/home/you/Comments copy.dissensus", null);
  await waitFor(() =>
    expect(app.toasts.list.at(-1)).toMatchObject({
      kind: "done",
      message: "A copy was saved as Comments copy.dissensus",
      detail: "/home/you/Comments copy.dissensus",
    }),
  );
});

it("saves nothing if the dialog is closed", async () => {
  const save = vi.spyOn(commands, "saveCopy");
  vi.spyOn(platform, "chooseCopy").mockResolvedValue(null);
  await app.outputs.chooseCopyPath();
  expect(save).not.toHaveBeenCalled();
  expect(app.toasts.list).toEqual([]);
});

it("reports a failure once, and treats stopping as no failure", async () => {
  const full = { code: "io", message: "The disk is full.", detail: null };
  const save = vi.spyOn(commands, "saveCopy").mockRejectedValueOnce(full);
  emit("jobChanged", { ...copying, state: "failed", problem: full });
  expect(await app.outputs.saveCopy("/c.dissensus")).toBe(false);
  expect(app.toasts.list).toMatchObject([{ kind: "problem", message: "The disk is full." }]);
  app.toasts.list = [];
  save.mockRejectedValueOnce({ code: "cancelled", message: "cancelled", detail: null });
  expect(await app.outputs.saveCopy("/c.dissensus")).toBe(false);
  expect(app.toasts.list).toMatchObject([{ kind: "note", message: "Saving a copy was stopped" }]);
});

it("shows the progress of a copy, stops it, and asks before closing", async () => {
  const cancel = vi.spyOn(commands, "cancelJob");
  const user = userEvent.setup();
  render(StatusLine);
  render(ProjectView);
  emit("jobChanged", copying);
  expect(await screen.findByText(/^25\s?%$/)).toBeVisible();
  expect(screen.getByTestId("act-project.copy")).toBeDisabled();
  await user.click(screen.getByRole("button", { name: "Stop: Copying Comments copy.dissensus" }));
  expect(cancel).toHaveBeenCalledWith(80);
  await app.close();
  expect(app.leaving?.verb).toBe("close");
});

it("copies the diagnostics from the settings", async () => {
  const copy = vi.spyOn(platform, "copyText");
  const user = userEvent.setup();
  render(SettingsDialog);
  await user.click(screen.getByTestId("copy-diagnostics"));
  expect(await copy.mock.calls[0]?.[0]).toContain("Dissensus 0.1.0 on linux");
  await waitFor(() => expect(app.toasts.list.at(-1)).toMatchObject({ message: "Diagnostics copied" }));
});

it("reports that the diagnostics cannot be copied", async () => {
  vi.spyOn(platform, "copyText").mockRejectedValue(new Error("not allowed"));
  await app.outputs.copyDiagnostics();
  expect(app.toasts.list.at(-1)).toMatchObject({ kind: "problem", detail: "not allowed" });
});

it("hides texts for screen readers visually", async () => {
  render(StatusLine);
  expect(screen.getByRole("status")).toHaveClass("out-of-sight");
});
