// Five destinations and their tabs: the rail, the keys that open them, and what is remembered.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { keyMap, KeyMap } from "$stores/key-map.svelte";
import { DESTINATIONS, destinationOf, FORMER_VIEWS, TABS, viewNamed } from "$logic/views";
import App from "../App.svelte";
import { playPacket, reset } from "../mock/bindings";

let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  localStorage.clear();
  keyMap.reset();
  reset();
  app.toasts.list = [];
  app.dialog = null;
  user = userEvent.setup();
  await app.openSample();
});

const rail = () => screen.getAllByTestId(/^nav-/).map((way) => way.textContent?.trim());
const tabs = () => screen.queryAllByRole("tab").map((tab) => tab.textContent?.trim());
const chosenTab = () => document.querySelector('[id^="tab-"][aria-selected="true"]')?.textContent;

async function opened() {
  render(App);
  await screen.findByTestId("summary");
  await new Promise((settled) => setTimeout(settled));
}

describe("the rail", () => {
  it("has five destinations and nothing else", async () => {
    await opened();
    expect(rail()).toEqual(["Findings", "Label", "People", "Models", "Project"]);
    expect(screen.getByRole("navigation", { name: "Views" }).querySelectorAll("button")).toHaveLength(5);
    expect(screen.getByTestId("nav-findings")).toHaveAttribute("aria-current", "page");
    expect(tabs()).toEqual(["Summary", "Texts"]);
  });

  it("is navigated by Ctrl and a digit", async () => {
    await opened();
    const to = ["findings", "label", "people", "models", "project"];
    for (const [at, destination] of [...to.entries()].reverse()) {
      await user.keyboard(`{Control>}${at + 1}{/Control}`);
      expect(app.view).toBe(destination);
      expect(screen.getByTestId(`nav-${destination}`)).toHaveAttribute("aria-current", "page");
    }
  });

  it("opens the last tab, on a second press the first, and the desk rather than the list", async () => {
    await opened();
    app.show("people-study");
    app.show("label-list");
    await user.click(screen.getByTestId("nav-people"));
    expect(app.view).toBe("people-study");
    await user.click(screen.getByTestId("nav-people"));
    expect(app.view).toBe("people");
    await user.click(screen.getByTestId("nav-label"));
    expect(app.view).toBe("label");
  });
});

describe("tabs", () => {
  it("are navigated by keys from anywhere, wrapping around", async () => {
    await opened();
    for (const tab of ["findings-texts", "findings", "findings-texts"]) {
      await user.keyboard("{Control>}{PageDown}{/Control}");
      expect(app.view).toBe(tab);
    }
    await user.keyboard("{Control>}{PageUp}{/Control}");
    expect(app.view).toBe("findings");
    app.show("models");
    await user.keyboard("{Control>}{PageDown}{/Control}");
    expect(app.view).toBe("models");
    await user.keyboard("{Control>}f{/Control}");
    expect(app.view).toBe("label-list");
    await waitFor(() => expect(chosenTab()).toBe("List"));
  });

  it("are navigated by arrow keys if focused, and keep the focus", async () => {
    await opened();
    screen.getByTestId("tab-findings").focus();
    await user.keyboard("{ArrowRight}");
    expect(app.view).toBe("findings-texts");
    await waitFor(() => expect(screen.getByTestId("tab-findings-texts")).toHaveFocus());
    await user.keyboard("{ArrowRight}");
    await waitFor(() => expect(screen.getByTestId("tab-findings")).toHaveFocus());
  });
});

describe("the last view of a project", () => {
  it("is opened the next time", async () => {
    app.show("people-study");
    expect((await commands.project())?.choices.view).toBe("people-study");
    app.view = "findings";
    await app.openSample();
    expect(app.view).toBe("people-study");
  });

  it("is read from names of earlier versions, and ignored if invalid", async () => {
    expect([...FORMER_VIEWS.keys()].map(viewNamed)).toEqual([
      "findings",
      "findings-texts",
      "label-list",
      "people",
      "people-study",
    ]);
    for (const view of DESTINATIONS.flatMap((one) => TABS[one])) expect(viewNamed(view)).toBe(view);
    expect([viewNamed(null), viewNamed("cellar"), viewNamed("toString")]).toEqual([null, null, null]);
    const choices = (await commands.project())?.choices;
    if (!choices) throw new Error("there is a project");
    await commands.saveChoices({ ...choices, view: "disagreement" });
    await app.openSample();
    expect(app.view).toBe("findings-texts");
    expect(destinationOf(app.view)).toBe("findings");
  });

  it("defaults to the desk without labels, and to the findings with labels", async () => {
    expect(app.view).toBe("findings");
    const project = await commands.project();
    if (!project) throw new Error("there is a project");
    const { openSample } = commands;
    commands.openSample = async () => ({ ...project, labels: 0 });
    await app.openSample();
    expect(app.view).toBe("label");
    commands.openSample = openSample;
  });

  it("keeps keys assigned to views of an earlier version", () => {
    localStorage.setItem("dissensus.keys", JSON.stringify({ "view.study": "Mod+J", "view.texts": null }));
    const map = new KeyMap();
    expect([map.of("view.people-study"), map.of("view.label-list")]).toEqual(["Mod+J", null]);
    expect(map.of("view.findings")).toBe("Mod+1");
  });
});

it("has in a packet the desk, the list and the actions of the packet", async () => {
  await app.join("Robin");
  playPacket(app.annotatorId ?? 0, [{ text: 3, occasion: 1 }]);
  await app.openSample();
  render(App);
  await screen.findByTestId("label-text");
  expect(rail()).toEqual(["Label", "Project"]);
  expect(tabs()).toEqual(["Answer", "List"]);
  for (const [key, view] of [
    ["1", "label"],
    ["3", "label"],
    ["5", "project"],
  ] as const) {
    await user.keyboard(`{Control>}${key}{/Control}`);
    expect(app.view).toBe(view);
  }
  const acts = (await screen.findAllByTestId(/^act-/)).map((act) => act.dataset["testid"]);
  expect(acts).toEqual([
    "act-study.hand-in",
    "act-study.hand-in-encrypted",
    "act-project.copy",
    "act-project.copy-encrypted",
    "act-project.backups",
    "act-project.close",
    "act-app.settings",
    "act-app.keys",
    "act-app.care",
  ]);
});

it("offers each action of the project once on the project page, and runs it", async () => {
  app.show("project");
  render(App);
  const acts = (await screen.findAllByTestId(/^act-/)).map((act) => act.dataset["testid"]);
  expect(new Set(acts).size).toBe(acts.length);
  for (const act of ["guideline.write", "study.practice", "study.checks", "study.settings", "study.log"])
    expect(acts).toContain(`act-${act}`);
  for (const act of [
    "data.import",
    "data.export",
    "data.report",
    "data.institution",
    "project.copy",
    "project.close",
  ])
    expect(acts).toContain(`act-${act}`);
  expect(screen.getAllByTestId("project-question").length).toBeGreaterThan(1);
  for (const [act, dialog] of [
    ["study.log", "log-dialog"],
    ["study.settings", "study-settings-dialog"],
    ["study.checks", "checks-dialog"],
    ["study.practice", "practice-dialog"],
  ]) {
    await user.click(screen.getByTestId(`act-${act}`));
    expect(await screen.findByTestId(dialog ?? "")).toBeVisible();
    await user.keyboard("{Escape}");
    await waitFor(() => expect(app.dialog).toBeNull());
    expect(app.view).toBe("project");
  }
});
