// A read-only project: it says so, and disabled actions state the reason.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { can } from "./actions";
import { app } from "./app.svelte";
import { t } from "$messages/messages.svelte";
import * as platform from "$platform";
import App from "../App.svelte";
import { reset } from "../mock/bindings";
import StudySettingsDialog from "$views/study/StudySettingsDialog.svelte";
import ProjectView from "$views/project/ProjectView.svelte";
import StudyView from "$views/study/StudyView.svelte";

beforeEach(async () => {
  reset();
  await app.start();
});

afterEach(async () => {
  cleanup();
  await app.close();
});

it("offers read-only opening if a project cannot be opened for writing, and then shows that it is read-only", async () => {
  const user = userEvent.setup();
  render(App);
  expect(await app.open("/home/you/Councils 2026.dissensus")).toBe(false);
  await user.click(await screen.findByTestId("toast-act"));
  await waitFor(() => expect(screen.getByTestId("status-read-only")).toBeVisible());
  app.show("label");
  await waitFor(() => expect(screen.getByTestId("label-read-only")).toBeVisible());
  expect(can("study.plan") || can("data.import") || can("label.undo")).toBe(false);
  expect(can("data.export") && can("study.log") && can("project.to-write")).toBe(true);
});

it("offers opening for writing if the project has to be upgraded first", async () => {
  const user = userEvent.setup();
  render(App);
  const read = vi.spyOn(commands, "openProjectToRead").mockRejectedValueOnce({
    code: "project-older",
    message: "p.dissensus has the earlier project format 14",
    detail: null,
  });
  expect(await app.openToRead("/home/you/p.dissensus")).toBe(false);
  expect(read).toHaveBeenCalledOnce();
  await user.click(await screen.findByTestId("toast-act"));
  await waitFor(() => expect(app.project?.read_only).toBe(false));
});

it("controls that would write do nothing and show the reason", async () => {
  const user = userEvent.setup();
  await app.openToRead("/home/you/p.dissensus");
  const draft = vi.spyOn(commands, "studyDraft");
  render(StudyView);
  const plan = await screen.findByTestId("study-plan");
  expect(plan.getAttribute("aria-disabled")).toBe("true");
  expect(plan.title).toContain("read-only");
  await user.click(plan);
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(draft).not.toHaveBeenCalled();
  cleanup();
  render(ProjectView);
  const [bring, log] = [screen.getByTestId("act-data.import"), screen.getByTestId("act-study.log")];
  expect([bring, log].map((one) => one.hasAttribute("disabled"))).toEqual([true, false]);
  expect(bring.title).toContain("read-only");
  expect(screen.getByTestId("act-project.to-write")).toBeVisible();
});

it("is opened read-only from the first page, by a button, from the list, and by key", async () => {
  const user = userEvent.setup();
  const read = vi.spyOn(commands, "openProjectToRead");
  vi.spyOn(platform, "chooseProject").mockResolvedValue("/home/you/chosen.dissensus");
  render(App);
  await user.click(await screen.findByTestId("welcome-open-to-read"));
  await waitFor(() => expect(read).toHaveBeenLastCalledWith("/home/you/chosen.dissensus"));
  await app.close();
  await user.click((await screen.findAllByTestId("recent-read"))[0]!);
  await waitFor(() => expect(read).toHaveBeenLastCalledWith("/home/you/Documents/Comments.dissensus"));
  await waitFor(() => expect(screen.getByTestId("status-read-only")).toBeVisible());
  await app.close();
  read.mockClear();
  await user.keyboard("{Control>}{Shift>}r{/Shift}{/Control}");
  await waitFor(() => expect(read).toHaveBeenCalledOnce());
});

it("shows the settings of a study without allowing changes", async () => {
  const user = userEvent.setup();
  await app.openToRead("/home/you/p.dissensus");
  const reveal = vi.spyOn(commands, "setReveal");
  render(StudySettingsDialog, { onclose: () => undefined });
  expect(await screen.findByTestId("dialog-read-only")).toBeVisible();
  expect(screen.getByTestId("study-reveal")).toBeDisabled();
  await user.click(screen.getByTestId("study-reveal"));
  expect(reveal).not.toHaveBeenCalled();
});

it("states in the summary and for a dropped file that nothing is written", async () => {
  await app.openToRead("/home/you/p.dissensus");
  render(App);
  app.show("findings");
  expect(await screen.findByTestId("summary")).toBeVisible();
  await waitFor(() => expect(screen.queryByText(/^Label( as .*)?$/, { selector: "bdi" })).toBeNull());
  app.drop(["/home/you/labels.csv"]);
  await waitFor(() => expect(screen.getByText(t("shell.read_only_writes"))).toBeVisible());
  expect(app.importing).toBeNull();
  const hand = (id: "study.hand-in" | "label.cannot-say") => can(id);
  expect(hand("study.hand-in") || hand("label.cannot-say")).toBe(false);
});
