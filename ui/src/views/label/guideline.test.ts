// The guideline panel: its key, what is new to a person, and the version recorded with every label.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { GuidelineSide, newSince } from "$stores/guideline-side.svelte";
import { playPacket, reset } from "../../mock/bindings";
import { guideline } from "../../mock/guideline";
import LabelView from "./LabelView.svelte";

const text = () => screen.getByTestId("label-text").dataset.textId;
const panel = () => screen.queryByTestId("guideline-panel");
let user: ReturnType<typeof userEvent.setup>;

function write(body: string, change = "", by = "Ada") {
  return guideline.write({ body, change, by, pictures: [], after: guideline.versions.at(-1)?.id ?? null })
    .guideline;
}

async function begin(name = "Robin") {
  await app.openSample();
  await app.join(name);
  render(LabelView);
  await waitFor(() => expect(text()).toBe("1"));
}

async function press(key: string) {
  await user.keyboard(key);
  await new Promise((settled) => setTimeout(settled, 5));
}

beforeEach(() => {
  localStorage.clear();
  reset();
  app.toasts.list = [];
  app.dialog = null;
  user = userEvent.setup();
});

it("can be written if there is none, and G does nothing then", async () => {
  await begin();
  await press("g");
  expect(panel()).toBeNull();
  expect(screen.queryByTestId("guideline-toggle")).toBeNull();
  await user.click(screen.getByTestId("guideline-write"));
  expect(app.dialog).toBe("guideline");
});

it("opens by itself once for a person who has not seen it", async () => {
  write("# How to answer\n\nAs you see it.");
  await begin();
  expect(panel()).toHaveTextContent("As you see it.");
  expect(screen.getByTestId("guideline-version")).toHaveTextContent(/^Version 1 · .*Ada$/);
  await press("g");
  expect(panel()).toBeNull();
  cleanup();
  render(LabelView);
  await waitFor(() => expect(text()).toBe("1"));
  expect(panel()).toBeNull();
  // Another person has not had it on screen.
  await app.join("Kim");
  await waitFor(() => expect(panel()).not.toBeNull());
});

it("shows every change since the last seen version, each only once", async () => {
  write("one");
  await begin();
  await press("g");
  write("two", "Irony counts", "Ben");
  write("three", "Quotes do not", "Cem");
  await app.refresh();
  const news = await screen.findByTestId("guideline-news");
  await waitFor(() =>
    expect(news).toHaveTextContent(/Quotes do not.*Version 3.*Cem.*Irony counts.*Version 2.*Ben/),
  );
  expect(panel()).toHaveTextContent("three");
  await press("g");
  await press("g");
  expect(panel()).toHaveTextContent("three");
  expect(screen.queryByTestId("guideline-news")).toBeNull();
});

it("records the shown version with every label", async () => {
  const record = vi.spyOn(commands, "recordLabel");
  write("one");
  await begin();
  await press("2");
  await waitFor(() => expect(record).toHaveBeenCalledTimes(1));
  expect(record.mock.calls[0]?.[1]).toMatchObject({ guideline: "guideline-1" });
  write("two", "more");
  await app.refresh();
  await press("3");
  await waitFor(() => expect(record).toHaveBeenCalledTimes(2));
  expect(record.mock.calls[1]?.[1]).toMatchObject({ guideline: "guideline-2" });
});

it("records no version with labels if there is none", async () => {
  const record = vi.spyOn(commands, "recordLabel");
  await begin();
  await press("2");
  await waitFor(() => expect(record.mock.calls[0]?.[1]).toMatchObject({ guideline: null }));
});

describe("with a guideline", () => {
  beforeEach(async () => {
    write("# A\n\n# B\n\n# C");
    await begin();
    await press("g");
    expect(panel()).toBeNull();
  });

  it("opens and closes by button and by key, and its state is stored", async () => {
    await user.click(screen.getByTestId("guideline-toggle"));
    expect(panel()).not.toBeNull();
    cleanup();
    render(LabelView);
    expect(panel()).not.toBeNull();
    await user.click(screen.getByTestId("guideline-close"));
    expect(panel()).toBeNull();
    expect(new GuidelineSide(app.project?.path ?? "").open).toBe(false);
    expect(new GuidelineSide("/another").open).toBe(false);
  });

  it("keeps the text and the unsubmitted answer on the desk", async () => {
    const fetched = vi.spyOn(commands, "nextText");
    const box = screen.getByLabelText("Text to label");
    await press("g");
    expect(screen.getByLabelText("Text to label")).toBe(box);
    await press("g");
    expect(fetched).not.toHaveBeenCalled();
  });

  it("does not handle G in fields, dialogs, and with letter keys switched off", async () => {
    await press("{Shift>}g{/Shift}");
    await press("{Control>}g{/Control}");
    app.dialog = "keys";
    await press("g");
    app.dialog = null;
    expect(panel()).toBeNull();
    await app.saveSettings({ ...app.settings, letter_keys: false });
    await press("g");
    expect(panel()).toBeNull();
    await app.saveSettings({ ...app.settings, letter_keys: true });
    await press("g");
    expect(panel()).not.toBeNull();
  });

  it("scrolls with the keys that otherwise move to another text", async () => {
    await press("g");
    screen.getByRole("region", { name: "Guideline" }).focus();
    await press("{ArrowRight}");
    await press("{PageDown}");
    expect(text()).toBe("1");
    // What is answered is answered from here too.
    await press("2");
    await waitFor(() => expect(screen.getByTestId("level-2")).toHaveAttribute("aria-pressed", "true"));
  });

  it("is resized by key, within bounds, and keeps its width", async () => {
    await press("g");
    const edge = screen.getByTestId("guideline-edge");
    const width = () => Number(edge.getAttribute("aria-valuenow"));
    edge.focus();
    const before = width();
    await press("{ArrowLeft}");
    expect(width()).toBe(before + 24);
    for (let i = 0; i < 40; i++) await user.keyboard("{ArrowRight}");
    expect(width()).toBe(260);
    expect(text()).toBe("1");
    expect(new GuidelineSide(app.project?.path ?? "").width).toBe(260);
  });

  it("closes with Escape, in a wide window and in a narrow one", async () => {
    await press("g");
    await press("{Escape}");
    expect(panel()).toBeNull();
    await press("g");
    const narrow = vi.spyOn(window, "matchMedia").mockReturnValue({ matches: true } as MediaQueryList);
    await press("{Escape}");
    expect(panel()).toBeNull();
    narrow.mockRestore();
  });
});

describe("in a packet", () => {
  beforeEach(async () => {
    await app.openSample();
    await app.join("Robin");
    playPacket(app.annotatorId ?? 0, [{ text: 3, occasion: 1 }]);
  });

  it("has its button next to Hand in, and no editor", async () => {
    write("one");
    await app.openSample();
    render(LabelView);
    await waitFor(() => expect(panel()).toHaveTextContent("one"));
    expect(screen.queryByTestId("guideline-edit")).toBeNull();
    await user.click(screen.getByTestId("guideline-toggle"));
    expect(panel()).toBeNull();
  });

  it("has no button if the packet has no guideline", async () => {
    await app.openSample();
    render(LabelView);
    await waitFor(() => expect(text()).toBe("3"));
    expect(screen.queryByTestId("guideline-toggle")).toBeNull();
    expect(screen.queryByTestId("guideline-write")).toBeNull();
  });
});

describe("what is stored on this computer", () => {
  it("is ignored if it has another format", () => {
    localStorage.setItem("dissensus.guideline-panel:/a", '{"open":"yes","width":"wide"}');
    localStorage.setItem("dissensus.guideline-panel:/b", "{");
    localStorage.setItem("dissensus.guideline-panel:/c", '{"open":true,"width":9000}');
    expect(new GuidelineSide("/a")).toMatchObject({ open: false, width: 380 });
    expect(new GuidelineSide("/b")).toMatchObject({ open: false, width: 380 });
    expect(new GuidelineSide("/c")).toMatchObject({ open: true, width: 720 });
  });

  it("knows which versions are new", () => {
    const versions = [write("a"), write("b", "b"), write("c", "c")];
    const numbers = (before: string | null) => newSince(versions, before).map(({ number }) => number);
    expect(numbers("guideline-1")).toEqual([3, 2]);
    expect(numbers("guideline-3")).toEqual([]);
    expect(numbers(null)).toEqual([]);
    expect(numbers("of another copy")).toEqual([3]);
  });
});

it("stays closed and marked as new if it would cover the text", async () => {
  const narrow = vi.spyOn(window, "matchMedia").mockReturnValue({ matches: true } as MediaQueryList);
  write("# How to answer");
  await begin();
  expect(panel()).toBeNull();
  expect(screen.getByTestId("guideline-new")).toBeInTheDocument();
  // It is still new after the view was left without reading it.
  cleanup();
  render(LabelView);
  await screen.findByTestId("guideline-new");
  await press("g");
  expect(panel()).toHaveTextContent("How to answer");
  expect(screen.queryByTestId("guideline-new")).toBeNull();
  await press("g");
  cleanup();
  render(LabelView);
  await waitFor(() => expect(text()).toBe("1"));
  expect(screen.queryByTestId("guideline-new")).toBeNull();
  narrow.mockRestore();
});
