// Nothing is written before confirmation, and bad rows are explained at their position.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import type { ImportChoices, ImportPreview } from "$api/bindings";
import { reset } from "../../mock/bindings";
import AddQuestionDialog from "$views/questions/AddQuestionDialog.svelte";
import ImportDialog from "./ImportDialog.svelte";

const GUESS: ImportChoices = {
  columns: null,
  question: null,
  prompt: null,
  scale: null,
  levels: null,
  skip_bad: false,
  format: null,
  scales: [],
};

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  await app.openSample();
});

it("shows each bad row with its position, and waits for a decision", async () => {
  const user = userEvent.setup();
  const write = vi.spyOn(commands, "importFile");
  render(ImportDialog, { path: "/tmp/bad.csv" });
  await waitFor(() => expect(screen.getAllByTestId("import-problem")).toHaveLength(3));
  expect(screen.getAllByTestId("import-problem")[0]).toHaveTextContent(
    /Row 17, line 18, column score.*"seven"/,
  );
  expect(screen.getByTestId("import-confirm")).toBeDisabled();
  await user.click(screen.getByTestId("import-skip-bad"));
  expect(write).not.toHaveBeenCalled();
  await user.click(screen.getByTestId("import-confirm"));
  await waitFor(() => expect(write).toHaveBeenCalledOnce());
  expect(write.mock.calls[0]?.[1].skip_bad).toBe(true);
  await waitFor(() => expect(app.toasts.list.at(-1)?.detail).toContain("comments.rejected.csv"));
});

it("imports a clean file as it was guessed", async () => {
  const user = userEvent.setup();
  const write = vi.spyOn(commands, "importFile");
  render(ImportDialog, { path: "/tmp/clean.csv" });
  await waitFor(() => expect(screen.getByTestId("import-confirm")).toBeEnabled());
  expect(screen.queryByTestId("import-problem")).toBeNull();
  await waitFor(() => expect(screen.getByTestId("import-confirm")).toHaveFocus());
  await user.keyboard("{Enter}");
  await waitFor(() => expect(write.mock.calls[0]?.[1]).toMatchObject({ columns: null, skip_bad: false }));
});

it("imports nothing if the project already has all of it, and reports it", async () => {
  const found = await commands.importPreview("/tmp/clean.csv", GUESS);
  const known = { ...found, new_texts: 0, new_labels: 0, new_annotators: 0, repeats: 0, notices: [] };
  const bare = { ...known, columns: { ...found.columns, attributes: [] } };
  const look = vi.spyOn(commands, "importPreviewAsLastTime").mockResolvedValue(bare);
  const { unmount } = render(ImportDialog, { path: "/tmp/clean.csv" });
  expect(await screen.findByText("Nothing to import: the project already has all of this.")).toBeVisible();
  expect(screen.getByTestId("import-confirm")).toBeDisabled();
  unmount();
  // Data about existing people may be new.
  const attributes = { ...known, columns: { ...found.columns, attributes: ["age"] } };
  look.mockResolvedValue(attributes);
  render(ImportDialog, { path: "/tmp/clean.csv" });
  await waitFor(() => expect(screen.getByTestId("import-confirm")).toBeEnabled());
});

it.each([
  [1204, "findings"],
  [0, "label"],
] as const)("into an empty project with %i labels leads to %s", async (labels, view) => {
  const user = userEvent.setup();
  app.show(view === "label" ? "findings" : "label");
  if (app.project) app.project = { ...app.project, texts: 0 };
  const report = await commands.importFile("/tmp/clean.csv", GUESS);
  vi.spyOn(commands, "importFile").mockResolvedValue({ ...report, labels });
  render(ImportDialog, { path: "/tmp/clean.csv" });
  await waitFor(() => expect(screen.getByTestId("import-confirm")).toBeEnabled());
  await user.click(screen.getByTestId("import-confirm"));
  await waitFor(() => expect(app.view).toBe(view));
});

it("keeps the view after an import into a project with texts", async () => {
  const user = userEvent.setup();
  app.show("project");
  const done = vi.spyOn(app, "refresh");
  render(ImportDialog, { path: "/tmp/clean.csv" });
  await waitFor(() => expect(screen.getByTestId("import-confirm")).toBeEnabled());
  await user.click(screen.getByTestId("import-confirm"));
  await waitFor(() => expect(done).toHaveBeenCalled());
  expect(app.view).toBe("project");
});

it("names the recognised format, and contents that are not plain answers", async () => {
  render(ImportDialog, { path: "/tmp/export.json" });
  expect(await screen.findByTestId("import-format")).toHaveTextContent("Recognised as Label Studio JSON");
  const codes = screen.getAllByTestId("import-notice").map((notice) => notice.dataset.code);
  expect(codes).toEqual(["drafts", "skips"]);
  expect(screen.queryByTestId("import-role-question")).toBeNull();
  expect(screen.getByTestId("import-role-score")).toBeInTheDocument();
  expect(screen.queryByTestId("import-question")).toBeNull();
});

it("asks who gave the labels if the file names nobody", async () => {
  const user = userEvent.setup();
  const read = vi.spyOn(commands, "importPreview");
  render(ImportDialog, { path: "/tmp/nobody.csv" });
  const field = await screen.findByTestId("import-everybody");
  expect(screen.getByTestId("import-confirm")).toBeDisabled();
  await user.type(field, "Ada{Enter}");
  await user.tab();
  await waitFor(() => expect(read.mock.calls.at(-1)?.[1].columns?.annotator).toBe("=Ada"));
  await waitFor(() => expect(screen.getByTestId("import-confirm")).toBeEnabled());
  expect(screen.getByTestId("import-everybody")).toHaveValue("Ada");
});

it("reports what is replaced and where, before and after", async () => {
  const user = userEvent.setup();
  render(ImportDialog, { path: "/tmp/again.csv" });
  const notice = await screen.findByTestId("import-notice");
  expect(notice).toHaveTextContent("2 labels, of them 1 given in the window or by the command");
  expect(notice).toHaveTextContent("row 7: r1 on k1: 4 counts, not 3");
  await user.click(screen.getByTestId("import-confirm"));
  await waitFor(() => expect(app.toasts.list).toHaveLength(1));
  const toast = app.toasts.list[0];
  expect(toast?.message).toBe("Imported 212 texts, 6 annotators, 1,204 labels");
  expect(toast?.detail?.split("\n")).toEqual([
    expect.stringContaining("Replaced in the project: 2 labels"),
    "– row 7: r1 on k1: 4 counts, not 3",
    "– row 19: r2 on k2: 1 counts, not 2",
    "3 rows repeated existing labels.",
    "2 rows had no label.",
  ]);
  expect(toast?.persistent).toBe(false);
});

it("names the levels of two questions that look alike", async () => {
  const whole = await commands.importPreview("/tmp/clean.csv", GUESS);
  const message = 'Levels that differ in upper and lower case or spaces only: "No" and "no"';
  const notice = { code: "level-spellings", count: 1, message, places: [], fix: null, fix_label: null };
  vi.spyOn(commands, "importPreview").mockResolvedValue({ ...whole, notices: [notice, { ...notice }] });
  render(ImportDialog, { path: "/tmp/two.csv" });
  const shown = await screen.findAllByTestId("import-notice");
  expect(shown.map((one) => one.textContent?.trim())).toEqual([`${message}.`, `${message}.`]);
});

it("closes a short report by itself, and uses the singular", async () => {
  const user = userEvent.setup();
  const whole = await commands.importPreview("/tmp/one.csv", GUESS);
  vi.spyOn(commands, "importPreview").mockResolvedValue({
    ...whole,
    new_texts: 1,
    new_annotators: 1,
    new_labels: 1,
  });
  render(ImportDialog, { path: "/tmp/one.csv" });
  const counts = await screen.findByRole("list", { name: "What would be added" });
  expect(counts).toHaveTextContent(/1 new text ?1 new annotator ?1 new label from/);
  await user.click(screen.getByTestId("import-confirm"));
  await waitFor(() => expect(app.toasts.list[0]?.detail).toContain("3 rows repeated existing labels"));
  expect(app.toasts.list[0]?.persistent).toBe(false);
});

it("shows why a file cannot be read, and disables the import", async () => {
  vi.spyOn(commands, "importPreview").mockRejectedValue({
    code: "not-utf8",
    message: "The file is not UTF-8 at byte 812.",
    detail: "Save it as UTF-8.",
  });
  render(ImportDialog, { path: "/tmp/latin.csv" });
  await waitFor(() => expect(screen.getByTestId("import-stopped")).toHaveTextContent(/byte 812.*Save it/));
  expect(screen.getByTestId("import-confirm")).toBeDisabled();
});

it("asks a new question by keyboard alone", async () => {
  const user = userEvent.setup();
  const add = vi.spyOn(commands, "addQuestion");
  render(AddQuestionDialog);
  await waitFor(() => expect(screen.getByTestId("question-prompt")).toHaveFocus());
  await user.keyboard("Is it kind?{Tab}kind{Enter}");
  await waitFor(() => expect(add).toHaveBeenCalledOnce());
  expect(add.mock.calls[0]?.slice(0, 2)).toEqual(["kind", "Is it kind?"]);
});

it("sets the focus as the page requests", async () => {
  const wanted = document.body.appendChild(document.createElement("input"));
  wanted.dataset["autofocus"] = "true";
  const { unmount } = render(AddQuestionDialog);
  await waitFor(() => expect(screen.getByTestId("question-prompt")).toHaveFocus());
  unmount();
  await waitFor(() => expect(wanted).toHaveFocus());
  wanted.remove();
});

it("uses the previous columns with a notice, and returns to the detected ones on request", async () => {
  const user = userEvent.setup();
  const write = vi.spyOn(commands, "importFile");
  const read = vi.spyOn(commands, "importPreview");
  const { unmount } = render(ImportDialog, { path: "/tmp/as last time.csv" });
  expect(await screen.findByTestId("import-as-last-time")).toHaveTextContent("Settings of the last import");
  expect(screen.getByTestId("import-role-source")).toHaveTextContent("Group");
  await user.click(screen.getByTestId("import-confirm"));
  await waitFor(() => expect(write.mock.calls[0]?.[1].columns?.group).toBe("source"));
  unmount();
  render(ImportDialog, { path: "/tmp/as last time.csv" });
  await user.click(await screen.findByTestId("import-use-guess"));
  await waitFor(() => expect(read.mock.calls.at(-1)?.[1].columns).toBeNull());
  await waitFor(() => expect(screen.queryByTestId("import-as-last-time")).toBeNull());
  expect(screen.getByTestId("import-role-source")).toHaveTextContent("Text metadata");
});

it("offers to undo an import right after it", async () => {
  const user = userEvent.setup();
  render(ImportDialog, { path: "/tmp/clean.csv" });
  await waitFor(() => expect(screen.getByTestId("import-confirm")).toBeEnabled());
  await user.click(screen.getByTestId("import-confirm"));
  await waitFor(() => expect(app.toasts.list.at(-1)?.act?.label).toBe("Remove this import…"));
  app.toasts.list.at(-1)?.act?.run();
  expect([app.dialog, app.removing]).toEqual(["remove", "last_import"]);
  app.dialog = null;
});

/** Opens the dialog on a file of this form; returns the spy on the preview. */
async function inForm(form: Partial<ImportPreview>) {
  const whole = await commands.importPreview("/tmp/clean.csv", GUESS);
  const found = { ...whole, ...form };
  const read = vi.spyOn(commands, "importPreview").mockResolvedValue(found);
  vi.spyOn(commands, "importPreviewAsLastTime").mockResolvedValue(found);
  read.mockClear();
  render(ImportDialog, { path: "/tmp/clean.csv" });
  await waitFor(() => expect(screen.getByTestId("import-confirm")).toBeEnabled());
  return read;
}

/** Takes the option that begins so, by its letters. */
async function choose(testid: string, letters: string) {
  const user = userEvent.setup();
  screen.getByTestId(testid).focus();
  await user.keyboard(letters);
}

it("reads a file in the encoding that is chosen, with columns guessed anew", async () => {
  const read = await inForm({ encoding: "windows-1252" });
  expect(screen.queryByTestId("import-sheet")).toBeNull();
  await choose("import-encoding", "Gree");
  await waitFor(() =>
    expect(read.mock.calls.at(-1)?.[1]).toMatchObject({
      encoding: "windows-1253",
      columns: null,
      levels: null,
    }),
  );
});

it("reads the chosen sheet of a workbook", async () => {
  const read = await inForm({ sheet: "Answers", sheets: ["Answers", "More"] });
  expect(screen.queryByTestId("import-encoding")).toBeNull();
  await choose("import-sheet", "More");
  await waitFor(() => expect(read.mock.calls.at(-1)?.[1]).toMatchObject({ sheet: "More" }));
});

it("releases the unpacked file once it is closed", async () => {
  const forgot = vi.spyOn(commands, "forgetOpened");
  const shown = render(ImportDialog, { path: "/home/you/labels.csv" });
  await screen.findByTestId("import-format");
  expect(forgot).not.toHaveBeenCalled();
  shown.unmount();
  expect(forgot).toHaveBeenCalledOnce();
});
