// Columns are selected by their headers, and all of them get a role at once.
import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import type { ColumnChoices } from "$api/bindings";
import * as platform from "$platform";
import { reset } from "../../mock/bindings";
import ImportDialog from "./ImportDialog.svelte";

beforeEach(async () => {
  reset();
  await app.openSample();
});

const header = (column: string) => screen.getByTestId(`import-column-${column}`);
const pressed = () =>
  screen.queryAllByRole("button", { pressed: true }).flatMap((button) => {
    const id = button.dataset.testid ?? "";
    return id.startsWith("import-column-") ? [id.slice("import-column-".length)] : [];
  });

/** Opens the dialog; gives the columns that were read last. */
async function opened(path: string): Promise<() => ColumnChoices | null | undefined> {
  const read = vi.spyOn(commands, "importPreview");
  render(ImportDialog, { path });
  await screen.findByTestId("import-format");
  return () => read.mock.calls.at(-1)?.[1].columns;
}

/** Takes the role that begins so. */
async function choose(testid: string, letters: string) {
  const user = userEvent.setup();
  screen.getByTestId(testid).focus();
  await user.keyboard(letters);
}

it("selects headers by dragging, and sets the role of all of them", async () => {
  const user = userEvent.setup();
  const columns = await opened("/tmp/several questions.csv");
  await user.pointer([
    { keys: "[MouseLeft>]", target: header("Q1_harm") },
    { target: header("Q2_harm") },
    { target: header("Q3_harm") },
    { keys: "[/MouseLeft]" },
    { target: header("topic_sport") },
  ]);
  expect(pressed()).toEqual(["Q1_harm", "Q2_harm", "Q3_harm"]);
  expect(screen.getByTestId("import-selected")).toHaveTextContent("3 columns selected");
  // The menu of any selected one is that of all.
  await choose("import-role-Q2_harm", "A per");
  await waitFor(() =>
    expect(columns()?.answers.flatMap(({ annotator }) => annotator ?? [])).toEqual([
      "=Q1_harm",
      "=Q2_harm",
      "=Q3_harm",
    ]),
  );
  await waitFor(() =>
    expect(screen.getByTestId("import-role-Q3_harm")).toHaveTextContent("A person’s answers"),
  );
});

it("selects by keyboard alone", async () => {
  const user = userEvent.setup();
  const columns = await opened("/tmp/several questions.csv");
  expect(header("id")).toHaveAttribute("tabindex", "0");
  header("id").focus();
  await user.keyboard("{ArrowRight}{ArrowRight}{ArrowRight}");
  expect(header("Q1_harm")).toHaveFocus();
  expect(pressed()).toEqual([]);
  await user.keyboard("{Shift>}{ArrowRight}{/Shift}");
  expect(pressed()).toEqual(["Q1_harm", "Q2_harm"]);
  await user.keyboard("{ArrowRight}{ArrowRight}[Space]");
  expect(pressed()).toEqual(["Q1_harm", "Q2_harm", "topic_politics"]);
  await choose("import-role-of-selected", "Left");
  await waitFor(() => expect(columns()?.ignored).toEqual(["Q1_harm", "Q2_harm", "topic_politics"]));
  header("id").focus();
  await user.keyboard("{Control>}a{/Control}");
  expect(screen.getByTestId("import-selected")).toHaveTextContent("11 columns selected");
  await user.click(screen.getByRole("button", { name: "Clear selection" }));
  expect(pressed()).toEqual([]);
});

it("adds to the selection with Shift and Ctrl, and changes an unselected column alone", async () => {
  const columns = await opened("/tmp/several questions.csv");
  await fireEvent.pointerDown(header("Q1_harm"));
  await fireEvent.pointerUp(header("Q1_harm"));
  await fireEvent.pointerDown(header("Q3_harm"), { shiftKey: true });
  await fireEvent.pointerDown(header("topic_sport"), { ctrlKey: true });
  expect(pressed()).toEqual(["Q1_harm", "Q2_harm", "Q3_harm", "topic_sport"]);
  await choose("import-role-rater_age", "Left");
  await waitFor(() => expect(columns()?.ignored).toEqual(["rater_age"]));
});

it("sets the role of all similar columns", async () => {
  const user = userEvent.setup();
  const columns = await opened("/tmp/several questions.csv");
  await choose("import-role-topic_sport", "Answers");
  const same = await screen.findByTestId("import-same-for-alike");
  expect(same).toHaveTextContent("Apply to all 3 columns like \u2068topic_sport\u2069");
  await user.click(same);
  await waitFor(() =>
    expect(columns()?.answers.filter(({ column }) => column.startsWith("topic"))).toEqual([
      expect.objectContaining({ question: "topic_politics", option: null }),
      expect.objectContaining({ question: "topic_sport", option: null }),
      expect.objectContaining({ question: "topic_weather", option: null }),
    ]),
  );
  await waitFor(() => expect(screen.queryByTestId("import-same-for-alike")).toBeNull());
  await fireEvent.pointerDown(header("topic_sport"));
  await user.click(screen.getByTestId("import-select-alike"));
  expect(pressed()).toEqual(["topic_politics", "topic_sport", "topic_weather"]);
});

it("asks for the name of a question with options, and for the annotator of a column", async () => {
  const user = userEvent.setup();
  const columns = await opened("/tmp/several questions.csv");
  const name = screen.getByLabelText("Name of the question with these options");
  await user.clear(name);
  await user.type(name, "subject{Enter}");
  await user.tab();
  await waitFor(() =>
    expect(columns()?.answers.filter(({ question }) => question === "subject")).toHaveLength(3),
  );
  await fireEvent.pointerDown(header("Q1_harm"));
  await user.type(screen.getByTestId("import-answer-person"), "Ada{Enter}");
  await user.tab();
  await waitFor(() => expect(columns()?.answers[0]?.annotator).toBe("=Ada"));
});

it("renders few columns of a wide table, and changes all by a pattern", async () => {
  const user = userEvent.setup();
  const columns = await opened("/tmp/wide.csv");
  expect(screen.getAllByRole("columnheader")).toHaveLength(60);
  expect(screen.getByTestId("import-more-columns")).toHaveTextContent("and 4,940 more columns");
  await user.type(screen.getByTestId("import-find-columns"), "rater_*99");
  expect(screen.getByTestId("import-columns-found")).toHaveTextContent("49 of 5,000 columns");
  expect(screen.queryByTestId("import-more-columns")).toBeNull();
  await user.click(screen.getByTestId("import-select-found"));
  await choose("import-role-of-selected", "Left");
  await waitFor(() => expect(columns()?.ignored).toHaveLength(49));
  expect(columns()?.answers).toHaveLength(4949);
});

it("reads cells as lists if they look like lists", async () => {
  const user = userEvent.setup();
  const whole = await commands.importPreviewAsLastTime("/tmp/clean.csv");
  const rows = whole.rows.map((row) => row.map((cell, at) => (at === 3 ? "[1, 2, 5]" : cell)));
  vi.spyOn(commands, "importPreviewAsLastTime").mockResolvedValue({ ...whole, rows });
  const columns = await opened("/tmp/clean.csv");
  await fireEvent.pointerDown(header("rater_age"));
  expect(screen.queryByTestId("import-lists")).toBeNull();
  await fireEvent.pointerDown(header("score"));
  await user.click(screen.getByTestId("import-lists"));
  await waitFor(() => expect(columns()?.lists).toEqual(["score"]));
});

it("reads missing values, case, times and attributes as chosen", async () => {
  const user = userEvent.setup();
  const columns = await opened("/tmp/several questions.csv");
  await user.type(screen.getByTestId("import-missing"), "NA, -{Enter}");
  await user.tab();
  await waitFor(() => expect(columns()?.missing).toEqual(["NA", "-"]));
  await user.click(screen.getByTestId("import-fold-case"));
  await waitFor(() => expect(columns()?.fold_case).toBe(true));
  expect(screen.queryByTestId("import-decimal-comma")).toBeNull();
  await choose("import-conflicts", "Most");
  await waitFor(() => expect(columns()?.attribute_conflicts).toBe("most-frequent"));
  await choose("import-time-format", "Day");
  await waitFor(() => expect(columns()?.time_format).toBe("day-first"));
  expect(columns()?.missing).toEqual(["NA", "-"]);
});

it("reads times by a pattern", async () => {
  const user = userEvent.setup();
  const columns = await opened("/tmp/several questions.csv");
  await choose("import-time-format", "Patt");
  await user.type(await screen.findByTestId("import-time-pattern"), "%d %b{Enter}");
  await user.tab();
  await waitFor(() => expect(columns()?.time_format).toBe("%d %b"));
});

it("joins texts from another file", async () => {
  const user = userEvent.setup();
  const choose = vi.spyOn(platform, "chooseTexts").mockResolvedValue("/tmp/bodies.csv");
  const columns = await opened("/tmp/no texts.csv");
  expect(screen.getByTestId("import-stopped")).toHaveTextContent("No column has the texts");
  await user.click(screen.getByTestId("import-join"));
  expect(choose).toHaveBeenCalledOnce();
  await waitFor(() =>
    expect(columns()?.join).toEqual({ path: "/tmp/bodies.csv", on: "comment_id", other: null }),
  );
  await user.type(await screen.findByTestId("import-join-other"), "id{Enter}");
  await user.tab();
  await waitFor(() => expect(columns()?.join?.other).toBe("id"));
  await waitFor(() => expect(screen.getByTestId("import-confirm")).toBeEnabled());
  await user.click(screen.getByTestId("import-join-remove"));
  await waitFor(() => expect(columns()?.join).toBeNull());
});

it("shows texts with their answers as they will be, by question", async () => {
  await opened("/tmp/several questions.csv");
  const shown = within(screen.getByTestId("import-examples"));
  expect(shown.getAllByText("Q3_harm")).toHaveLength(3);
  expect(shown.getByText("k1")).toBeVisible();
  expect(shown.getAllByText("r1")[0]?.parentElement).toHaveTextContent("r1 no");
});
