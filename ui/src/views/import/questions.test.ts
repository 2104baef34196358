// Scales of several questions, and the import report.
import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { reset } from "../../mock/bindings";
import ToastStack from "$components/ToastStack.svelte";
import ImportDialog from "./ImportDialog.svelte";
import ImportedDialog from "./ImportedDialog.svelte";

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  app.imported = null;
  await app.openSample();
});

const path = "/tmp/several questions.csv";

/** Rows of a list, each ten pixels high: there is no layout here. */
function layOut() {
  vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function (this: Element) {
    const at = [...(this.parentElement?.children ?? [])].indexOf(this);
    return { top: at * 10, bottom: at * 10 + 10, height: 10, left: 0, right: 100, width: 100 } as DOMRect;
  });
}

it("lists several questions, and puts the levels of one in order by dragging", async () => {
  const user = userEvent.setup();
  const read = vi.spyOn(commands, "importPreview");
  render(ImportDialog, { path });
  const third = await screen.findByTestId("import-question-Q3_harm");
  expect(screen.getByRole("heading", { name: "4 questions that these labels answer" })).toBeVisible();
  expect(third).toHaveTextContent(/Q3_harm Single choice mild: 301 · none: 422 · severe: 260/);
  expect(screen.queryByTestId("import-question")).toBeNull();
  await user.click(within(third).getByRole("button", { expanded: false }));
  expect(within(third).getByRole("button", { expanded: true })).toBeInTheDocument();
  layOut();
  const grip = screen.getByTestId("grip-of-scale-level-2");
  const calls = read.mock.calls.length;
  await fireEvent.pointerDown(grip, { button: 0, clientY: 15 });
  await fireEvent.pointerMove(grip, { clientY: 4 });
  expect(screen.getByTestId("scale-level-1")).toHaveValue("none");
  expect(read.mock.calls.length).toBe(calls);
  await fireEvent.pointerUp(grip, { clientY: 4 });
  const scale = { question: "Q3_harm", kind: "choice", levels: ["none", "mild", "severe"] };
  await waitFor(() => expect(read.mock.calls.at(-1)?.[1].scales).toEqual([scale]));
  await waitFor(() => expect(third).toHaveTextContent("none: 301"));
  expect(third).not.toHaveTextContent("guessed");
});

it("puts levels in order by key, and keeps what was chosen for other questions", async () => {
  const user = userEvent.setup();
  const read = vi.spyOn(commands, "importPreview");
  render(ImportDialog, { path });
  const open = async (name: string) =>
    user.click(within(await screen.findByTestId(`import-question-${name}`)).getAllByRole("button")[0]!);
  await open("Q2_harm");
  screen.getByTestId("scale-level-1").focus();
  await user.keyboard("{Alt>}{ArrowDown}{/Alt}");
  await waitFor(() => expect(read.mock.calls.at(-1)?.[1].scales).toHaveLength(1));
  await open("Q3_harm");
  await waitFor(() => expect(screen.getByTestId("scale-level-3")).toHaveValue("severe"));
  screen.getByTestId("scale-kind").focus();
  await user.keyboard("Rat");
  await waitFor(() =>
    expect(read.mock.calls.at(-1)?.[1].scales).toEqual([
      { question: "Q2_harm", kind: "choice", levels: ["yes", "no"] },
      { question: "Q3_harm", kind: "ordinal", levels: ["mild", "none", "severe"] },
    ]),
  );
});

it("ignores a cancelled drag, and one that ends where it started", async () => {
  const read = vi.spyOn(commands, "importPreview");
  render(ImportDialog, { path: "/tmp/clean.csv" });
  const grip = await screen.findByTestId("grip-of-scale-level-1");
  layOut();
  await fireEvent.pointerDown(grip, { button: 0, clientY: 5 });
  await fireEvent.pointerMove(grip, { clientY: 900 });
  expect(screen.getByTestId("scale-level-5")).toHaveValue("1");
  await fireEvent.pointerCancel(grip);
  expect(screen.getByTestId("scale-level-5")).toHaveValue("5");
  const calls = read.mock.calls.length;
  await fireEvent.pointerDown(grip, { button: 0, clientY: 5 });
  await fireEvent.pointerUp(grip, { clientY: 5 });
  expect(read.mock.calls.length).toBe(calls);
});

it("lists questions of a tool's file with fixed scales", async () => {
  render(ImportDialog, { path: "/tmp/export.json" });
  const topics = await screen.findByTestId("import-question-topics");
  expect(within(topics).queryByRole("button")).toBeNull();
});

it("shows before and after the import what each row, column, question and person is", async () => {
  const user = userEvent.setup();
  const { unmount } = render(ImportDialog, { path });
  await user.click(await screen.findByTestId("import-rows"));
  expect(screen.getByTestId("import-account")).toHaveTextContent(/1,214 rows.*read ?1,204/);
  await user.click(screen.getByTestId("import-confirm"));
  await waitFor(() => expect(app.toasts.list.at(-1)?.more?.label).toBe("Details"));
  expect(app.toasts.list.at(-1)?.act?.label).toBe("Remove this import…");
  unmount();

  const stack = render(ToastStack, { toasts: app.toasts });
  await user.click(screen.getByTestId("toast-more"));
  expect(app.toasts.list).toEqual([]);
  stack.unmount();
  const report = app.imported!;
  const { account } = report;
  const rows = account.read + account.repeated + account.changed + account.without_label + account.dropped;
  expect(rows).toBe(account.rows);
  const close = vi.fn();
  render(ImportedDialog, { report, onclose: close });
  expect(screen.getAllByTestId("import-dropped").map((line) => line.textContent?.trim())).toEqual([
    expect.stringMatching(/The row is empty\s+4 rows, first row 88/),
    expect.stringMatching(/The text is empty\s+1 row, row 203/),
  ]);
  expect(screen.getByTestId("import-uses")).toHaveTextContent("option “sport” of the question “topic”");
  expect(screen.getByTestId("import-asked")).toHaveTextContent("no: 301 · yes: 422");
  expect(screen.getByTestId("import-people")).toHaveTextContent(/r1 ?412 labels/);
  await user.click(screen.getByTestId("imported-take-out"));
  expect(close).toHaveBeenCalledOnce();
  expect([app.dialog, app.removing]).toEqual(["remove", "last_import"]);
  app.dialog = null;
});
