// The page as its person meets it, in a browser without a server.
import "fake-indexeddb/auto";
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { forceCloseDatabase } from "fake-indexeddb";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { JoinPage, PageContent } from "$api/bindings";
import { speak } from "$messages/messages.svelte";
import { app } from "$stores/app.svelte";
import { newId } from "./new-id";
import Page from "./Page.svelte";
import { session } from "./session";
import { takeLock } from "./tab-lock";

vi.mock("$bindings", () => import("./bindings"));
vi.mock("$platform", () => import("./platform"));

const { content } = JSON.parse(readFileSync("src/page/cases/one-question.json", "utf8")) as {
  content: PageContent;
};
let user: ReturnType<typeof userEvent.setup>;

/** What tabs ask one another through: see `tab-lock.ts`. */
const channels: BroadcastChannel[] = [];
const Channel = BroadcastChannel;
class OpenChannel extends Channel {
  constructor(name: string) {
    super(name);
    channels.push(this);
  }
}

beforeEach(() => {
  vi.stubGlobal("BroadcastChannel", OpenChannel);
  databases.length = 0;
  vi.spyOn(indexedDB, "open").mockImplementation((name, version) => {
    const request = openDatabase(name, version);
    request.addEventListener("success", () => databases.push(request.result));
    return request;
  });
  saved.length = 0;
  URL.createObjectURL = (blob) => (saved.push(blob as Blob), "blob:saved");
  URL.revokeObjectURL = () => {};
  // Where it leads cannot be opened here.
  vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
    names.push(this.download);
  });
  names.length = 0;
  user = userEvent.setup();
});

/** Files that were downloaded, and their names. */
const saved: Blob[] = [];
const names: string[] = [];

/** The newest file that was downloaded. */
const savedText = (): Promise<string> =>
  new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.readAsText(saved.at(-1) ?? new Blob());
  });

/** The databases that the page has open. */
const databases: IDBDatabase[] = [];
const openDatabase = indexedDB.open.bind(indexedDB);

afterEach(() => {
  closeTab();
  vi.stubGlobal("BroadcastChannel", Channel);
  document.getElementById("packet")?.remove();
  sessionStorage.clear();
});

function closeTab(): void {
  cleanup();
  channels.splice(0).forEach((channel) => channel.close());
  session.current = null;
  [app.ready, app.project, app.view, app.dialog] = [false, null, "label", null];
  app.care.forget();
  app.toasts.list = [];
}

/** The page of a file with this content. */
function open(of: unknown): void {
  document.getElementById("packet")?.remove();
  const script = document.createElement("script");
  [script.type, script.id, script.textContent] = ["application/json", "packet", JSON.stringify(of)];
  document.body.append(script);
  render(Page);
}

const packet = (more: Partial<PageContent> = {}): PageContent => ({ ...content, packet: newId(), ...more });

const forEverybody = (): JoinPage => ({
  version: 1,
  join: newId(),
  key: "07".repeat(32),
  ids: ["id"],
  attributes: [],
  parts: [content.assignments],
  language: null,
  content: { ...content, assignments: [], key: "" },
});

it("asks on a shared computer who continues, and lets another person take part", async () => {
  const page = forEverybody();
  /** A new tab. */
  const visit = () => {
    closeTab();
    sessionStorage.clear();
    open(page);
  };
  const who = async () => {
    await screen.findByTestId("label-text");
    return session.current?.content.annotator.external_id;
  };
  visit();
  await user.click(await screen.findByTestId("take-part"));
  const first = await who();
  // A reload of the tab asks nothing.
  closeTab();
  open(page);
  expect(await who()).toBe(first);

  visit();
  expect(await screen.findByTestId("invitation")).toHaveTextContent("You have begun in this browser.");
  expect(screen.queryByTestId("take-part")).toBeNull();
  await user.click(screen.getByTestId("join-other"));
  const second = await who();
  expect(second).not.toBe(first);

  visit();
  const both = await screen.findAllByTestId("join-continue");
  expect(both).toHaveLength(2);
  for (const one of both) expect(one).toHaveAccessibleDescription(/^Begun .*\d/);
  await user.click(both[0] as HTMLElement);
  expect(await who()).toBe(first);
});

it("offers to save the work where the storage is lost later", async () => {
  open(packet());
  await ready();
  await waitFor(() => expect(databases).toHaveLength(2));
  await user.keyboard("2");
  await waitFor(() => expect(session.current?.desk.openPacket().given).toBe(1));
  databases.forEach((database) => forceCloseDatabase(database as never));
  expect(await screen.findByTestId("page-failed")).toHaveTextContent("The browser has closed its storage.");
  await user.click(screen.getByTestId("save-work"));
  expect(await savedText()).toContain('"event"');
});

it("offers no work to save where it could not be opened", async () => {
  vi.spyOn(indexedDB, "open").mockImplementation(() => {
    throw new DOMException("denied", "SecurityError");
  });
  open(packet());
  expect(await screen.findByTestId("page-failed")).toHaveTextContent(
    "The browser does not store answers here: nothing was saved.",
  );
  expect(screen.queryByTestId("save-work")).toBeNull();
});

it("notes before handing in that a private window forgets", async () => {
  open(packet());
  await user.click(await screen.findByTestId("hand-in"));
  expect(await screen.findByTestId("hand-in-dialog")).toHaveTextContent("a private window forgets them");
});

/** A packet of as many texts. */
const short = (texts: number) =>
  packet({ assignments: content.assignments.slice(0, texts), texts: content.texts.slice(0, texts) });

/** Waits for a text on the desk. */
const ready = () => waitFor(() => expect(screen.getByTestId("label-text")).toHaveAttribute("data-text-id"));

const textOnDesk = () => screen.queryByTestId("label-text")?.dataset.textId;

/** Answers the text on the desk, and waits for the next one, or the end. */
async function answer(): Promise<void> {
  await ready();
  const before = textOnDesk();
  await user.keyboard("2");
  await waitFor(() => expect(textOnDesk()).not.toBe(before));
}

async function handIn(): Promise<void> {
  await user.click(screen.getByTestId("hand-in"));
  await user.click(await screen.findByTestId("hand-in-write"));
  await waitFor(() => expect(screen.queryByTestId("hand-in-dialog")).toBeNull());
}

it("announces each text and the end", async () => {
  open(short(2));
  await answer();
  const announced = screen.getByTestId("label-message");
  expect(announced).toHaveTextContent("Labelled 2 Next: text 2 of 2");
  await answer();
  expect(announced).toHaveTextContent("Labelled 2 You have answered everything");
});

/** Whether the browser asks before it closes the page. */
const asksToStay = () => !window.dispatchEvent(new Event("beforeunload", { cancelable: true }));

it("asks before it is closed while something is not handed in", async () => {
  open(short(3));
  await ready();
  expect(asksToStay()).toBe(false);
  await answer();
  expect(asksToStay()).toBe(true);
  await handIn();
  expect(asksToStay()).toBe(false);
  await answer();
  expect(asksToStay()).toBe(true);
});

it("shows at the end and after stopping what was handed in", async () => {
  open(short(2));
  await answer();
  await answer();
  const end = () => screen.getByTestId("packet-done");
  await waitFor(() => expect(end()).toHaveTextContent("Until then you can change your answers."));
  await handIn();
  await waitFor(() => expect(end()).toHaveTextContent("The file with your answers was made"));
  await user.click(screen.getByText("Go back"));
  await ready();
  await user.keyboard("4");
  await user.keyboard("{Enter}");
  await waitFor(() => expect(end()).toHaveTextContent("Until then you can change your answers."));

  const stopped = () => screen.getByTestId("stop-page");
  app.stop();
  await waitFor(() => expect(stopped()).toHaveTextContent("1 answer or change since you handed in"));
  expect(asksToStay()).toBe(true);
  app.stop();
  await screen.findByTestId("packet-done");
  await handIn();
  app.stop();
  await waitFor(() => expect(stopped()).toHaveTextContent("File to send made"));
  expect(stopped()).not.toHaveTextContent("Nothing was submitted");
  expect(asksToStay()).toBe(false);
});

it("shows after stopping that nothing was handed in", async () => {
  open(short(2));
  await answer();
  app.stop();
  expect(await screen.findByTestId("stop-page")).toHaveTextContent("Nothing was submitted");
  expect(asksToStay()).toBe(true);
});

it("continues by itself once another tab with the packet is closed", async () => {
  const own = short(2);
  const release = await takeLock(`dissensus-packet-${own.packet}`);
  open(own);
  await screen.findByTestId("page-elsewhere");
  release?.();
  await waitFor(() => expect(textOnDesk()).toBeDefined(), { timeout: 10_000 });
});

it("saves the work with every answer, which hands nothing in", async () => {
  open(short(3));
  for (const _ of [1, 2, 3]) await answer();
  await user.click(screen.getByTestId("save-work"));
  expect(names).toEqual([expect.stringMatching(/^ada-.*\.handin$/)]);
  const lines = (await savedText()).split("\n");
  expect(lines.filter((line) => line.startsWith('{"event"'))).toHaveLength(3);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ answers: 3 });
  expect(screen.getByTestId("done-toast")).toHaveTextContent(`Saved as ${names[0]}`);
  expect(session.current?.desk.openPacket()).toMatchObject({ handed_in: null, since: 3 });
});

it("notes after handing in how many texts are in the file", async () => {
  open(short(3));
  await answer();
  await handIn();
  expect(screen.getByTestId("done-toast")).toHaveTextContent(`Now send ${names[0]}: 1 of 3 texts are in it`);
  app.toasts.list = [];
  await answer();
  await answer();
  await handIn();
  expect(screen.getByTestId("done-toast")).toHaveTextContent(`Now send ${names[1]}: all 3 texts are in it`);
});

it("speaks the study's language, else the chosen one, else the browser's", async () => {
  vi.spyOn(navigator, "languages", "get").mockReturnValue(["xx", "nl-BE"]);
  const spoken = async (language: PageContent["language"]) => {
    closeTab();
    open({ ...short(1), language });
    await ready();
    return document.documentElement.lang;
  };
  expect(await spoken(null)).toBe("nl");
  await user.selectOptions(screen.getByTestId("page-language"), "pl");
  expect(document.documentElement.lang).toBe("pl");
  expect(await spoken(null)).toBe("pl");
  expect(await spoken("de")).toBe("de");
  expect(screen.queryByTestId("page-language")).toBeNull();
  speak("en");
});

it("lists texts without what only researchers see, with answers in the language in use", async () => {
  const [question] = content.questions;
  open({ ...short(2), questions: question ? [{ ...question, cannot_say: true }] : [] });
  await ready();
  await user.keyboard("x");
  await waitFor(() => expect(session.current?.desk.openPacket().given).toBe(1));
  app.show("label-list");
  const list = await screen.findByTestId("texts-list");
  await waitFor(() => expect(list).toHaveTextContent("cannot say"));
  expect(screen.getByTestId("texts-heads")).toHaveTextContent(/^Id\s*Text\s*Your answer$/);
  await user.selectOptions(screen.getByTestId("page-language"), "de");
  await waitFor(() => expect(list).not.toHaveTextContent("cannot say"));
  expect(list).toHaveTextContent("nicht zu sagen");
  speak("en");
});
