// A watched folder: choosing it, what it has brought, what is wrong with it, and the project that it is of.
import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import type { CollectedFiles } from "$api/bindings";
import * as platform from "$platform";
import { reset, study } from "../../mock/bindings";
import App from "../../App.svelte";
import StudyView from "./StudyView.svelte";

let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  localStorage.clear();
  reset();
  user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime.bind(vi) });
  vi.spyOn(platform, "chooseFolder").mockResolvedValue("/drop");
  await app.start();
  await app.openSample();
  study.begin(4);
  app.show("people-study");
  app.toasts.list = [];
});

afterEach(async () => {
  cleanup();
  app.watched.stop();
  await app.close();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Opens another project: in the mock all are one file. */
async function openOther() {
  const open = commands.openProject;
  vi.spyOn(commands, "openProject").mockImplementationOnce(async (path) => ({ ...(await open(path)), path }));
  await app.open("/elsewhere/Other.dissensus");
}

const nextLook = () => vi.advanceTimersByTimeAsync(6000);
const line = () => screen.getByTestId("study-watched");

async function watched() {
  render(StudyView);
  await user.click(await screen.findByTestId("study-watch"));
  await screen.findByTestId("study-watched");
}

it("is watched from the moment at which it was chosen", async () => {
  await watched();
  await waitFor(() => expect(line()).toHaveTextContent("Watching /drop 1 file merged"));
  expect(screen.queryByTestId("study-watch")).toBeNull();
  study.arriving = ["ben.handin", "half.handin"];
  await nextLook();
  await waitFor(() => expect(line()).toHaveTextContent("2 files merged · 1 not complete yet"));
  expect(app.toasts.list).toEqual([]);
  await user.click(screen.getByTestId("study-watched-files"));
  const [newest] = within(await screen.findByTestId("merged")).getAllByTestId("merged-file");
  expect(newest).toHaveTextContent("ben.handin");
});

it("reports files that were refused, once", async () => {
  study.arriving = ["another.handin", "cut.handin"];
  await watched();
  await waitFor(() => expect(line()).toHaveTextContent("0 files merged · 2 not merged"));
  await nextLook();
  expect(app.toasts.list).toMatchObject([{ message: "2 files were not merged", persistent: true }]);
  expect(app.toasts.list[0]?.detail).toContain("cut.handin: ");
});

it("asks for the passphrase of encrypted submissions, says so once, and merges them", async () => {
  const passphrase = () => screen.getByTestId("unlock-passphrase");
  study.arriving = ["ada.handin", "ben.handin.age"];
  render(App);
  await user.click(await screen.findByTestId("study-watch"));
  await waitFor(() => expect(line()).toHaveTextContent("1 file merged · 1 not merged"));
  await nextLook();
  expect(app.toasts.list).toMatchObject([
    { message: "ben.handin.age was not merged", persistent: true, act: { label: "Decrypt…" } },
  ]);
  await user.click(screen.getByTestId("study-watched-unlock"));
  await user.type(await screen.findByTestId("unlock-passphrase"), "another one{Enter}");
  expect(await screen.findByTestId("unlock-problem")).toHaveTextContent("not the passphrase");
  await user.clear(passphrase());
  await user.type(passphrase(), "quiet harbour seven{Enter}");
  await waitFor(() => expect(line()).toHaveTextContent("2 files merged"));
  expect(line()).not.toHaveTextContent("not merged");
  expect(screen.queryByTestId("study-watched-unlock")).toBeNull();
  await nextLook();
  expect(app.toasts.list).toHaveLength(1);
});

it("that cannot be read is looked at again", async () => {
  const gone = { code: "io", message: "reading /drop failed", detail: "no such folder" };
  const look = vi.spyOn(commands, "collectFolder").mockRejectedValueOnce(gone);
  await watched();
  expect(await within(line()).findByRole("alert")).toHaveTextContent("Reading /drop failed");
  await nextLook();
  await waitFor(() => expect(line()).toHaveTextContent("Watching /drop"));
  expect(look).toHaveBeenCalledTimes(2);
});

it("is remembered with its project, until nobody wants it", async () => {
  await watched();
  const { path } = app.project ?? expect.unreachable();
  await app.close();
  const look = vi.spyOn(commands, "collectFolder");
  await nextLook();
  expect(look).not.toHaveBeenCalled();
  await openOther();
  expect(app.watched.path).toBeNull();
  await app.open(path);
  await waitFor(() => expect(look).toHaveBeenCalledWith(path, "/drop", true));
  await user.click(await screen.findByTestId("study-unwatch"));
  expect(screen.queryByTestId("study-watched")).toBeNull();
  await app.openToRead(path);
  await app.open(path);
  expect(app.watched.path).toBeNull();
});

it("is not watched where the project is open to read", async () => {
  await watched();
  await app.openToRead(app.project?.path ?? "");
  expect(app.watched.path).toBeNull();
});

it("shows nothing of what it brought to the project before", async () => {
  let arrive: (news: CollectedFiles) => void = () => {};
  vi.spyOn(commands, "collectFolder").mockReturnValueOnce(new Promise((resolve) => (arrive = resolve)));
  await watched();
  await openOther();
  arrive({
    files: study.merge(["/drop/ada.handin"], { whole_copies: false, changes: false, seen: [] }).files,
    waiting: [],
  });
  await nextLook();
  expect([app.watched.path, app.watched.files]).toEqual([null, []]);
});
