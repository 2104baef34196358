// A table with several possible readings is read as chosen.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { reset } from "../../mock/bindings";
import { tableOf } from "../../mock/import-tables";
import ImportDialog from "./ImportDialog.svelte";

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  await app.openSample();
});

const path = "/tmp/several ways.csv";
const [first, second] = tableOf(path).readings;

it("asks how to read a table if no reading is clearly better", async () => {
  const user = userEvent.setup();
  const read = vi.spyOn(commands, "importPreview");
  const write = vi.spyOn(commands, "importFile");
  render(ImportDialog, { path });
  const radios = await screen.findAllByRole("radio");
  expect(screen.getByRole("radiogroup")).toHaveAccessibleName("How should this table be read?");
  expect(radios).toHaveLength(3);
  for (const radio of radios) expect(radio).not.toBeChecked();
  expect(screen.getByText("Choose how to read the table.")).toBeVisible();
  expect(screen.getByTestId("import-confirm")).toBeDisabled();
  expect(screen.queryByTestId("import-examples")).toBeNull();
  // What it is and why, and the same for the command.
  expect(screen.getByTestId("import-reading-0")).toHaveTextContent(first!.title);
  expect(screen.getByTestId("import-reading-0")).toHaveTextContent(first!.reasons[0]!);
  expect(screen.getByTestId("import-reading-0")).toHaveTextContent("--annotator-columns anna");
  await waitFor(() => expect(radios[0]).toHaveFocus());

  await user.keyboard("{ArrowDown}");
  await waitFor(() => expect(read.mock.calls.at(-1)?.[1].columns).toEqual(second!.columns));
  await waitFor(() => expect(screen.getAllByRole("radio")[1]).toBeChecked());
  await waitFor(() => expect(screen.getByTestId("import-confirm")).toBeEnabled());
  await user.click(screen.getByTestId("import-confirm"));
  await waitFor(() => expect(write.mock.calls[0]?.[1].columns).toEqual(second!.columns));
});

it("marks no reading once columns are changed", async () => {
  const user = userEvent.setup();
  render(ImportDialog, { path });
  await user.click(await screen.findByTestId("import-reading-0"));
  await waitFor(() => expect(screen.getAllByRole("radio")[0]).toBeChecked());
  screen.getByTestId("import-role-carla").focus();
  await user.keyboard("Left");
  await waitFor(() => expect(screen.getByTestId("import-role-carla")).toHaveTextContent("Left out"));
  for (const radio of screen.getAllByRole("radio")) expect(radio).not.toBeChecked();
  expect(screen.getByTestId("import-confirm")).toBeEnabled();
});

it("shows no cards for a single reading", async () => {
  render(ImportDialog, { path: "/tmp/clean.csv" });
  await screen.findByTestId("import-format");
  expect(screen.queryByTestId("import-readings")).toBeNull();
});

it("applies the fix of a notice", async () => {
  const user = userEvent.setup();
  const read = vi.spyOn(commands, "importPreview");
  render(ImportDialog, { path: "/tmp/several questions.csv" });
  const fix = await screen.findByTestId("import-fix");
  expect(fix).toHaveTextContent("Read these as missing");
  await user.click(fix);
  await waitFor(() => expect(read.mock.calls.at(-1)?.[1].columns?.missing).toEqual(["NA"]));
  await waitFor(() => expect(screen.queryByTestId("import-fix")).toBeNull());
  expect(screen.getByTestId("import-missing")).toHaveValue("NA");
});
