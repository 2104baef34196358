// A report for a paper names nobody unless requested, and shows where it is.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import * as platform from "$platform";
import { app } from "$stores/app.svelte";
import { reset } from "../../mock/bindings";
import ReportDialog from "./ReportDialog.svelte";

beforeEach(async () => {
  vi.restoreAllMocks();
  localStorage.clear();
  reset();
  await app.openSample();
  app.toasts.list = [];
});

it("names nobody and quotes nothing unless requested, and remembers all choices but the names", async () => {
  const user = userEvent.setup();
  const wrote = vi.spyOn(commands, "writeReport");
  const first = render(ReportDialog);
  await user.click(screen.getByTestId("report-go"));
  await waitFor(() => expect(wrote).toHaveBeenCalledOnce());
  expect(wrote.mock.calls[0]?.[1]).toEqual({
    evaluate: false,
    quote_texts: false,
    with_ids: false,
    replace: true,
  });
  const toast = app.toasts.list.at(-1);
  expect(toast?.detail).toContain("report.html");
  expect(toast?.detail).toContain("2 people could still be identified");
  await user.click(screen.getByTestId("report-quote"));
  await user.click(screen.getByTestId("report-ids"));
  await user.click(screen.getByTestId("report-go"));
  await waitFor(() =>
    expect(wrote.mock.calls.at(-1)?.[1]).toMatchObject({ quote_texts: true, with_ids: true }),
  );
  first.unmount();
  render(ReportDialog);
  expect(screen.getByTestId("report-quote")).toBeChecked();
  expect(screen.getByTestId("report-ids")).not.toBeChecked();
});

it("writes nothing if no path is chosen or it fails, and stays open", async () => {
  const user = userEvent.setup();
  const wrote = vi.spyOn(commands, "writeReport");
  const chosen = vi.spyOn(platform, "chooseReportFolder").mockResolvedValueOnce(null);
  app.dialog = "report";
  render(ReportDialog);
  await user.click(screen.getByTestId("report-go"));
  await waitFor(() => expect(chosen).toHaveBeenCalledOnce());
  expect(wrote).not.toHaveBeenCalled();
  wrote.mockRejectedValueOnce({ code: "not-a-report", message: "it is no report", detail: null });
  await user.click(screen.getByTestId("report-go"));
  await waitFor(() => expect(app.toasts.list.at(-1)?.message).toContain("no report"));
  wrote.mockRejectedValueOnce({ code: "cancelled", message: "stopped", detail: null });
  await user.click(screen.getByTestId("report-go"));
  await waitFor(() => expect(app.toasts.list.at(-1)?.message).toContain("was stopped"));
  expect(app.dialog).toBe("report");
});
