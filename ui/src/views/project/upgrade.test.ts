// A project of an earlier format is copied and upgraded while it is opened: how far, and how to cancel.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import type { ProjectInfo } from "$api/bindings";
import App from "../../App.svelte";
import { app } from "$stores/app.svelte";
import { emit, reset } from "../../mock/bindings";

let opened: (project: ProjectInfo) => void;
let refused: (problem: unknown) => void;

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  await app.openSample();
  render(App);
  await waitFor(() => expect(app.ready).toBe(true));
  vi.spyOn(commands, "openProject").mockReturnValue(
    new Promise((resolve, reject) => ([opened, refused] = [resolve, reject])),
  );
});

it("shows the step and its progress until the project is open", async () => {
  const opening = app.open("/old.dissensus");
  await waitFor(() => expect(commands.openProject).toHaveBeenCalled());
  expect(screen.queryByTestId("upgrade-notice")).toBeNull();
  emit("upgradeChanged", { share: 0.25, doing: "copying old.dissensus to old.dissensus.before-v19" });
  const notice = await screen.findByTestId("upgrade-notice");
  expect(notice).toHaveTextContent("Copying old.dissensus to old.dissensus.before-v19: 25 %");
  emit("upgradeChanged", { share: 0.5, doing: "upgrading old.dissensus from format 17 to 18" });
  await waitFor(() => expect(notice).toHaveTextContent("Upgrading old.dissensus from format 17 to 18: 50 %"));
  expect(screen.getByRole("progressbar", { name: "Upgrade" })).toHaveAttribute("aria-valuenow", "50");
  opened({ ...(await commands.project())!, path: "/old.dissensus" });
  expect(await opening).toBe(true);
  await waitFor(() => expect(screen.queryByTestId("upgrade-notice")).toBeNull());
  // A report that arrives late shows nothing.
  emit("upgradeChanged", { share: 1, doing: "upgrading" });
  expect(app.upgrade).toBeNull();
});

it("is cancelled: the open project stays, and a note states that the file is unchanged", async () => {
  const before = app.project?.path;
  const cancel = vi.spyOn(commands, "cancelUpgrade");
  const opening = app.open("/old.dissensus");
  await waitFor(() => expect(commands.openProject).toHaveBeenCalled());
  emit("upgradeChanged", { share: 0.5, doing: "upgrading old.dissensus from format 17 to 18" });
  await userEvent.click(await screen.findByTestId("upgrade-cancel"));
  expect(cancel).toHaveBeenCalledOnce();
  expect(screen.getByTestId("upgrade-cancel")).toBeDisabled();
  const message = "stopped before /old.dissensus was brought up to date; the file is as it was";
  refused({ code: "cancelled", message, detail: null });
  expect(await opening).toBe(false);
  expect(app.project?.path).toBe(before);
  expect(app.upgrade).toBeNull();
  expect(app.toasts.list).toHaveLength(1);
  expect(app.toasts.list[0]).toMatchObject({
    message: "The project was not opened",
    detail: expect.stringContaining("the file is as it was"),
  });
});
