// The list of texts, and the ways into it and out of it.
import { render, screen, waitFor } from "@testing-library/svelte";
import { readFileSync } from "node:fs";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { TextList } from "$stores/text-list.svelte";
import { rowName } from "$words/text-list";
import App from "../../App.svelte";
import { playPacket, reset } from "../../mock/bindings";
import TextsView from "./TextsView.svelte";

let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  localStorage.clear();
  reset();
  app.toasts.list = [];
  user = userEvent.setup();
  await app.openSample();
});

const total = () => screen.getByTestId("texts-total").textContent?.trim();
const number = (filter: string) =>
  screen.getByTestId(`texts-filter-${filter}`).textContent?.match(/[\d,]+/)?.[0];
const selected = () =>
  screen
    .queryAllByTestId("texts-row")
    .find((row) => row.getAttribute("aria-selected") === "true")
    ?.getAttribute("data-text-id");

async function listed() {
  app.show("label-list");
  render(TextsView);
  await waitFor(() => expect(total()).toBe("160 texts"));
}

it("has a header for every column, with the names of the id and text columns", async () => {
  await listed();
  expect([...screen.getByTestId("texts-heads").children].map((head) => head.textContent)).toEqual([
    "Id",
    "Text",
    "",
    "Answers",
    "Labels differ",
  ]);
  // The rows have the columns of the heads, and the answers no more room than they need in a narrow window.
  const row = readFileSync("src/views/texts/TextLine.svelte", "utf8");
  const table = readFileSync("src/views/texts/TextTable.svelte", "utf8");
  for (const source of [row, table]) expect(source).toContain("grid-template-columns: var(--text-columns)");
  expect(table).toMatch(/--text-columns: [^;]*clamp\(/);
});

describe("the filters", () => {
  it("show how many texts each leaves, for the current annotator", async () => {
    await app.join("Robin");
    const me = app.annotatorId ?? 0;
    await commands.recordLabel(
      { question: 1, annotator: me, text: 3, answer: { kind: "level", value: 2 }, duration_ms: null },
      { note: { note: "irony", reasons: [], confidence: null }, guideline: null },
    );
    await commands.flagText(me, 1, 5, true);
    await commands.skipText(me, [1], 7);
    await listed();
    expect(number("answered")).toBe("1");
    expect(number("not_yet")).toBe("159");
    expect(number("skipped")).toBe("1");
    expect(number("flagged")).toBe("1");
    expect(number("noted")).toBe("1");
    await user.click(screen.getByTestId("texts-filter-flagged"));
    await waitFor(() => expect(total()).toBe("1 text"));
    await user.keyboard("{ArrowDown}");
    await waitFor(() => expect(selected()).toBe("5"));
    expect(screen.getByLabelText("flagged")).toBeInTheDocument();
  });

  it("show disagreement of others only for texts that this person has answered", async () => {
    await app.join("Robin");
    await listed();
    await user.click(screen.getByTestId("texts-filter-contested"));
    expect(await screen.findByTestId("texts-none")).toHaveTextContent(
      "Labels do not differ on any text that you have answered. Other texts are shown after you answer them.",
    );
    app.labelAs(null);
    await waitFor(() => expect(Number(number("contested"))).toBeGreaterThan(50));
  });

  it("move by key to the next non-empty filter, and by arrow keys from one to the next", async () => {
    await app.join("Robin");
    await listed();
    await user.keyboard("f");
    await waitFor(() => expect(app.texts.filter).toBe("not_yet"));
    screen.getByTestId("texts-filter-not_yet").focus();
    await user.keyboard("{ArrowRight}");
    expect(app.texts.filter).toBe("skipped");
    expect(screen.getByTestId("texts-filter-skipped")).toHaveFocus();
  });

  it("measure the texts when long ones are first requested, and show why this fails", async () => {
    const measure = vi
      .spyOn(commands, "measureLongTexts")
      .mockRejectedValueOnce({ code: "encoder-missing", message: "the encoder is not here", detail: null });
    await listed();
    expect(number("long")).toBeUndefined();
    await user.click(screen.getByTestId("texts-filter-long"));
    expect(await screen.findByTestId("texts-unmeasured")).toHaveTextContent("The encoder is not here");
    expect(screen.getByText("Get the encoder…")).toBeVisible();
    expect(measure).toHaveBeenCalledTimes(1);
    await user.click(screen.getByText("All texts"));
    await waitFor(() => expect(total()).toBe("160 texts"));
    await user.click(screen.getByTestId("texts-filter-long"));
    await waitFor(() => expect(number("long")).toBe("1"));
    expect(measure).toHaveBeenCalledTimes(2);
  });
});

describe("keys", () => {
  it("search, choose and open a text on the desk, and return from it", async () => {
    await app.join("Robin");
    render(App);
    await user.keyboard("{Control>}f{/Control}");
    await waitFor(() => expect(total()).toBe("160 texts"));
    await user.keyboard("/");
    expect(screen.getByTestId("texts-search")).toHaveFocus();
    await user.keyboard("clowns");
    await waitFor(() => expect(Number.parseInt(total() ?? "")).toBeLessThan(30));
    await user.keyboard("{ArrowDown}{ArrowDown}");
    await waitFor(() => expect(selected()).toBeTruthy());
    const text = selected();
    await user.keyboard("{Enter}");
    await waitFor(() => expect(screen.getByTestId("label-text").dataset["textId"]).toBe(text));
    await user.keyboard("4");
    await waitFor(() => expect(screen.getByTestId("level-4").getAttribute("aria-pressed")).toBe("true"));
    await user.keyboard("{Control>}f{/Control}");
    await waitFor(() => expect(selected()).toBe(text));
    expect(screen.getByTestId("texts-search")).toHaveValue("clowns");
  });

  it("open the findings of a text, except in a packet", async () => {
    await app.join("Robin");
    await listed();
    await user.keyboard("{Home}");
    await waitFor(() => expect(selected()).toBe("1"));
    await user.keyboard("d");
    expect([app.view, app.requestedText]).toEqual(["findings-texts", 1]);
    playPacket(app.annotatorId ?? 0, [{ text: 1, occasion: 1 }]);
    await app.openSample();
    app.show("label-list");
    app.texts.selected = 1;
    await user.keyboard("d");
    expect(app.view).toBe("label-list");
    expect(screen.queryByTestId("texts-filter-contested")).toBeNull();
  });
});

it("starts at the top of another list, and keeps its position in the same one", async () => {
  await listed();
  await user.keyboard("{End}");
  await waitFor(() => expect(selected()).toBe("160"));
  await app.refresh();
  await new Promise((settled) => setTimeout(settled, 50));
  expect(selected()).toBe("160");
  await user.click(screen.getByTestId("texts-filter-contested"));
  await waitFor(() => expect(app.texts.sort).toBe("contested"));
  await waitFor(() => expect([app.texts.at, app.texts.selected]).toEqual([-1, null]));
});

it("is reached from the counters next to the desk", async () => {
  await app.join("Robin");
  render(App);
  await screen.findByTestId("summary-step");
  // The window begins with the open project.
  await new Promise((settled) => setTimeout(settled, 50));
  app.show("label");
  await waitFor(() => expect(screen.getByTestId("label-text").dataset["textId"]).toBe("1"));
  await user.keyboard("s");
  await user.click(await screen.findByTestId("label-list-skipped"));
  await waitFor(() => expect(total()).toBe("1 text"));
  expect(app.texts.filter).toBe("skipped");
});

describe("the rows", () => {
  const page = (offset: number, revision: number) => ({
    total: 300,
    offset,
    rows: Array.from({ length: 100 }, (_, i) => ({ text: revision * 1000 + offset + i }) as never),
    counts: { all: 300 } as never,
    place: null,
    revision,
  });
  const query = {
    annotator: null,
    questions: [],
    search: "",
    filter: "all",
    sort: "file",
    bare: false,
  } as const;

  it("are loaded when visible, each part once", async () => {
    const find = vi.spyOn(commands, "findTexts").mockImplementation(async (_, offset) => page(offset, 1));
    const list = new TextList();
    await list.load({ ...query, questions: [] });
    await Promise.all([list.need(90, 120), list.need(95, 130)]);
    expect(find.mock.calls.map(([, offset]) => offset)).toEqual([0, 100]);
    expect(list.rows.get(150)?.text).toBe(1150);
    find.mockRestore();
  });

  it("of different states are never mixed, and outdated responses are ignored", async () => {
    let revision = 1;
    const find = vi
      .spyOn(commands, "findTexts")
      .mockImplementation(async (_, offset) => page(offset, revision));
    const list = new TextList();
    await list.load({ ...query, questions: [] });
    revision = 2;
    await list.need(200, 210);
    expect(list.rows.get(0)).toBeUndefined();
    expect(list.rows.get(200)?.text).toBe(2200);
    const first = list.load({ ...query, questions: [], search: "a" });
    const second = list.load({ ...query, questions: [], search: "ab" });
    await Promise.all([first, second]);
    // A superseded request is never sent.
    expect(find.mock.calls.map(([{ search }]) => search)).toEqual(["", "", "ab"]);
    find.mockRestore();
  });
});

it("names a text by its position if no file named it", () => {
  expect(rowName({ named: true, external_id: "c-7", row: 4 })).toBe("c-7");
  expect(rowName({ named: false, external_id: "t185f8db32271fe25f561", row: 4 })).toBe("Row 4");
});
