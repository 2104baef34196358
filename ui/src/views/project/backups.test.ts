// Backups: listed, compared, restored as a new file in two clicks, made and deleted; and what fails.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import * as platform from "$platform";
import { perform } from "$stores/actions";
import { app } from "$stores/app.svelte";
import App from "../../App.svelte";
import { reset } from "../../mock/bindings";

beforeEach(async () => {
  reset();
  vi.restoreAllMocks();
  app.toasts.list = [];
  app.dialog = null;
  await app.openSample();
  await app.start();
});

async function shown() {
  render(App);
  await waitFor(() => expect(screen.getByTestId("nav-project")).toBeVisible());
  await app.start();
  perform("project.backups");
  return screen.findAllByTestId("backup");
}

it("restores a backup as a new file in two clicks, showing first what changed since", async () => {
  const user = userEvent.setup();
  const restore = vi.spyOn(commands, "restoreBackup");
  const open = vi.spyOn(commands, "openProject");
  const [first] = await shown();
  await user.click(within(first!).getByTestId("backup-restore"));
  const changes = await screen.findByTestId("backup-changes-list");
  expect(changes).toHaveTextContent("Ada");
  expect(changes).toHaveTextContent("5 skips, flags and notes");
  expect(screen.getByTestId("backup-ask")).toHaveTextContent("The current file stays as it is");
  await user.click(screen.getByTestId("backup-confirm"));
  await waitFor(() => expect(app.dialog).toBeNull());
  expect(restore).toHaveBeenCalledOnce();
  const path = open.mock.calls[0]?.[0] ?? "";
  expect(path).toMatch(/Comments \(backup \d{4}-\d\d-\d\d\)\.dissensus$/);
  await waitFor(() => expect(app.toasts.list[0]?.detail).toContain(path));
  expect(app.toasts.list[0]?.detail).toContain("The file from before is unchanged");
});

it("shows what changed, and only the backup's answers with what to do", async () => {
  const user = userEvent.setup();
  const rows = await shown();
  expect(rows).toHaveLength(3);
  expect(rows[0]).toHaveTextContent("automatic");
  expect(rows[1]).toHaveTextContent("by hand");
  const button = within(rows[2]!).getByTestId("backup-changes");
  await user.click(button);
  expect(button).toHaveAttribute("aria-expanded", "true");
  const changes = await screen.findByTestId("backup-changes-list");
  expect(within(changes).getAllByRole("row")).toHaveLength(4);
  expect(changes).toHaveTextContent("Only in the backup");
  expect(changes).toHaveTextContent("it was replaced by an older one");
  await user.click(button);
  expect(screen.queryByTestId("backup-changes-list")).toBeNull();
});

it("makes a backup, in which nothing has changed, and deletes one after a question", async () => {
  const user = userEvent.setup();
  await shown();
  await user.click(screen.getByTestId("backup-now"));
  await waitFor(() => expect(screen.getAllByTestId("backup")).toHaveLength(4));
  const [newest] = screen.getAllByTestId("backup");
  await user.click(within(newest!).getByTestId("backup-changes"));
  expect(await screen.findByTestId("backup-changes-list")).toHaveTextContent("Nothing has changed");
  await user.click(within(newest!).getByTestId("backup-delete"));
  expect(screen.getByTestId("backup-back"), "Enter does not delete").toHaveFocus();
  await user.click(screen.getByTestId("backup-back"));
  expect(screen.getAllByTestId("backup")).toHaveLength(4);
  await user.click(within(screen.getAllByTestId("backup")[0]!).getByTestId("backup-delete"));
  await user.click(screen.getByTestId("backup-confirm"));
  await waitFor(() => expect(screen.getAllByTestId("backup")).toHaveLength(3));
});

it("switches automatic backups off and on", async () => {
  const user = userEvent.setup();
  const save = vi.spyOn(commands, "saveSettings");
  await shown();
  const toggle = screen.getByTestId("backups-automatic");
  expect(toggle).toHaveAttribute("aria-checked", "true");
  await user.click(toggle);
  await waitFor(() => expect(save).toHaveBeenCalledWith(expect.objectContaining({ backups: false })));
});

it("asks for a place where the folder of the project is gone", async () => {
  const user = userEvent.setup();
  const restore = vi.spyOn(commands, "restoreBackup");
  restore.mockRejectedValueOnce({ code: "restore-folder", message: "no folder", detail: null });
  const choose = vi.spyOn(platform, "chooseNewProject").mockResolvedValueOnce("/home/you/back.dissensus");
  const [first] = await shown();
  await user.click(within(first!).getByTestId("backup-restore"));
  await user.click(screen.getByTestId("backup-confirm"));
  await waitFor(() => expect(app.dialog).toBeNull());
  expect(choose).toHaveBeenCalledWith("Comments");
  expect(restore).toHaveBeenLastCalledWith(expect.any(String), "/home/you/back.dissensus");
});

it("says why a list or a restore failed, and offers to try again", async () => {
  const user = userEvent.setup();
  const list = vi.spyOn(commands, "backups");
  list.mockRejectedValueOnce({ code: "io", message: "reading the folder failed", detail: null });
  render(App);
  await waitFor(() => expect(screen.getByTestId("nav-project")).toBeVisible());
  await app.start();
  perform("project.backups");
  expect(await screen.findByTestId("backups-problem")).toHaveTextContent("Reading the folder failed");
  await user.click(screen.getByText("Try again"));
  const [first] = await screen.findAllByTestId("backup");
  vi.spyOn(commands, "restoreBackup").mockRejectedValueOnce({
    code: "project-damaged",
    message: "the backup is damaged",
    detail: null,
  });
  await user.click(within(first!).getByTestId("backup-restore"));
  await user.click(screen.getByTestId("backup-confirm"));
  expect(await screen.findByTestId("backup-failure")).toHaveTextContent("The backup is damaged");
  expect(screen.getByTestId("backup-confirm"), "it can be tried again").toBeEnabled();
  await user.click(screen.getByTestId("backup-back"));
  expect(await within(screen.getAllByTestId("backup")[0]!).findByTestId("backup-restore")).toHaveFocus();
});

it("says once that the automatic backup failed", async () => {
  const notice = "The automatic backup of this project failed: the disk is full.";
  const project = await commands.project();
  vi.spyOn(commands, "project").mockResolvedValue({ ...project!, backup_notice: notice });
  await app.refresh();
  await app.refresh();
  expect(app.toasts.list.map(({ detail }) => detail)).toEqual([notice]);
  vi.spyOn(commands, "backups").mockResolvedValue({ folder: "/f", sync_notice: "Synced.", backups: [] });
  render(App);
  perform("project.backups");
  expect(await screen.findByTestId("backups-failed")).toHaveTextContent(notice);
  expect(screen.getByTestId("backups-synced")).toHaveTextContent("Synced.");
  expect(screen.getByTestId("backups-none")).toBeVisible();
});

it("lists all projects where none is open", async () => {
  await app.close();
  render(App);
  await screen.findByTestId("welcome-backups");
  await userEvent.setup().click(screen.getByTestId("welcome-backups"));
  const rows = await screen.findAllByTestId("backup");
  expect(rows[0]).toHaveTextContent("/home/you/Documents/Comments.dissensus");
  expect(screen.queryByTestId("backup-changes")).toBeNull();
  expect(screen.queryByTestId("backup-now")).toBeNull();
});
