// The application without a project: its available actions, and a new project that asks for its content
// before its file.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import * as platform from "$platform";
import { commands } from "$bindings";
import { can } from "$stores/actions";
import { NAMED } from "$logic/action-table";
import { app } from "$stores/app.svelte";
import { keyMap } from "$stores/key-map.svelte";
import App from "../../App.svelte";
import { reset } from "../../mock/bindings";

let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  localStorage.clear();
  keyMap.reset();
  reset();
  app.toasts.list = [];
  app.dialog = null;
  await app.close();
  user = userEvent.setup();
  render(App);
  await screen.findByTestId("welcome-new");
});

it("lists the keys of what can be done there, and all of them when asked", async () => {
  await user.keyboard("?");
  const dialog = within(await screen.findByTestId("keys-dialog"));
  const now = NAMED.filter(({ id, key }) => key !== null && can(id));
  expect(dialog.getAllByRole("definition").map((one) => one.textContent)).toHaveLength(now.length + 1);
  expect(dialog.queryByRole("heading", { name: "Label" })).toBeNull();
  expect(dialog.getByText("Available actions")).toBeVisible();
  await user.click(dialog.getByTestId("keys-all"));
  expect(dialog.getByRole("heading", { name: "Label" })).toBeVisible();
});

it("offers no view in the palette", async () => {
  await user.keyboard("{Control>}k{/Control}");
  const palette = await screen.findByTestId("palette");
  expect(palette).toHaveTextContent("Available actions");
  expect(palette).not.toHaveTextContent("In this view");
});

it("asks for the question of a project before the file, and continues with the import", async () => {
  const where = vi.spyOn(platform, "chooseNewProject").mockResolvedValue("/home/you/Irony_ pilot.dissensus");
  const create = vi.spyOn(commands, "newProject");
  await user.click(screen.getByTestId("welcome-new"));
  await screen.findByTestId("new-project");
  expect(where).not.toHaveBeenCalled();
  expect(screen.getByTestId("new-project-make")).toBeDisabled();
  await user.type(screen.getByTestId("new-project-name"), "Irony: pilot");
  await user.click(screen.getByTestId("new-project-question"));
  await user.click(screen.getByTestId("new-project-make"));
  await waitFor(() => expect(create).toHaveBeenCalledWith("/home/you/Irony_ pilot.dissensus"));
  expect(where).toHaveBeenCalledWith("Irony- pilot");
  await waitFor(() => expect(app.dialog).toBe("question"));
});

it("keeps the entered values if no file was chosen", async () => {
  vi.spyOn(platform, "chooseNewProject").mockResolvedValue(null);
  await user.click(screen.getByTestId("welcome-new"));
  await user.type(await screen.findByTestId("new-project-name"), "Irony{Enter}");
  await waitFor(() => expect(platform.chooseNewProject).toHaveBeenCalledWith("Irony"));
  expect(screen.getByTestId("new-project-name")).toHaveValue("Irony");
  expect(app.project).toBeNull();
});

it("starts with a chosen file as with a dropped one", async () => {
  vi.spyOn(platform, "chooseImport").mockResolvedValue("/home/you/labels.csv");
  vi.spyOn(platform, "chooseNewProject").mockResolvedValue("/home/you/labels.dissensus");
  await user.click(screen.getByTestId("welcome-file"));
  await waitFor(() => expect(app.importing).toBe("/home/you/labels.csv"));
  app.importing = null;
});
