// Everything by name, and keys that can be changed, in the whole window.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import * as platform from "$platform";
import { app } from "$stores/app.svelte";
import { addMessages, speak } from "$messages/messages.svelte";
import { possible } from "$stores/actions";
import { excerpt } from "$stores/find-texts";
import { keyMap } from "$stores/key-map.svelte";
import { asked } from "$stores/palette";
import { zoom } from "$stores/zoom.svelte";
import App from "../../App.svelte";
import { playPacket, reset } from "../../mock/bindings";

let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  localStorage.clear();
  keyMap.reset();
  zoom.set(100);
  reset();
  app.toasts.list = [];
  app.work.all = [];
  app.dialog = null;
  app.leaving = null;
  user = userEvent.setup();
  await app.openSample();
});

async function opened() {
  render(App);
  // The window begins with the open project, and shows how far it is.
  await screen.findByTestId("summary");
  await new Promise((settled) => setTimeout(settled));
}

async function ask(letters: string) {
  await user.keyboard("{Control>}k{/Control}");
  await user.type(await screen.findByTestId("palette-field"), letters);
}

const actions = () => screen.queryAllByTestId("palette-action").map((row) => row.textContent?.trim());
const chosen = () => screen.getAllByRole("option", { selected: true }).map((row) => row.textContent?.trim());

describe("the palette", () => {
  it("runs the matching command, and lists it first the next time", async () => {
    await opened();
    await ask("peopl");
    expect(actions()[0]).toMatch(/^Go to People/);
    await user.keyboard("{Enter}");
    await waitFor(() => expect(app.view).toBe("people"));
    expect(screen.queryByTestId("palette")).toBeNull();
    await user.keyboard("{Control>}k{/Control}");
    await screen.findByTestId("palette");
    expect(actions()[0]).toMatch(/^Go to People/);
  });

  it("shows the current key of each action", async () => {
    keyMap.set("project.copy", "Mod+J");
    await opened();
    await ask("save a copy");
    expect(actions()[0]).toMatch(/^Save a copy…\s*CtrlJ/);
  });

  it("moves by arrows and wraps around; Esc does nothing and returns the focus", async () => {
    await opened();
    app.show("findings-texts");
    const field = await screen.findByTestId("ranking-search");
    field.focus();
    await ask("go to");
    const first = chosen();
    await user.keyboard("{ArrowUp}");
    const last = chosen();
    expect(last).not.toEqual(first);
    await user.keyboard("{ArrowDown}");
    expect(chosen()).toEqual(first);
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByTestId("palette")).toBeNull());
    expect(app.view).toBe("findings-texts");
    expect(field).toHaveFocus();
  });

  it("opens the view of a command before running it", async () => {
    await opened();
    await ask("new run");
    await user.keyboard("{Enter}");
    await waitFor(() => expect(app.dialog).toBe("run"));
    expect(app.view).toBe("models");
  });

  it("finds texts by their words, in the order of the project, without figures", async () => {
    await opened();
    const [first] = await commands.disagreementRows(
      {
        question: 1,
        by: "pairwise",
        cut: null,
        groups: null,
        search: null,
        attributes: {},
        labelled_only: false,
      },
      [7],
    );
    if (!first) throw new Error("there is no such text");
    await ask(first.snippet.slice(0, 24));
    const rows = await screen.findAllByTestId("palette-text");
    const names = rows.map((row) => row.lastElementChild?.textContent ?? "");
    expect(names).toContain(first.external_id);
    expect(names).toEqual([...names].sort());
    expect(rows.map((row) => row.textContent).join()).not.toMatch(/%|split|0\.\d/);
    const row = rows.find((one) => one.textContent?.includes(first.external_id));
    if (!row) throw new Error("no such row");
    await user.click(row);
    await waitFor(() => expect(app.view).toBe("findings-texts"));
    await waitFor(() => expect(screen.getByTestId("text-pane")).toHaveTextContent(first.external_id));
  });

  it("opens a person, and labels as a person who is not simulated", async () => {
    await app.join("Robin");
    await opened();
    await ask("robin");
    const person = await screen.findByTestId("palette-person");
    expect(screen.getByTestId("palette-label-as")).toHaveTextContent("Label as Robin");
    await user.click(person);
    await waitFor(() => expect(app.view).toBe("people"));
    const simulated = app.people.find((one) => one.simulated)?.name ?? "";
    await ask(simulated);
    expect(await screen.findByTestId("palette-person")).toHaveTextContent("simulated");
    expect(screen.queryByTestId("palette-label-as")).toBeNull();
  });

  it("does not open over a dialog, where keys of views have no effect", async () => {
    await opened();
    app.dialog = "question";
    await screen.findByTestId("question-prompt");
    await user.keyboard("{Control>}k{/Control}{Control>}2{/Control}");
    expect(app.dialog).toBe("question");
    expect(app.view).toBe("findings");
  });

  it("reports if nothing matches", async () => {
    const find = vi
      .spyOn(commands, "findTexts")
      .mockRejectedValue({ code: "x", message: "no", detail: null });
    await opened();
    await ask("qqqq");
    expect(await screen.findByText("Texts could not be searched.")).toBeVisible();
    find.mockRestore();
  });

  it("finds texts without a model, and opens them for the current annotator", async () => {
    await app.join("Robin");
    const ranking = vi
      .spyOn(commands, "disagreementRanking")
      .mockRejectedValue({ code: "x", message: "nothing was learned", detail: null });
    await opened();
    app.show("label");
    await ask("c-0017");
    await user.click(await screen.findByTestId("palette-text"));
    await waitFor(() => expect(screen.getByTestId("label-text").dataset.textId).toBe("17"));
    expect(ranking).not.toHaveBeenCalled();
    ranking.mockRestore();
  });

  it("offers labelling but no study commands in a packet", async () => {
    await app.join("Robin");
    playPacket(app.annotatorId ?? 0, [{ text: 3, occasion: 1 }]);
    await app.openSample();
    render(App);
    await screen.findByTestId("label-text");
    await user.keyboard("{Control>}k{/Control}");
    await screen.findByTestId("palette");
    const offered = actions().join("\n");
    expect(offered).toMatch(/Go to Label/);
    expect(offered).toMatch(/Hand in/);
    expect(offered).not.toMatch(/Findings|Import|Export|Models|People|study|question/);
    await user.type(screen.getByTestId("palette-field"), "c-0005");
    await user.click(await screen.findByTestId("palette-text"));
    await waitFor(() => expect(screen.getByTestId("label-text").dataset.textId).toBe("5"));
    await user.keyboard("{Control>}2{/Control}");
    expect(app.view).toBe("label");
  });
});

describe("an action", () => {
  it("is found by its name in the language of the window, and by its English one", () => {
    const first = (query: string) => asked(query, possible(), [], [])[0]?.entries[0];
    expect(first("save a copy")).toMatchObject({ key: "project.copy", title: "Save a copy…" });
    const actions = {
      name_project_copy: "Zweitschrift ablegen…",
      name_view_people: "Leute",
      go_to: "Hin zu: {{view}}",
    };
    addMessages("nl", { actions });
    speak("nl");
    try {
      expect(first("zweitschrift")).toMatchObject({ key: "project.copy", title: "Zweitschrift ablegen…" });
      expect(first("zweitschrift")?.at).toHaveLength("zweitschrift".length);
      expect(first("save a copy")).toMatchObject({ key: "project.copy", at: [] });
      expect(first("hin zu leu")).toMatchObject({ key: "view.people", title: "Hin zu: Leute" });
      expect(first("go to people")).toMatchObject({ key: "view.people", at: [] });
      expect(first("backup")).toMatchObject({ key: "project.backups" });
    } finally {
      speak("en");
    }
  });
});

describe("a part of a text", () => {
  it("shows the found words", () => {
    expect(excerpt("Read it again", "again")).toEqual({ title: "Read it again", at: [8, 9, 10, 11, 12] });
    const far = excerpt(`${"many words before it ".repeat(5)}HERE it is`, "here");
    expect(far.title).toMatch(/^….*HERE it is$/);
    expect(far.at.map((at) => far.title[at]).join("")).toBe("HERE");
    expect(excerpt("by its name", "c-0017")).toEqual({ title: "by its name", at: [] });
  });
});

describe("keys", () => {
  const choose = async (id: string) => user.click(await screen.findByTestId(`key-${id}`));

  it("are changed by pressing another key, which then runs the action", async () => {
    await app.join("Robin");
    await opened();
    app.show("label");
    app.dialog = "keys";
    await choose("label.skip");
    await user.keyboard("y");
    expect(screen.getByTestId("key-label.skip")).toHaveTextContent("Y");
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.getByTestId("label-text").dataset.textId).toBe("1"));
    expect(screen.getByTestId("label-skip")).toHaveTextContent("Y");
    const skip = vi.spyOn(commands, "skipText");
    (document.activeElement as HTMLElement).blur();
    await user.keyboard("s");
    expect(skip).not.toHaveBeenCalled();
    await user.keyboard("y");
    await waitFor(() => expect(skip).toHaveBeenCalledOnce());
  });

  it("of another action are reported, and reassigned only after confirmation", async () => {
    await opened();
    app.dialog = "keys";
    await choose("label.skip");
    await user.keyboard("u");
    expect(screen.getByTestId("key-conflict")).toHaveTextContent("U is “Undo the last label”.");
    expect(keyMap.of("label.skip")).toBe("S");
    await user.click(screen.getByTestId("key-take"));
    expect(keyMap.of("label.skip")).toBe("U");
    expect(screen.getByTestId("key-label.undo")).toHaveTextContent("none");
    await user.click(screen.getByTestId("keys-reset"));
    expect(keyMap.of("label.undo")).toBe("U");
  });

  it("that cannot be commands are refused with the reason; Esc leaves the old one, the dialog stays", async () => {
    await opened();
    app.dialog = "keys";
    await choose("label.skip");
    await user.keyboard("1");
    expect(within(screen.getByTestId("keys-dialog")).getByText(/^1 is used for answers/)).toBeVisible();
    await user.keyboard("{Escape}");
    expect(keyMap.of("label.skip")).toBe("S");
    expect(screen.getByTestId("keys-dialog")).toBeVisible();
    await choose("view.people-study");
    await user.keyboard("{Backspace}");
    expect(keyMap.of("view.people-study")).toBeNull();
  });

  it("zoom in and out, also over a dialog, and the size is stored", async () => {
    const setZoom = vi.spyOn(platform, "setZoom");
    await opened();
    app.dialog = "settings";
    await user.keyboard("{Control>}={/Control}");
    expect(zoom.percent).toBe(112);
    expect(setZoom).toHaveBeenLastCalledWith(1.12);
    expect(localStorage.getItem("dissensus.zoom")).toBe("112");
    await user.keyboard("{Control>}---------{/Control}");
    expect(zoom.percent).toBe(80);
    await user.keyboard("{Control>}0{/Control}");
    expect(zoom.percent).toBe(100);
    window.dispatchEvent(new WheelEvent("wheel", { ctrlKey: true, deltaY: -100, cancelable: true }));
    expect(zoom.percent).toBe(112);
  });

  it("for the webview's own zoom reach no other handler", async () => {
    const listener = vi.fn();
    window.addEventListener("keydown", listener);
    await opened();
    keyMap.set("zoom.in", "Mod+J");
    await user.keyboard("{Control>}={/Control}");
    expect(listener.mock.calls.map(([event]) => (event as KeyboardEvent).key)).not.toContain("=");
    expect(zoom.percent).toBe(100);
    window.removeEventListener("keydown", listener);
  });
});
