// Labels are exported for others unless an export for import is chosen.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import * as platform from "$platform";
import { app } from "$stores/app.svelte";
import { reset } from "../../mock/bindings";
import ExportDialog from "./ExportDialog.svelte";

beforeEach(async () => {
  vi.restoreAllMocks();
  reset();
  localStorage.clear();
  await app.openSample();
  app.toasts.list = [];
});

it("exports pseudonyms and no notes unless requested, and reports what was left out", async () => {
  const user = userEvent.setup();
  const wrote = vi.spyOn(commands, "exportProject");
  render(ExportDialog);
  expect(screen.getByTestId("export-share")).toBeChecked();
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(wrote).toHaveBeenCalledOnce());
  expect(wrote.mock.calls[0]?.slice(1)).toEqual([true, false, false]);
  expect(wrote.mock.calls[0]?.[0]).toContain("for others");
  const toast = app.toasts.list.at(-1);
  expect(toast?.detail).toContain("age: 3 values of 3 people left blank");
  expect(toast?.detail).toContain("2 people could still be identified");
  await user.click(screen.getByTestId("export-notes"));
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(wrote.mock.calls.at(-1)?.slice(1)).toEqual([true, true, false]));
});

it("keeps ids in a file that is to be imported again, whatever is selected", async () => {
  const user = userEvent.setup();
  const wrote = vi.spyOn(commands, "exportProject");
  render(ExportDialog);
  await user.click(screen.getByTestId("export-notes"));
  await user.click(screen.getByTestId("export-import"));
  await user.click(screen.getByTestId("export-decisions"));
  expect(screen.queryByTestId("export-notes")).toBeNull();
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(wrote.mock.calls.at(-1)?.slice(1)).toEqual([false, false, true]));
});

it("writes nothing if no file is chosen or it fails, and stays open", async () => {
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

/** Selects from a list by typing the beginning of the entry, as in a native one. */
async function choose(user: ReturnType<typeof userEvent.setup>, testid: string, name: string) {
  screen.getByTestId(testid).focus();
  await user.keyboard(name);
}

it("shows before the file dialog what another program's format contains and what is lost", async () => {
  const user = userEvent.setup();
  const looked = vi.spyOn(commands, "exportContents");
  const wrote = vi.spyOn(commands, "exportForProgram");
  const asked = vi.spyOn(platform, "chooseProgramFile");
  render(ExportDialog);
  await user.click(screen.getByTestId("export-program"));
  expect(await screen.findByTestId("export-format")).toHaveTextContent("Label Studio JSON");
  await waitFor(() => expect(screen.getByTestId("export-contents")).toHaveTextContent("Nothing is lost"));
  await choose(user, "export-format", "Table");
  await waitFor(() => expect(screen.getAllByTestId("export-loss")).toHaveLength(2));
  expect(screen.getAllByTestId("export-loss")[0]).toHaveTextContent("Notes: 4. The format has no place");
  await user.click(screen.getByTestId("export-ids"));
  await waitFor(() => expect(looked.mock.calls.at(-1)?.[0].pseudonyms).toBe(false));
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(wrote).toHaveBeenCalledOnce());
  expect(asked.mock.calls[0]?.slice(1)).toEqual(["Comments crowd-kit", "csv"]);
  const [path, request, replace] = wrote.mock.calls[0] ?? [];
  expect([path, replace]).toEqual(["/home/you/Comments crowd-kit.csv", true]);
  expect(request).toEqual({
    format: "crowd-kit",
    question: app.question?.name,
    pseudonyms: false,
    notes: false,
  });
  const toast = app.toasts.list.at(-1);
  expect(toast?.message).toMatch(/labels on .* texts by .* people written to Comments crowd-kit.csv/);
  expect(toast?.detail).toContain("Not in the file:\n– Notes: 4.");
  expect(toast?.persistent).toBe(false);
});

it("remembers the last choices, but not that people were named", async () => {
  const user = userEvent.setup();
  const first = render(ExportDialog);
  await user.click(screen.getByTestId("export-program"));
  await screen.findByTestId("export-format");
  await choose(user, "export-format", "Table");
  await user.click(screen.getByTestId("export-ids"));
  await waitFor(() => expect(screen.getByTestId("export-go")).toBeEnabled());
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(app.toasts.list).toHaveLength(1));
  first.unmount();
  render(ExportDialog);
  expect(screen.getByTestId("export-program")).toBeChecked();
  await waitFor(() => expect(screen.getByTestId("export-format")).toHaveTextContent("crowd-kit"));
  expect(screen.getByTestId("export-masked")).toBeChecked();
});

it("adds a missing extension, and replaces no file without confirmation", async () => {
  const user = userEvent.setup();
  const wrote = vi.spyOn(commands, "exportForProgram");
  vi.spyOn(platform, "chooseProgramFile").mockResolvedValueOnce("/home/you/mine");
  render(ExportDialog);
  await user.click(screen.getByTestId("export-program"));
  await screen.findByTestId("export-format");
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(wrote.mock.calls[0]?.[0]).toBe("/home/you/mine.json"));
  expect(wrote.mock.calls[0]?.[2]).toBe(false);
});

it("shows the newest preview only, and cancels outdated ones", async () => {
  const user = userEvent.setup();
  const real = commands.exportContents;
  let late: (() => void) | undefined;
  vi.spyOn(commands, "exportContents").mockImplementationOnce(async (request) => {
    await new Promise<void>((resolve) => (late = resolve));
    return { ...(await real(request)), answers: 1 };
  });
  const stopped = vi.spyOn(commands, "stopExportContents");
  const { unmount } = render(ExportDialog);
  await user.click(screen.getByTestId("export-import"));
  await waitFor(() => expect(screen.getByTestId("export-held")).not.toHaveTextContent("1 label on"));
  late?.();
  await new Promise((resolve) => setTimeout(resolve));
  expect(screen.getByTestId("export-held")).not.toHaveTextContent(/^1 label on/);
  vi.spyOn(commands, "exportContents").mockImplementationOnce(() => new Promise(() => undefined));
  await user.click(screen.getByTestId("export-share"));
  unmount();
  expect(stopped).toHaveBeenCalledOnce();
});

it("shows why nothing can be written in a format, and offers no file dialog", async () => {
  const user = userEvent.setup();
  vi.spyOn(commands, "exportContents").mockImplementation(async (request) => ({
    question: null,
    texts: 0,
    people: 0,
    answers: 0,
    losses: request.format
      ? [
          {
            reason: "spans",
            count: 9,
            message: "Answers that are spans: 9. The format has one label for an answer",
          },
        ]
      : [],
    suppressed: 0,
    left_blank: [],
    identifiable: 0,
  }));
  render(ExportDialog);
  await user.click(screen.getByTestId("export-program"));
  expect(await screen.findByTestId("export-loss")).toHaveTextContent("Answers that are spans: 9.");
  expect(screen.getByTestId("export-nothing")).toHaveTextContent("cannot represent any of the labels");
  expect(screen.getByTestId("export-go")).toBeDisabled();
});

it("writes predictions of the question on screen, and names who is predicted as the average annotator", async () => {
  const user = userEvent.setup();
  const wrote = vi.spyOn(commands, "exportPredictions");
  render(ExportDialog);
  await user.click(screen.getByTestId("export-predictions"));
  expect(screen.queryByTestId("export-contents")).toBeNull();
  expect(screen.getByTestId("export-rows")).toHaveTextContent(/texts and .* people: .* rows/);
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(wrote).toHaveBeenCalledOnce());
  expect(wrote.mock.calls[0]).toEqual(["/home/you/Comments predictions.csv", app.figured?.name]);
  expect(app.toasts.list.at(-1)?.detail).toContain("1 person without labels");
  wrote.mockRejectedValueOnce({ code: "cancelled", message: "stopped", detail: null });
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(app.toasts.list.at(-1)?.message).toBe("The export was stopped"));
});

it("summarises labels by text or by person, with columns that apply to the question", async () => {
  const user = userEvent.setup();
  const wrote = vi.spyOn(commands, "exportSummary");
  const asked = vi.spyOn(platform, "chooseExport");
  render(ExportDialog);
  await user.click(screen.getByTestId("export-summary"));
  expect(screen.getByTestId("summary-texts")).toBeChecked();
  expect(screen.queryByTestId("export-contents")).toBeNull();
  await choose(user, "summary-aggregate", "Dawid");
  await user.click(screen.getByTestId("summary-predicted"));
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(wrote).toHaveBeenCalledOnce());
  expect(asked.mock.calls.at(-1)?.[0]).toBe("Comments texts");
  expect(wrote.mock.calls[0]?.[1]).toEqual({
    of: "texts",
    question: app.question?.name,
    predicted: true,
    aggregate: "dawid-skene",
    pseudonyms: true,
  });
  // Labels are brought together for a text, and not for a person.
  await user.click(screen.getByTestId("summary-people"));
  expect(screen.queryByTestId("summary-aggregate")).toBeNull();
  await user.click(screen.getByTestId("summary-predicted"));
  await user.click(screen.getByTestId("export-go"));
  await waitFor(() => expect(wrote).toHaveBeenCalledTimes(2));
  expect(wrote.mock.calls[1]?.[1]).toMatchObject({ of: "people", aggregate: null, predicted: false });
  expect(asked.mock.calls.at(-1)?.[0]).toBe("Comments people for others");
  expect(app.toasts.list.at(-1)?.detail).toContain("2 people could still be identified");
});
