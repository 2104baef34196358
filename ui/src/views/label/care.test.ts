// Protection: a day that ends, excluded topics, and stopping at any time.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import App from "../../App.svelte";
import { app } from "$stores/app.svelte";
import { reset } from "../../mock/bindings";
import { showOthers } from "../../mock/show-others";
import StudySettingsDialog from "$views/study/StudySettingsDialog.svelte";

let user: ReturnType<typeof userEvent.setup>;
async function press(keys: string): Promise<void> {
  await user.keyboard(keys);
  await new Promise((settled) => setTimeout(settled, 12));
}
const text = () => screen.queryByTestId("label-text")?.dataset.textId;

beforeEach(async () => {
  vi.restoreAllMocks();
  reset();
  user = userEvent.setup();
  app.toasts.list = [];
  app.dialog = null;
  await app.openSample();
  await showOthers(false);
  await app.join("Robin");
});

async function begin() {
  render(App);
  await screen.findByTestId("summary-step");
  // The window begins with the open project.
  await new Promise((settled) => setTimeout(settled, 50));
  app.show("label");
  await waitFor(() => expect(text()).toBe("1"));
}

describe("with the next text shown at once", () => {
  it("an answer is reported as stored, and can be removed from there", async () => {
    await begin();
    expect(screen.queryByTestId("label-last-undo")).toBeNull();
    expect(screen.queryByText(/after you have answered/)).toBeNull();
    await press("4");
    await waitFor(() => expect(text()).toBe("2"));
    expect(screen.getByTestId("label-last")).toHaveTextContent("4");
    expect(screen.getByTestId("label-message")).toHaveTextContent("Labelled 4");
    // One button takes it back: that of the tools, while there are some.
    expect(screen.getAllByRole("button", { name: /^Undo/ })).toEqual([screen.getByTestId("label-undo")]);
    await user.click(screen.getByTestId("label-undo"));
    await waitFor(() => expect(text()).toBe("1"));
    expect(screen.getByTestId("label-progress-done")).toHaveTextContent("0");
  });

  it("what the study reveals is shown instead", async () => {
    await begin();
    await showOthers(true);
    await waitFor(() => expect(screen.queryByTestId("label-last")).toBeNull());
    await press("4");
    await waitFor(() => expect(screen.getByTestId("label-reveal")).toBeVisible());
    expect(text()).toBe("1");
  });
});

describe("a limit of hard texts", () => {
  const limit = (strict: boolean) =>
    commands.setStudyCare({ limit: 1, strict, greyscale: false, harmful: [] }).then(() => app.refresh());

  it("ends the day after the current text, without naming it, and lets the person go on", async () => {
    await limit(false);
    await begin();
    await press("f");
    await waitFor(() => expect(app.care.ended).toBe(true));
    expect(text()).toBe("1");
    await press("2");
    await waitFor(() => expect(screen.getByTestId("care-finished")).toHaveTextContent("Finished for today"));
    expect(screen.getByTestId("care-finished")).toHaveTextContent("You labelled 1 text today");
    expect(text()).toBeUndefined();
    // Enter asks for nothing, and an answer can still be changed.
    await press("{Enter}");
    expect(screen.getByTestId("care-finished")).toBeVisible();
    await press("{ArrowLeft}");
    await waitFor(() => expect(text()).toBe("1"));
    await press("3");
    await waitFor(() => expect(screen.getByTestId("care-finished")).toBeVisible());
    await user.click(screen.getByTestId("care-go-on"));
    await waitFor(() => expect(text()).toBe("2"));
  });

  it("that is strict offers nothing more that day, also when the view is opened again", async () => {
    await limit(true);
    await begin();
    await press("f");
    await waitFor(() => expect(app.care.ended).toBe(true));
    await press("{ArrowRight}");
    await waitFor(() => expect(screen.getByTestId("care-finished")).toBeVisible());
    expect(screen.queryByTestId("care-go-on")).toBeNull();
    expect(screen.getByTestId("care-back")).toBeVisible();
    app.show("people-study");
    await waitFor(() => expect(screen.queryByTestId("care-finished")).toBeNull());
    app.show("label");
    await waitFor(() => expect(screen.getByTestId("care-finished")).toBeVisible());
    // No text was on the desk since: there is none to go back to.
    expect(screen.queryByTestId("care-back")).toBeNull();
    // A limit that the study lifts lets the day go on.
    await commands.setStudyCare({ limit: null, strict: false, greyscale: false, harmful: [] });
    await app.care.load(app.annotatorId ?? 0);
    await waitFor(() => expect(text()).toBe("1"));
  });

  it("that cannot be stored on this computer is reported, and the label is stored", async () => {
    await begin();
    vi.spyOn(commands, "readText").mockRejectedValue({ code: "io", message: "disk full", detail: null });
    await press("2");
    await waitFor(() => expect(text()).toBe("2"));
    expect(screen.getByTestId("label-progress-done")).toHaveTextContent("1");
    expect(app.toasts.list.some(({ message }) => message.toLowerCase().includes("disk full"))).toBe(true);
  });
});

describe("in Settings", () => {
  it("words exclude texts, which are no longer offered and are counted separately", async () => {
    await begin();
    const total = app.project?.texts ?? 0;
    app.dialog = "care";
    const words = await screen.findByTestId("care-words", {}, { timeout: 5000 });
    await user.type(words, "soup, CLOWNS");
    words.blur();
    const left = await waitFor(() => {
      const found = Number(screen.getByTestId("care-left-out").textContent);
      expect(found).toBeGreaterThan(0);
      return found;
    });
    app.dialog = null;
    await waitFor(() =>
      expect(screen.getByTestId("label-progress-left-out")).toHaveTextContent(String(left)),
    );
    expect(screen.getByText(`of ${total - left}`, { exact: false })).toBeVisible();
    // The text on the desk stays, the next one is another.
    expect(text()).toBe("1");
    await press("2");
    await waitFor(() => expect(text()).toBe("3"));
  });

  it("a personal limit is stored, and an invalid one is not", async () => {
    await begin();
    const choose = vi.spyOn(commands, "setOwnCare");
    app.dialog = "care";
    const limit = await screen.findByTestId("care-limit", {}, { timeout: 5000 });
    await user.type(limit, "0");
    expect(await screen.findByText(/whole number, 1 or more/)).toBeVisible();
    expect(choose).not.toHaveBeenCalled();
    await user.clear(limit);
    await user.type(limit, "5");
    await waitFor(() => expect(choose.mock.lastCall?.[1].limit).toBe(5));
    expect(screen.getByTestId("care-exposure")).toHaveTextContent("Only you see this");
  });

  it("grey removes colour from texts, for this person or for the whole study", async () => {
    await begin();
    const root = document.documentElement;
    expect(root.hasAttribute("data-grey")).toBe(false);
    await app.saveSettings({ ...app.settings, greyscale: true });
    await waitFor(() => expect(root.hasAttribute("data-grey")).toBe(true));
    await app.saveSettings({ ...app.settings, greyscale: false });
    await waitFor(() => expect(root.hasAttribute("data-grey")).toBe(false));
    await commands.setStudyCare({ limit: null, strict: false, greyscale: true, harmful: [] });
    await app.refresh();
    await waitFor(() => expect(root.hasAttribute("data-grey")).toBe(true));
  });
});

describe("stopping", () => {
  it("hides everything by one key, asks nothing, submits nothing, and keeps the note", async () => {
    await begin();
    const [note, close] = [vi.spyOn(commands, "saveNote"), vi.spyOn(commands, "closeProject")];
    const handIn = vi.spyOn(commands, "handIn");
    await press("n");
    await press("hard to read");
    await press("{Control>}d{/Control}");
    await waitFor(() => expect(screen.getByTestId("stop-page")).toHaveTextContent("Labelling stopped"));
    expect(text()).toBeUndefined();
    expect(screen.queryByRole("dialog")).toBeNull();
    await waitFor(() => expect(note.mock.lastCall?.[3].note.note).toBe("hard to read"));
    expect(close).not.toHaveBeenCalled();
    expect(handIn).not.toHaveBeenCalled();
    // What is pressed from habit brings nothing back and gives no answer.
    const record = vi.spyOn(commands, "recordLabel");
    await press("3{Enter} ");
    await press("{Control>}2{/Control}");
    expect(screen.getByTestId("stop-page")).toBeVisible();
    expect(record).not.toHaveBeenCalled();
    await press("{Control>}d{/Control}");
    await waitFor(() => expect(text()).toBe("1"));
  });

  it("works over a dialog as well, and by its button", async () => {
    await begin();
    app.dialog = "settings";
    await screen.findByTestId("settings-dialog");
    await press("{Control>}d{/Control}");
    await waitFor(() => expect(screen.getByTestId("stop-page")).toBeVisible());
    expect(screen.queryByTestId("settings-dialog")).toBeNull();
    await user.click(screen.getByTestId("stop-back"));
    await waitFor(() => expect(text()).toBe("1"));
    await user.click(screen.getByTestId("stop-here"));
    await waitFor(() => expect(screen.getByTestId("stop-page")).toBeVisible());
  });
});

describe("what annotators see", () => {
  it("turns on others' answers, and sets a limit and the hard levels", async () => {
    render(StudySettingsDialog, { onclose: () => undefined });
    const [reveal, care] = [vi.spyOn(commands, "setReveal"), vi.spyOn(commands, "setStudyCare")];
    await user.click(await screen.findByTestId("study-reveal"));
    expect(reveal).toHaveBeenCalledWith(true);
    await waitFor(() => expect(app.reveals).toBe(true));
    await user.type(screen.getByTestId("study-limit"), "40");
    await waitFor(() => expect(care.mock.lastCall?.[0].limit).toBe(40));
    await user.click(screen.getByTestId("study-strict"));
    await waitFor(() => expect(care.mock.lastCall?.[0].strict).toBe(true));
    await user.click(screen.getByTestId("study-harmful-offensiveness"));
    await user.click(await screen.findByText("offensiveness: 4 or above"));
    await waitFor(() => expect(care.mock.lastCall?.[0].harmful).toEqual([{ question: 1, level: 3 }]));
    expect(care.mock.lastCall?.[0].limit).toBe(40);
  });
});
