// Writing the guideline: pictures, a version that came meanwhile, versions and agreement.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { readText } from "$logic/guideline-files";
import * as platform from "$platform";
import App from "../../App.svelte";
import { reset } from "../../mock/bindings";
import { guideline } from "../../mock/guideline";

const NAME = "0011223344556677";
let user: ReturnType<typeof userEvent.setup>;
const field = (testid: string) => screen.getByTestId<HTMLInputElement>(`guideline-${testid}`);
const body = () => field("body").value;
const save = () => field("save");
const shown = () => screen.getByTestId("guideline-shown");

function write(text: string, change = "", by = "Ada") {
  return guideline.write({
    body: text,
    change,
    by,
    pictures: [],
    after: guideline.versions.at(-1)?.id ?? null,
  }).guideline;
}

async function open() {
  await app.refresh();
  app.dialog = "guideline";
  await screen.findByTestId("guideline-dialog");
}

beforeEach(async () => {
  localStorage.clear();
  reset();
  app.toasts.list = [];
  app.dialog = null;
  user = userEvent.setup();
  render(App);
  await waitFor(() => expect(app.ready).toBe(true));
  await app.openSample();
});

describe("the first version", () => {
  beforeEach(open);

  it("needs no description of changes, and is current from then on", async () => {
    const written = vi.spyOn(commands, "writeGuideline");
    expect(screen.queryByTestId("guideline-change")).toBeNull();
    expect(save()).toBeDisabled();
    await user.type(field("body"), "# Look{Enter}{Enter}Some **words**");
    await user.type(field("by"), "Ada");
    await waitFor(() => expect(shown().querySelector("strong")).toHaveTextContent("words"));
    await user.click(save());
    await waitFor(() => expect(app.dialog).toBeNull());
    expect(written).toHaveBeenCalledExactlyOnceWith({
      body: "# Look\n\nSome **words**",
      change: "",
      by: "Ada",
      pictures: [],
      after: null,
    });
    expect(app.guideline.current?.number).toBe(1);
    expect(app.toasts.list[0]?.message).toBe("Version 1 of the guideline is now current");
    // Who writes is remembered.
    await open();
    expect(field("by")).toHaveValue("Ada");
  });

  it("states how it is shown", async () => {
    await user.click(field("body"));
    await user.paste("[a](https://x.org)");
    await user.click(save());
    await waitFor(() => expect(app.toasts.list[0]).toMatchObject({ kind: "note", persistent: false }));
    expect(app.toasts.list[0]?.detail).toContain("1 link");
  });

  it("asks before it discards the draft", async () => {
    await user.type(field("body"), "words");
    await user.click(screen.getByRole("button", { name: "Cancel" }));
    await user.click(await screen.findByTestId("discard-keep"));
    expect(body()).toBe("words");
    await user.keyboard("{Escape}");
    await user.click(await screen.findByTestId("discard-yes"));
    expect(app.dialog).toBeNull();
    expect(guideline.versions).toEqual([]);
  });

  it("can be loaded from a text file", async () => {
    await user.upload(field("file"), new File(["# From a file\r\n\r\nwords"], "rules.md"));
    await waitFor(() => expect(body()).toBe("# From a file\n\nwords"));
    expect(save()).toBeEnabled();
  });

  it("reports a file that is not text, and keeps the draft", async () => {
    await user.upload(field("file"), new File([new Uint8Array([0xff, 0xfe, 0x41])], "rules.md"));
    expect(await screen.findByTestId("guideline-problem")).toHaveTextContent("“rules.md” is not UTF-8 text");
    expect(body()).toBe("");
    await expect(readText(new File(["a\0b"], "b.md"))).rejects.toThrow("is not UTF-8 text");
    await expect(readText(new File(["a".repeat(1_100_000)], "c.md"))).rejects.toThrow("larger than 1 MiB");
  });

  it("is not saved with more characters than are stored", async () => {
    await user.click(field("body"));
    await user.paste("😀".repeat(100_000));
    expect(save()).toBeEnabled();
    await user.paste("a".repeat(100_012));
    expect(screen.getByTestId("guideline-missing")).toHaveTextContent("12 characters too many");
    expect(save()).toBeDisabled();
  });
});

describe("a picture", () => {
  beforeEach(open);

  it("is inserted at the caret, shown before it is in the project, and saved with its file", async () => {
    const written = vi.spyOn(commands, "writeGuideline");
    const read = vi.spyOn(commands, "readPicture");
    const fetched = vi.spyOn(commands, "picture");
    await user.type(field("body"), "before after", {});
    (field("body") as unknown as HTMLTextAreaElement).setSelectionRange(7, 7);
    await user.click(field("picture"));
    await waitFor(() => expect(body()).toBe(`before ![](picture:${NAME})after`));
    expect(read).toHaveBeenCalledExactlyOnceWith("/home/you/example.png");
    // What it shows is written next.
    await user.keyboard("a face");
    expect(body()).toBe(`before ![a face](picture:${NAME})after`);
    const picture = await within(shown()).findByTestId("picture");
    await waitFor(() => expect(picture).toHaveAttribute("alt", "a face"));
    expect(fetched).not.toHaveBeenCalled();
    await user.click(save());
    await waitFor(() => expect(written.mock.calls[0]?.[0].pictures).toEqual(["/home/you/example.png"]));
  });

  it("that was removed again is not saved", async () => {
    const written = vi.spyOn(commands, "writeGuideline");
    await user.click(field("picture"));
    await waitFor(() => expect(body()).toContain(NAME));
    await user.clear(field("body"));
    await user.type(field("body"), "words");
    await user.click(save());
    await waitFor(() => expect(written.mock.calls[0]?.[0]).toMatchObject({ body: "words", pictures: [] }));
  });

  it("that cannot be used is reported, and nothing is inserted", async () => {
    const message = "/home/you/example.png: it has 9000 x 10 pixels";
    vi.spyOn(commands, "readPicture").mockRejectedValue({ code: "picture", message, detail: null });
    await user.type(field("body"), "words");
    await user.click(field("picture"));
    expect(await screen.findByTestId("guideline-problem")).toHaveTextContent(message);
    expect(body()).toBe("words");
  });

  it("can be dropped; other dropped files are not imported meanwhile", async () => {
    app.drop(["/home/you/dropped.JPG"]);
    await waitFor(() => expect(body()).toContain(`picture:${NAME}`));
    app.drop(["/home/you/labels.csv"]);
    expect(await screen.findByTestId("guideline-problem")).toHaveTextContent("Only pictures can be added");
    expect(app.importing).toBeNull();
    await user.click(screen.getByRole("button", { name: "Cancel" }));
    await user.click(await screen.findByTestId("discard-yes"));
    app.drop(["/home/you/labels.csv"]);
    await waitFor(() => expect(app.importing).toBe("/home/you/labels.csv"));
    app.importing = null;
  });

  it("is not inserted if the file dialog was cancelled", async () => {
    const read = vi.spyOn(commands, "readPicture");
    vi.spyOn(platform, "choosePicture").mockResolvedValue(null);
    await user.click(field("picture"));
    expect(read).not.toHaveBeenCalled();
    expect(body()).toBe("");
  });
});

describe("a later version", () => {
  beforeEach(async () => {
    write("# One\n\nfirst\n\nlast");
    await open();
  });

  it("describes changes, in words and line by line", async () => {
    expect(screen.getByTestId("guideline-missing")).toHaveTextContent("Version 1 has the same text");
    await user.type(field("body"), " more");
    expect(screen.getByTestId("guideline-missing")).toHaveTextContent("Describe what changed");
    expect(save()).toBeDisabled();
    await user.click(screen.getByTestId("guideline-pane-changes"));
    await waitFor(() => expect(shown().querySelector("ins")).toHaveTextContent("last more"));
    await user.type(field("change"), "More on the last{Enter}");
    await waitFor(() =>
      expect(guideline.versions.at(-1)).toMatchObject({ number: 2, change: "More on the last" }),
    );
  });

  it("keeps the draft if another version was saved meanwhile, and shows that one", async () => {
    await user.type(field("body"), " mine");
    await user.type(field("change"), "Mine");
    const theirs = write("# One\n\ntheirs", "Theirs", "Ben");
    await user.click(save());
    const notice = await screen.findByTestId("guideline-outdated");
    expect(notice).toHaveTextContent("Version 2 was saved in the meantime by Ben: Theirs");
    expect(body()).toContain("last mine");
    expect(guideline.versions).toHaveLength(2);
    await user.click(screen.getByTestId("guideline-show-other"));
    expect(shown()).toHaveTextContent("theirs");
    expect(save()).toHaveTextContent("Save as version 3");
    await user.click(screen.getByTestId("guideline-pane-changes"));
    await waitFor(() => expect(shown().querySelector("del")).toHaveTextContent("theirs"));
    const written = vi.spyOn(commands, "writeGuideline");
    await user.click(save());
    await waitFor(() => expect(app.dialog).toBeNull());
    expect(written.mock.calls[0]?.[0]).toMatchObject({ after: theirs.id, change: "Mine" });
    expect(guideline.versions.map(({ number }) => number)).toEqual([1, 2, 3]);
  });

  it("stays open if it cannot be saved", async () => {
    const fails = { code: "disk-full", message: "the disk is full", detail: null };
    vi.spyOn(commands, "writeGuideline").mockRejectedValueOnce(fails);
    await user.type(field("body"), " mine");
    await user.type(field("change"), "Mine");
    await user.click(save());
    expect(await screen.findByTestId("guideline-problem")).toHaveTextContent("The disk is full");
    expect(body()).toContain("last mine");
    await user.click(save());
    await waitFor(() => expect(guideline.versions).toHaveLength(2));
  });
});

describe("versions", () => {
  beforeEach(async () => {
    write("# One\n\nfirst");
    write("# One\n\nsecond", "Second thoughts", "Ben");
    write("# One\n\nthird", "Third", "Cem");
    await open();
    await user.click(screen.getByTestId("guideline-tab-versions"));
    await screen.findByTestId("version-3");
  });

  it("are listed, read and compared with the one before", async () => {
    const names = screen.getAllByTestId(/^version-\d$/).map((one) => one.dataset.testid);
    expect(names).toEqual(["version-3", "version-2", "version-1"]);
    expect(screen.getByTestId("version-2")).toHaveTextContent(/Version 2.*Ben.*Second thoughts/);
    expect(screen.getByTestId("version-text")).toHaveTextContent("third");
    expect(screen.queryByTestId("version-take")).toBeNull();
    await user.click(screen.getByTestId("version-2"));
    expect(screen.getByTestId("version-text")).toHaveTextContent("second");
    await user.click(screen.getByTestId("version-diff"));
    const text = screen.getByTestId("version-text");
    expect([text.querySelector("del")?.textContent, text.querySelector("ins")?.textContent]).toEqual([
      "−first",
      "+second",
    ]);
    // The first one has none before it.
    await user.click(screen.getByTestId("version-1"));
    expect(screen.queryByTestId("version-diff")).toBeNull();
    expect(screen.getByTestId("version-text")).toHaveTextContent("first");
  });

  it("can be the start of a new version, which follows the newest", async () => {
    const written = vi.spyOn(commands, "writeGuideline");
    await user.click(screen.getByTestId("version-1"));
    await user.click(screen.getByTestId("version-take"));
    expect(body()).toBe("# One\n\nfirst");
    await user.type(field("change"), "Back to the first");
    await user.click(save());
    await waitFor(() => expect(guideline.versions).toHaveLength(4));
    expect(written.mock.calls[0]?.[0]).toMatchObject({ body: "# One\n\nfirst", after: "guideline-3" });
  });

  it("do not replace the draft without confirmation", async () => {
    await user.click(screen.getByTestId("guideline-tab-write"));
    await user.type(field("body"), " mine");
    await user.click(screen.getByTestId("guideline-tab-versions"));
    await user.click(await screen.findByTestId("version-1"));
    await user.click(screen.getByTestId("version-take"));
    expect(body()).toContain("third mine");
    await user.click(screen.getByTestId("version-take-yes"));
    expect(body()).toBe("# One\n\nfirst");
  });
});

describe("agreement", () => {
  it("is shown by version, or as a notice of too few labels", async () => {
    write("one");
    await open();
    await user.click(screen.getByTestId("guideline-tab-agreement"));
    const rows = await screen.findAllByTestId("agreement-row");
    expect(rows[0]).toHaveTextContent(/None on screen\s*412\s*96\s*0\.31.*\[0\.22, 0\.40\]/);
    expect(within(rows[0] as HTMLElement).getByRole("img")).toHaveAccessibleName(
      "None on screen: alpha 0.31, 95 % interval 0.22 to 0.40, for people like these",
    );
    expect(rows[1]).toHaveTextContent(/Version 1\s*60\s*12\s*too few labels/);
    expect(screen.getByTestId("agreement-care")).toHaveTextContent("need not be due to the guideline");
  });

  it("draws values below chance at the end of its line, and shows the number", async () => {
    const figures = [
      { number: 1, labels: 40, texts: 20, alpha: -0.2, low: -0.5, high: 0.1, like_these: true },
    ];
    vi.spyOn(commands, "guidelineAgreement").mockResolvedValue([{ question: 1, name: "rude", figures }]);
    write("one");
    await open();
    await user.click(screen.getByTestId("guideline-tab-agreement"));
    const row = await screen.findByTestId("agreement-row");
    expect(row).toHaveTextContent("−0.20");
    expect(row.querySelector(".range")).toHaveAttribute("x1", "4");
  });

  it("can be requested again if it failed", async () => {
    vi.spyOn(commands, "guidelineAgreement").mockRejectedValueOnce({
      code: "io",
      message: "the file cannot be read",
      detail: null,
    });
    write("one");
    await open();
    await user.click(screen.getByTestId("guideline-tab-agreement"));
    expect(await screen.findByText("The file cannot be read")).toBeVisible();
    await user.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findAllByTestId("agreement-row")).toHaveLength(2);
  });
});
