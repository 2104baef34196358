// What closing, a click outside of a dialog, or a broken view must not lose.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import type { JobInfo } from "$api/bindings";
import App from "../../App.svelte";
import { reset, emit } from "../../mock/bindings";
import AddQuestionDialog from "$views/questions/AddQuestionDialog.svelte";

const training: JobInfo = {
  id: 70,
  kind: "train",
  title: "sep-heads, last-2",
  state: "running",
  done: 3,
  total: 10,
  seconds_left: 120,
  note: null,
  problem: null,
};

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  app.work.all = [];
  app.leaving = null;
  app.dialog = null;
  app.work.announcement = "";
  await app.openSample();
  // From here on events are received.
  await app.start();
});

/** The page starts by itself; events before it listens are lost. */
async function started() {
  await waitFor(() => expect(screen.getByTestId("nav-project")).toBeVisible());
  await app.start();
  app.show("project");
}

describe("closing", () => {
  it("asks while a run is training, and can let the run go on", async () => {
    const close = vi.spyOn(commands, "closeProject");
    const user = userEvent.setup();
    render(App);
    await started();
    emit("jobChanged", training);
    await user.click(screen.getByTestId("act-project.close"));
    expect(await screen.findByTestId("leave-dialog")).toHaveTextContent("1 run is still training");
    await user.click(screen.getByTestId("leave-keep"));
    expect(close).not.toHaveBeenCalled();
    expect(app.project).not.toBeNull();

    await user.click(screen.getByTestId("act-project.close"));
    await user.click(await screen.findByTestId("leave-stop"));
    await waitFor(() => expect(close).toHaveBeenCalledOnce());
    expect(app.project).toBeNull();
  });

  it("asks nothing if nothing would be lost", async () => {
    const quit = vi.spyOn(commands, "quit");
    const user = userEvent.setup();
    render(App);
    await started();
    emit("jobChanged", { ...training, kind: "encode" });
    await user.keyboard("{Control>}q{/Control}");
    await waitFor(() => expect(quit).toHaveBeenCalledOnce());
    expect(app.leaving).toBeNull();
  });

  it("of the window by the system is answered after asking", async () => {
    const asked = vi.spyOn(commands, "closingRequested");
    const quit = vi.spyOn(commands, "quit");
    const user = userEvent.setup();
    render(App);
    await started();
    emit("jobChanged", training);
    emit("closeRequested", []);
    await user.click(await screen.findByTestId("leave-stop"));
    expect(asked).toHaveBeenCalled();
    await waitFor(() => expect(quit).toHaveBeenCalledOnce());
  });

  it("asks before another project is opened in its place", async () => {
    const open = vi.spyOn(commands, "openProject");
    emit("jobChanged", training);
    app.work.all = [training];
    expect(await app.open("/other.dissensus")).toBe(false);
    expect(open).not.toHaveBeenCalled();
    await app.answer(true);
    expect(open).toHaveBeenCalledWith("/other.dissensus");
  });
});

describe("a dialog", () => {
  it("that nobody changed closes at once, one with changes asks first", async () => {
    const user = userEvent.setup();
    app.dialog = "question";
    render(AddQuestionDialog);
    await user.keyboard("{Escape}");
    expect(app.dialog).toBeNull();

    app.dialog = "question";
    await user.type(screen.getByTestId("question-prompt"), "How rude?");
    await user.keyboard("{Escape}");
    expect(app.dialog).toBe("question");
    expect(screen.getByTestId("discard")).toBeVisible();
    await user.click(screen.getByTestId("discard-keep"));
    expect(screen.getByTestId("question-prompt")).toHaveValue("How rude?");

    const veil = document.querySelector(".dialog-veil");
    if (!veil) throw new Error("there is nothing next to the dialog");
    await user.click(veil);
    expect(app.dialog).toBe("question");
    await user.keyboard("{Escape}");
    await user.click(screen.getByTestId("discard-yes"));
    expect(app.dialog).toBeNull();
  });
});

describe("an uncaught error", () => {
  it("in a view is shown in place of the view, with a retry", async () => {
    const error = vi.spyOn(console, "error").mockImplementation(() => {});
    const report = vi.spyOn(commands, "annotatorReport").mockResolvedValue({ annotators: null } as never);
    const user = userEvent.setup();
    render(App);
    await waitFor(() => expect(screen.getByTestId("nav-people")).toBeVisible());
    await user.click(screen.getByTestId("nav-people"));
    expect(await screen.findByTestId("broken-view")).toHaveTextContent("This view cannot be shown");
    await user.click(screen.getByTestId("nav-label"));
    await waitFor(() => expect(screen.queryByTestId("broken-view")).toBeNull());
    report.mockRestore();
    error.mockRestore();
  });

  it("in the background becomes a notice", async () => {
    render(App);
    const event = new Event("unhandledrejection") as Event & { reason: unknown };
    event.reason = new Error("lost in the background");
    window.dispatchEvent(event);
    await waitFor(() => expect(app.toasts.list.at(-1)?.detail).toBe("lost in the background"));
  });
});

it("announces start and end of work to screen readers, not each step", async () => {
  render(App);
  await started();
  emit("jobChanged", training);
  expect(app.announcement).toBe("Training Separate heads, last-2: started");
  app.work.announcement = "";
  emit("jobChanged", { ...training, done: 4 });
  expect(app.announcement).toBe("");
  emit("jobChanged", { ...training, state: "finished" });
  expect(app.announcement).toBe("Training Separate heads, last-2: done");
});

it("letter keys do nothing if they are switched off", async () => {
  render(App);
  await started();
  const press = () => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }));
  await app.saveSettings({ ...app.settings, letter_keys: false });
  press();
  expect(app.dialog).toBeNull();
  await app.saveSettings({ ...app.settings, letter_keys: true });
  press();
  expect(app.dialog).toBe("keys");
});
