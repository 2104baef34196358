// The first start: three doors, and the tour on the sample, driven through the window as it is.
import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import * as platform from "$platform";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { keyMap } from "$stores/key-map.svelte";
import type { TextId } from "$api/bindings";
import App from "../../App.svelte";
import { emit, reset } from "../../mock/bindings";

let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  vi.restoreAllMocks();
  localStorage.clear();
  keyMap.reset();
  reset();
  app.toasts.list = [];
  app.dialog = null;
  await app.close();
  vi.spyOn(commands, "recentProjects").mockResolvedValue([]);
  user = userEvent.setup();
});

async function first() {
  render(App);
  await screen.findByTestId("welcome-sample");
}

const sentence = () => screen.getByTestId("tour-sentence").textContent?.replace(/\s+/g, " ").trim() ?? "";
const step = () => screen.getByTestId("tour-step").textContent;

/** Plays up to the fourth step, with this order of texts from then on. */
async function toTheFourth(texts: (order: readonly TextId[]) => TextId[]) {
  await user.click(screen.getByTestId("welcome-sample"));
  await waitFor(() => expect(step()).toBe("Step 1 of 4"));
  await user.type(await screen.findByLabelText("Your name"), "Robin{Enter}");
  await waitFor(() => expect(step()).toBe("Step 2 of 4"));
  await screen.findByTestId("label-text");
  for (let at = 0; at < 3; at += 1) {
    await waitFor(() => expect(sentence()).toContain(`${at} of 3 answered`));
    await user.keyboard("3");
    if (at === 2) break;
    await waitFor(() => expect(sentence()).toContain(`${at + 1} of 3 answered`));
    await user.keyboard("{Enter}");
  }
  await waitFor(() => expect(step()).toBe("Step 3 of 4"));
  await user.click(screen.getByTestId("nav-findings"));
  await user.click(await screen.findByTestId("tab-findings-texts"));
  await user.click(await screen.findByTestId("tour-next"));
  await waitFor(() => expect(step()).toBe("Step 4 of 4"));
  const real = commands.disagreementRanking;
  vi.spyOn(commands, "disagreementRanking").mockImplementation(async (query) => {
    const now = await real(query);
    return { ...now, texts: texts(now.texts) };
  });
}

async function answerOneMore() {
  await user.click(screen.getByTestId("nav-label"));
  await screen.findByTestId("label-text");
  await user.keyboard("4");
  await waitFor(() => expect(sentence()).toContain("Your answer is stored"));
  await user.click(screen.getByTestId("nav-findings"));
}

it("offers three doors if nothing was opened before, and the list of projects otherwise", async () => {
  await first();
  const doors = within(screen.getByRole("region", { name: "Start" })).getAllByRole("button");
  expect(doors.map((door) => door.querySelector("strong")?.textContent)).toEqual([
    "See an example",
    "Bring your labels",
    "Plan a study",
  ]);
  expect(screen.queryByTestId("recent-item")).toBeNull();
  cleanup();
  vi.mocked(commands.recentProjects).mockRestore();
  await first();
  const [recent] = await screen.findAllByTestId("recent-item");
  const door = screen.getByTestId("welcome-sample");
  expect(recent && recent.compareDocumentPosition(door) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
});

it("leads from a new project to the plan of its study, once there are texts and a question", async () => {
  vi.spyOn(platform, "chooseNewProject").mockResolvedValue("/home/you/Irony.dissensus");
  await first();
  await user.click(screen.getByTestId("welcome-new"));
  await user.type(await screen.findByTestId("new-project-name"), "Irony");
  await user.click(screen.getByTestId("new-project-question"));
  vi.spyOn(commands, "newProject").mockImplementation(() => commands.openSample());
  await user.click(screen.getByTestId("new-project-make"));
  await waitFor(() => expect(app.dialog).toBe("question"));
  app.dialog = null;
  await waitFor(() => expect(app.view).toBe("people-study"));
});

it("shows what the last label moved, from which place to which", async () => {
  await first();
  await toTheFourth((order) => [...order.slice(2, 5), ...order.slice(0, 2), ...order.slice(5)]);
  await answerOneMore();
  await waitFor(() => expect(sentence()).toMatch(/moved from place \d+ to \d+, one of \d+ texts/));
  await user.click(screen.getByTestId("tour-finish"));
  expect(screen.queryByTestId("tour")).toBeNull();
  await app.close();
  await user.click(await screen.findByTestId("welcome-sample"));
  await waitFor(() => expect(app.project).not.toBeNull());
  expect(screen.queryByTestId("tour")).toBeNull();
});

it("states that nothing moved, and asks for one more label", async () => {
  await first();
  let moved = false;
  let fixed: TextId[] | null = null;
  await toTheFourth((order) => {
    fixed ??= [...order];
    return moved ? fixed.toReversed() : fixed;
  });
  // The order at the beginning of the step is the one that stays.
  await app.tour.compare();
  await answerOneMore();
  await waitFor(() => expect(sentence()).toContain("No text has changed its place yet"));
  moved = true;
  await answerOneMore();
  await waitFor(() => expect(sentence()).toContain("The ranking has changed"));
});

it("goes on in a window that was loaded again, and ends with the project", async () => {
  await first();
  await user.click(screen.getByTestId("welcome-sample"));
  await user.type(await screen.findByLabelText("Your name"), "Robin{Enter}");
  await waitFor(() => expect(step()).toBe("Step 2 of 4"));
  await app.tour.resume();
  expect(step()).toBe("Step 2 of 4");
  await app.close();
  expect(app.tour.step).toBeNull();
  await app.openSample();
  await app.tour.resume();
  expect(app.tour.step).toBeNull();
});

it("is skipped by its button and by Escape, and taken again when asked for", async () => {
  await first();
  await user.click(screen.getByTestId("welcome-sample"));
  await user.click(await screen.findByTestId("tour-skip"));
  expect(app.tour.step).toBeNull();
  await app.tour.take();
  expect(app.tour.step).toBe(1);
  await user.keyboard("{Escape}");
  await waitFor(() => expect(app.tour.step).toBeNull());
});

it("uses the person of an earlier tour, and asks for another one who has labelled everything", async () => {
  await first();
  await app.openSample();
  await app.join("Robin");
  await app.tour.take();
  await waitFor(() => expect(sentence()).toContain("You label as"));
  await user.click(screen.getByTestId("tour-next"));
  await waitFor(() => expect(step()).toBe("Step 2 of 4"));
  const progress = await commands.progress(app.annotatorId ?? 0, [1]);
  vi.spyOn(commands, "progress").mockResolvedValue({ ...progress, done: progress.total });
  await app.tour.take();
  expect(app.annotatorId).toBeNull();
});

it("does nothing with a link before it is confirmed", async () => {
  const open = vi.spyOn(commands, "openPage");
  await first();
  const link = "dissensus://page?url=https%3A%2F%2Fstudy.example.org%2Fp%2Fabc";
  emit("openRequested", { project: null, files: [], read_only: false, link });
  expect(await screen.findByTestId("link-host")).toHaveTextContent("study.example.org");
  await user.keyboard("{Enter}");
  expect(open).not.toHaveBeenCalled();
  await user.click(screen.getByTestId("link-decline"));
  await waitFor(() => expect(screen.queryByTestId("link-dialog")).toBeNull());
  expect(open).not.toHaveBeenCalled();
  emit("openRequested", { project: null, files: [], read_only: false, link });
  await user.click(await screen.findByTestId("link-follow"));
  expect(open).toHaveBeenCalledWith("https://study.example.org/p/abc");
});

it("downloads a packet to a chosen place and opens it, or explains why not", async () => {
  const link = "dissensus://packet?url=https%3A%2F%2Fexample.org%2Fada.dissensus";
  const choose = vi.spyOn(platform, "chooseNewProject").mockResolvedValue("/home/you/ada.dissensus");
  const download = vi.spyOn(commands, "downloadPacket");
  const problem = { code: "packet-other-file", message: "this is no packet", detail: null };
  download.mockRejectedValueOnce(problem);
  await first();
  emit("openRequested", { project: null, files: [], read_only: false, link });
  await user.click(await screen.findByTestId("link-follow"));
  expect(await screen.findByTestId("link-problem")).toHaveTextContent("This is no packet");
  expect(choose).toHaveBeenCalledWith("ada");
  expect(app.project).toBeNull();
  await user.click(screen.getByTestId("link-follow"));
  await waitFor(() => expect(app.project).not.toBeNull());
  expect(download).toHaveBeenLastCalledWith("https://example.org/ada.dissensus", "/home/you/ada.dissensus");
});

it("explains a link that it does not know", async () => {
  await first();
  emit("openRequested", { project: null, files: [], read_only: false, link: "dissensus://run?x" });
  await waitFor(() => expect(app.toasts.list).toHaveLength(1));
  expect(screen.queryByTestId("link-dialog")).toBeNull();
});

it("opens the first project of several files, and takes in all submissions", async () => {
  const open = vi.spyOn(commands, "openProject");
  await first();
  emit("openRequested", { project: "/a.dissensus", files: ["/b.csv"], read_only: false, link: null });
  await waitFor(() => expect(open).toHaveBeenCalledWith("/a.dissensus"));
  await waitFor(() => expect(app.project).not.toBeNull());
  const merge = vi.spyOn(app.study, "merge").mockResolvedValue();
  emit("openRequested", { project: null, files: ["/a.handin", "/b.handin"], read_only: false, link: null });
  await waitFor(() => expect(merge).toHaveBeenCalledWith(["/a.handin", "/b.handin"]));
  emit("openRequested", { project: null, files: ["/labels.csv"], read_only: false, link: null });
  await waitFor(() => expect(app.importing).toBe("/labels.csv"));
  app.importing = null;
});
