// Switching projects, and which file opens what.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "./app.svelte";
import { reset } from "../mock/bindings";

const none = { code: "no-project", message: "no project is open", detail: null };

beforeEach(async () => {
  reset();
  app.toasts.list = [];
  await app.openSample();
});

describe("settings", () => {
  it("that cannot be stored are not shown as stored", async () => {
    const before = app.settings;
    vi.spyOn(commands, "saveSettings").mockRejectedValue({ code: "io", message: "disk full", detail: null });
    await app.saveSettings({ ...before, blur: !before.blur });
    expect(app.settings).toEqual(before);
    expect(app.toasts.list).toHaveLength(1);
  });

  it("are reset to the stored ones after two changes that could not be stored", async () => {
    const before = app.settings;
    const full = { code: "io", message: "disk full", detail: null };
    const save = vi.spyOn(commands, "saveSettings").mockRejectedValue(full);
    const first = app.saveSettings({ ...before, blur: !before.blur });
    const second = app.saveSettings({ ...app.settings, snap_to_words: !before.snap_to_words });
    expect(app.settings.snap_to_words).toBe(!before.snap_to_words);
    await Promise.all([first, second]);
    expect(app.settings).toEqual(before);

    // The stored view of the first project is shown.
    const once = { ...before, blur: !before.blur };
    save.mockResolvedValueOnce(null);
    await Promise.all([
      app.saveSettings(once),
      app.saveSettings({ ...once, snap_to_words: !before.snap_to_words }),
    ]);
    expect(app.settings).toEqual(once);
  });
});

describe("a problem", () => {
  it("of the project that is being replaced is ignored", async () => {
    let opened: () => void = () => {};
    const real = await commands.openProject("x");
    vi.spyOn(commands, "openProject").mockReturnValue(
      new Promise((resolve) => (opened = () => resolve(real))),
    );
    const opening = app.open("/other.dissensus");
    await app.attempt(() => Promise.reject(none));
    expect(app.toasts.list).toEqual([]);
    opened();
    expect(await opening).toBe(true);
    await app.attempt(() => Promise.reject(none));
    expect(app.toasts.list).toHaveLength(1);
  });

  it.each([
    "project-moved",
    "project-replaced",
    "project-removed",
    "project-journal-gone",
    "project-link-changed",
    "project-out-of-reach",
  ])("%s offers to save the open project, in the program's words, in every case", async (code: string) => {
    const save = vi.spyOn(app.outputs, "chooseCopyPath").mockResolvedValue(true);
    app.toasts.problem({ code, message: "/p.dissensus: what the program says", detail: null });
    const toast = app.toasts.list.at(-1);
    expect(toast).toMatchObject({ kind: "problem", persistent: true });
    expect(toast?.message).toBe("/p.dissensus: what the program says");
    expect(toast?.act?.label).toBe("Save a copy of the open project");
    await toast?.act?.run();
    expect(save).toHaveBeenCalled();
  });

  it("of another kind offers no such action", () => {
    app.toasts.problem({ code: "disk-full", message: "full", detail: null });
    expect(app.toasts.list.at(-1)?.act).toBeUndefined();
  });

  it("about the journal of another file at opening is shown until it is closed", async () => {
    const project = await commands.openProject("/x.dissensus");
    const notice = "It is stored as x.dissensus-wal.of-another-file-2026-01-31.";
    vi.spyOn(commands, "openProject").mockResolvedValueOnce({ ...project, journal_notice: notice });
    expect(await app.open("/x.dissensus")).toBe(true);
    expect(app.toasts.list.at(-1)).toMatchObject({ detail: notice, persistent: true });
  });

  it("about a synchronised folder is shown until it is closed", async () => {
    const project = await commands.openProject("/x.dissensus");
    const notice = "This project is in a folder that Dropbox synchronises.";
    vi.spyOn(commands, "openProject").mockResolvedValueOnce({ ...project, sync_notice: notice });
    expect(await app.open("/x.dissensus")).toBe(true);
    expect(app.toasts.list.at(-1)).toMatchObject({ detail: notice, persistent: true });
  });

  it("about a project that others can read is shown until it is closed", async () => {
    const project = await commands.openProject("/x.dissensus");
    const notice = "Other users of this computer can read this project: chmod go-rwx '/x.dissensus'";
    vi.spyOn(commands, "openProject").mockResolvedValueOnce({ ...project, readable_notice: notice });
    expect(await app.open("/x.dissensus")).toBe(true);
    expect(app.toasts.list.at(-1)).toMatchObject({
      message: "Other users of this computer can read this project",
      detail: notice,
      persistent: true,
    });
  });

  it("about a project that others can read is dismissed for that project alone", async () => {
    const project = await commands.openProject("/x.dissensus");
    const notice = "Other users of this computer can read this project: chmod go-rwx '/x.dissensus'";
    const open = vi.spyOn(commands, "openProject");
    const notes = async (path: string) => {
      app.toasts.list = [];
      open.mockResolvedValueOnce({ ...project, path, readable_notice: notice });
      expect(await app.open(path)).toBe(true);
      return app.toasts.list.filter(({ detail }) => detail === notice);
    };
    await (await notes("/x.dissensus"))[0]?.act?.run();
    expect(await notes("/x.dissensus")).toEqual([]);
    expect(await notes("/y.dissensus")).toHaveLength(1);
    // Closing the notice is not dismissing it.
    app.toasts.closeNewest();
    expect(await notes("/y.dissensus")).toHaveLength(1);
  });

  it("at opening is shown, and the open project stays", async () => {
    const before = app.project;
    expect(await app.open("/home/you/Councils 2026.dissensus")).toBe(false);
    expect(app.toasts.list.at(-1)).toMatchObject({
      kind: "problem",
      message: expect.stringContaining("is open already"),
    });
    expect(app.project).toBe(before);
  });
});

describe("a dropped file", () => {
  it("is opened if it is a project, and previewed otherwise", async () => {
    const open = vi.spyOn(commands, "openProject");
    await app.openPath("/a/Study.DISSENSUS");
    expect(open).toHaveBeenCalledWith("/a/Study.DISSENSUS");
    await app.openPath("/a/comments.csv");
    expect(app.importing).toBe("/a/comments.csv");
  });

  it("creates a new project if none is open", async () => {
    await app.close();
    const create = vi.spyOn(commands, "newProject");
    await app.openPath("/a/my comments.csv");
    expect(create).toHaveBeenCalledWith("/home/you/Documents/my comments.dissensus");
    expect(app.importing).toBe("/a/my comments.csv");
  });
});

describe("a copy of the project", () => {
  it("is saved at the chosen path, and the toast names it and what it leaves out", async () => {
    const save = vi.spyOn(commands, "saveCopy").mockResolvedValue({
      path: "/home/you/Mine.dissensus",
      bytes: 1,
      runs: null,
      runs_left: "/home/you/Comments.dissensus.runs",
    });
    await app.outputs.chooseCopyPath();
    expect(save).toHaveBeenCalledWith(expect.stringMatching(/ copy\.dissensus$/), null);
    expect(app.toasts.list.at(-1)).toMatchObject({
      kind: "done",
      message: "A copy was saved as Mine.dissensus",
      detail: expect.stringContaining("Comments.dissensus.runs"),
    });
  });

  it("that fails is shown as a problem", async () => {
    vi.spyOn(commands, "saveCopy").mockRejectedValue({ code: "disk-full", message: "full", detail: null });
    expect(await app.outputs.saveCopy("/x.dissensus")).toBe(false);
    expect(app.toasts.list.at(-1)).toMatchObject({ kind: "problem" });
  });
});

describe("diagnostics", () => {
  it("are copied to the clipboard", async () => {
    vi.spyOn(commands, "diagnostics").mockResolvedValue("Dissensus 0.1.0");
    await app.outputs.copyDiagnostics();
    expect(app.toasts.list.at(-1)).toMatchObject({ kind: "done", message: "Diagnostics copied" });
  });
});
