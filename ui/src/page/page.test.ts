// The page as its person meets it, in a browser without a server.
import "fake-indexeddb/auto";
import { cleanup, render, screen } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { JoinPage, PageContent } from "$api/bindings";
import { app } from "$stores/app.svelte";
import { newId } from "./new-id";
import Page from "./Page.svelte";
import { session } from "./session";

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
  user = userEvent.setup();
});

afterEach(() => {
  closeTab();
  vi.unstubAllGlobals();
  document.getElementById("packet")?.remove();
  sessionStorage.clear();
});

function closeTab(): void {
  cleanup();
  channels.splice(0).forEach((channel) => channel.close());
  session.current = null;
  [app.ready, app.project, app.view] = [false, null, "label"];
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
