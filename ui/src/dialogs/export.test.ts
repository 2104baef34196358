// Labels are exported for others unless one says that they are to be imported again.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import * as platform from "$platform";
import { app } from "$lib/app.svelte";
import { reset } from "../mock/bindings";
import ExportDialog from "./ExportDialog.svelte";

beforeEach(async () => {
  vi.restoreAllMocks();
  reset();
  await app.openSample();
  app.toasts.list = [];
});

it("gives pseudonyms and no notes unless asked, and says what was left out", async () => {
  const user = userEvent.setup();
  const wrote = vi.spyOn(commands, "exportProject");
  render(ExportDialog);
  expect(screen.getByTestId("export-share")).toBeChecked();
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(wrote).toHaveBeenCalledOnce());
  expect(wrote.mock.calls[0]?.slice(1)).toEqual([true, false, false]);
  expect(wrote.mock.calls[0]?.[0]).toContain("for others");
  const toast = app.toasts.list.at(-1);
  expect(toast?.detail).toContain("3 values of attributes left empty");
  expect(toast?.detail).toContain("2 people can still be told");
  await user.click(screen.getByTestId("export-notes"));
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(wrote.mock.calls.at(-1)?.slice(1)).toEqual([true, true, false]));
});

it("keeps ids in a file that is to be imported again, whatever was ticked", async () => {
  const user = userEvent.setup();
  const wrote = vi.spyOn(commands, "exportProject");
  render(ExportDialog);
  await user.click(screen.getByTestId("export-notes"));
  await user.click(screen.getByTestId("export-import"));
  await user.click(screen.getByTestId("export-decisions"));
  expect(screen.getByTestId("export-notes")).toBeDisabled();
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(wrote.mock.calls.at(-1)?.slice(1)).toEqual([false, false, true]));
});

it("writes nothing where no file is chosen or it fails, and stays open", async () => {
  const user = userEvent.setup();
  const wrote = vi.spyOn(commands, "exportProject");
  const chosen = vi.spyOn(platform, "chooseExport").mockResolvedValueOnce(null);
  render(ExportDialog);
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(chosen).toHaveBeenCalledOnce());
  expect(wrote).not.toHaveBeenCalled();
  wrote.mockRejectedValueOnce({ code: "disk-full", message: "the disk is full", detail: null });
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(app.toasts.list.at(-1)?.message).toContain("the disk is full"));
  expect(screen.getByTestId("export-go")).toBeEnabled();
});
