// The study: no packets, planning, handing out, progress, and merging files.
import { render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import type { StudyDraft, StudyRequest } from "$api/bindings";
import * as platform from "$platform";
import { reset, emit, study } from "../../mock/bindings";
import App from "../../App.svelte";
import StudyTable from "./StudyTable.svelte";
import StudyView from "./StudyView.svelte";

const NO_CONSENT = { whole_copies: false, changes: false, seen: [] };

const REQUEST: StudyRequest = {
  questions: [],
  people: ["ada", "ben", "cleo", "dora"],
  per_text: 2,
  per_person: null,
  anchors: 12,
  repeat: 0.1,
  again_after: 5,
  new_people: false,
  balance: null,
  seed: 0,
};

beforeEach(async () => {
  localStorage.clear();
  reset();
  app.toasts.list = [];
  await app.start();
  await app.openSample();
  app.show("people-study");
});

async function planning() {
  const user = userEvent.setup();
  render(StudyView);
  await user.click(await screen.findByTestId("study-plan"));
  await screen.findByTestId("study-dialog");
  return user;
}

const names = () => screen.getAllByTestId("study-person").map((row) => row.dataset["annotator"]);

describe("nothing handed out", () => {
  it("explains what a study is, and offers to plan one and to merge files", async () => {
    render(StudyView);
    const empty = await screen.findByTestId("study-empty");
    expect(empty).toHaveTextContent("several people label the same texts");
    expect(within(empty).getByTestId("study-plan")).toHaveTextContent("Plan a study…");
    expect(within(empty).getByTestId("study-take-in")).toBeVisible();
    // One action is primary, and comes first.
    expect(within(empty).getAllByRole("button")[0]).toBe(within(empty).getByTestId("study-plan"));
    expect(empty.querySelectorAll(".primary")).toHaveLength(1);
  });

  it("shows why the study cannot be read, and tries again", async () => {
    const read = vi
      .spyOn(commands, "studyReport")
      .mockRejectedValue({ code: "io", message: "the disk is gone", detail: null });
    render(StudyView);
    expect(await screen.findByText("The disk is gone")).toBeVisible();
    read.mockRestore();
    await userEvent.setup().click(screen.getByText("Try again"));
    expect(await screen.findByTestId("study-empty")).toBeVisible();
  });
});

describe("the table", () => {
  it("lists people in the order of their packets, and updates without flicker", async () => {
    await commands.handOut(REQUEST, "/p", "file", null);
    render(StudyView);
    await waitFor(() => expect(names()).toEqual(REQUEST.people));
    expect(screen.getByTestId("study-progress").textContent).toMatch(
      /^0 of [\d,]+ answers in · 0 of [\d,]+ texts complete$/,
    );
    // One action is primary.
    expect(document.querySelectorAll("header .primary")).toHaveLength(1);
    expect(screen.getByTestId("study-figure-anchors")).toHaveTextContent("Too few labels.");
    expect(screen.getByTestId("study-figure-again")).toHaveTextContent("No text was answered twice yet");
    expect(screen.getAllByText("not yet")).toHaveLength(4);
    const table = screen.getByTestId("study-table");
    await commands.mergeFiles(["/in/ben.handin"], NO_CONSENT);
    await waitFor(() => expect(screen.getAllByText("not yet")).toHaveLength(3));
    expect(screen.getByTestId("study-table")).toBe(table);
    const ben = screen.getAllByTestId("study-person")[1] as HTMLElement;
    expect(ben).toHaveTextContent("today");
    expect(within(ben).getAllByRole("img")[1]?.getAttribute("aria-label")).toMatch(
      /^Agreement with self: \d+ %, 95 % interval/,
    );
    expect(screen.getByTestId("study-figure-anchors")).toHaveTextContent("71 %");
  });

  it("sorts by any column, unknown values last in both directions", async () => {
    await commands.handOut(REQUEST, "/p", "file", null);
    await commands.mergeFiles(["/in/cleo.handin", "/in/ben.handin"], NO_CONSENT);
    const user = userEvent.setup();
    render(StudyView);
    const head = await screen.findByTestId("study-by-seconds");
    await user.click(head);
    const first = names();
    await user.click(head);
    const second = names();
    expect(new Set(first.slice(0, 2))).toEqual(new Set(["ben", "cleo"]));
    expect(second.slice(0, 2)).toEqual([...first.slice(0, 2)].reverse());
    expect(head.parentElement).toHaveAttribute("aria-sort", "ascending");
    await user.click(screen.getByTestId("study-by-name"));
    expect(names()).toEqual(["ada", "ben", "cleo", "dora"]);
    await user.click(screen.getByTestId("study-by-name"));
    expect(names()).toEqual(["dora", "cleo", "ben", "ada"]);
  });

  it("writes a packet again into a folder, and nothing if none is chosen", async () => {
    await commands.handOut(REQUEST, "/p", "file", null);
    const wrote = vi.spyOn(commands, "writePacketsAgain");
    const asked = vi.spyOn(platform, "chooseFolder").mockResolvedValueOnce(null).mockResolvedValue("/again");
    const user = userEvent.setup();
    render(StudyView);
    const button = await screen.findByLabelText("Write the packet of ben again");
    await user.click(button);
    expect(asked).toHaveBeenCalledWith("Save the packet of ben");
    expect(wrote).not.toHaveBeenCalled();
    await user.click(button);
    await waitFor(() => expect(wrote).toHaveBeenCalledWith(["ben"], "/again", "file", null));
    expect(app.toasts.list[0]).toMatchObject({
      message: "The packet was written again as ben.dissensus",
      detail: "/again/ben.dissensus",
    });
  });
});

describe("planning", () => {
  it("requests nothing before a person is named, then shows the amount of work", async () => {
    const asked = vi.spyOn(commands, "studyDraft");
    const user = await planning();
    expect(screen.getByTestId("study-nobody")).toBeVisible();
    expect(screen.getByTestId("study-hand-out")).toBeDisabled();
    await user.type(screen.getByTestId("study-names"), "ada, ben{Enter}cleo");
    await waitFor(() => expect(screen.getByTestId("study-answers")).toBeVisible());
    // Not once a key.
    expect(asked).toHaveBeenCalledTimes(1);
    expect(asked.mock.calls[0]?.[0]).toMatchObject({
      people: ["ada", "ben", "cleo"],
      per_text: 3,
      repeat: 0,
    });
    expect(screen.getByTestId("study-hours")).toHaveTextContent("of work in total");
    await user.type(screen.getByTestId("study-to-come"), "2");
    await waitFor(() =>
      expect(asked.mock.calls.at(-1)?.[0].people).toEqual(["ada", "ben", "cleo", "person-1", "person-2"]),
    );
  });

  it("reports impossible plans in place, and hands nothing out", async () => {
    const user = await planning();
    await user.type(screen.getByTestId("study-names"), "ada, ben");
    const alert = await screen.findByTestId("study-problem");
    expect(alert).toHaveTextContent(
      /^This plan is impossible: 3 people are needed for each text, and this plan has 2/,
    );
    expect(screen.getByTestId("study-hand-out")).toBeDisabled();
    const field = screen.getByTestId("study-per-text");
    await user.clear(field);
    await user.type(field, "2");
    await waitFor(() => expect(screen.queryByTestId("study-problem")).toBeNull());
    await waitFor(() => expect(screen.getByTestId("study-hand-out")).toBeEnabled());
  });

  it("does not request an invalid number, and marks the field", async () => {
    const asked = vi.spyOn(commands, "studyDraft");
    const user = await planning();
    await user.type(screen.getByTestId("study-names"), "ada, ben, cleo");
    const field = screen.getByTestId("study-per-text");
    await user.clear(field);
    await user.type(field, "2.5");
    await waitFor(() => expect(field).toHaveAttribute("aria-invalid", "true"));
    await new Promise((settled) => setTimeout(settled, 400));
    expect(asked.mock.calls.every(([request]) => Number.isInteger(request.per_text))).toBe(true);
    expect(screen.getByTestId("study-hand-out")).toBeDisabled();
  });

  it("ignores an outdated response", async () => {
    const waiting: { request: StudyRequest; give: (draft: StudyDraft) => void }[] = [];
    vi.spyOn(commands, "studyDraft").mockImplementation(
      (request) => new Promise((give) => waiting.push({ request, give })),
    );
    const user = await planning();
    await user.type(screen.getByTestId("study-names"), "ada, ben, cleo");
    await waitFor(() => expect(waiting).toHaveLength(1));
    await user.type(screen.getByTestId("study-names"), ", dora");
    await waitFor(() => expect(waiting).toHaveLength(2));
    const draft = (answers: number): StudyDraft => ({
      people: [],
      answers,
      texts: 10,
      anchors: 0,
      seconds: null,
      margin: 5,
      self_margin: null,
    });
    waiting[1]?.give(draft(222));
    await waitFor(() => expect(screen.getByTestId("study-answers")).toHaveTextContent("222 answers"));
    expect(screen.getByTestId("study-hours")).toHaveTextContent("cannot be estimated yet");
    waiting[0]?.give(draft(111));
    await new Promise((settled) => setTimeout(settled, 20));
    expect(screen.getByTestId("study-answers")).toHaveTextContent("222 answers");
  });

  it("plans the chosen questions, at least one", async () => {
    const asked = vi.spyOn(commands, "studyDraft");
    const user = await planning();
    await user.type(screen.getByTestId("study-names"), "ada, ben, cleo");
    await waitFor(() => expect(asked.mock.calls.at(-1)?.[0].questions).toEqual([]));
    const boxes = within(screen.getByTestId("study-questions")).getAllByRole("checkbox");
    for (const box of boxes.slice(1)) await user.click(box);
    await waitFor(() => expect(asked.mock.calls.at(-1)?.[0].questions).toEqual([1]));
    await user.click(boxes[0] as HTMLElement);
    expect(boxes[0]).toBeChecked();
  });

  it("asks whether a name that looks like a known one is another person, before it hands out", async () => {
    vi.spyOn(platform, "chooseFolder").mockResolvedValue("/packets");
    const out = vi.spyOn(commands, "handOut");
    const known = app.people[0]!.external_id;
    const alike = known.toUpperCase() === known ? known.toLowerCase() : known.toUpperCase();
    const user = await planning();
    await user.type(screen.getByTestId("study-names"), `${alike}, zz-1, zz-2`);
    expect(await screen.findByTestId("study-near")).toHaveTextContent(`looks like “${known}”`);
    expect(screen.getByTestId("study-hand-out")).toBeDisabled();
    const box = within(screen.getByTestId("study-other-people")).getByRole("checkbox");
    await user.click(box);
    await waitFor(() => expect(screen.getByTestId("study-hand-out")).toBeEnabled());
    await user.click(screen.getByTestId("study-hand-out"));
    await waitFor(() =>
      expect(out).toHaveBeenCalledWith(
        expect.objectContaining({ new_people: true }),
        "/packets",
        "file",
        null,
      ),
    );
  });

  it("writes packets to a folder, shows their path, and continues planning with the same people", async () => {
    const folder = vi
      .spyOn(platform, "chooseFolder")
      .mockResolvedValueOnce(null)
      .mockResolvedValue("/packets");
    const out = vi.spyOn(commands, "handOut");
    const user = await planning();
    await user.type(screen.getByTestId("study-names"), "ada");
    await user.type(screen.getByTestId("study-to-come"), "2");
    await waitFor(() => expect(screen.getByTestId("study-hand-out")).toBeEnabled());
    await user.click(screen.getByTestId("study-hand-out"));
    expect(folder).toHaveBeenCalledTimes(1);
    await waitFor(() => expect(screen.getByTestId("study-hand-out")).toBeEnabled());
    expect(out).not.toHaveBeenCalled();
    // Enter in a field does the same.
    await user.type(screen.getByTestId("study-to-come"), "{Enter}");
    await waitFor(() =>
      expect(out).toHaveBeenCalledWith(expect.objectContaining({ per_text: 3 }), "/packets", "file", null),
    );
    expect(await screen.findByTestId("study-folder")).toHaveTextContent("Written to /packets");
    expect(screen.getByTestId("study-handed")).toHaveTextContent("person-2.dissensus");
    await user.click(screen.getByTestId("study-handed-close"));
    await waitFor(() => expect(names()).toEqual(["ada", "person-1", "person-2"]));

    // The next time they are selected by name, and not three more.
    const asked = vi.spyOn(commands, "studyDraft");
    await user.click(screen.getByTestId("study-plan"));
    await waitFor(() => expect(asked.mock.calls.at(-1)?.[0].people).toEqual(["ada", "person-1", "person-2"]));
    expect(screen.getByTestId("study-people")).toHaveTextContent("3 of 3 people of this study selected");
    expect(screen.getByTestId("study-names")).toHaveValue("");
  });

  it("shows why packets could not be written, and that they are in the project all the same", async () => {
    vi.spyOn(platform, "chooseFolder").mockResolvedValue("/packets");
    const user = await planning();
    await user.type(screen.getByTestId("study-names"), "ada, ben, cleo");
    await waitFor(() => expect(screen.getByTestId("study-hand-out")).toBeEnabled());
    const real = commands.handOut;
    const failing = vi.spyOn(commands, "handOut").mockRejectedValue({
      code: "packet-exists",
      message: "/packets/ada.dissensus exists already",
      detail: null,
    });
    await user.click(screen.getByTestId("study-hand-out"));
    const notice = await screen.findByTestId("study-failed");
    expect(notice).toHaveTextContent("exists already");
    expect(notice).not.toHaveTextContent("in the project");
    failing.mockImplementation(async (request, folder, format) => {
      failing.mockRestore();
      await real(request, folder, format, null);
      throw { code: "io", message: "no space is left", detail: null };
    });
    await user.click(screen.getByTestId("study-hand-out"));
    await waitFor(() => expect(screen.getByTestId("study-failed")).toHaveTextContent("No space is left"));
    expect(screen.getByTestId("study-failed")).toHaveTextContent("write the missing packets again");
  });

  it("remembers what was entered, for this project", async () => {
    const user = await planning();
    await user.type(screen.getByTestId("study-names"), "ada, ben, cleo");
    await user.type(screen.getByTestId("study-per-person"), "40");
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByTestId("study-dialog")).toBeNull());
    await user.click(screen.getByTestId("study-plan"));
    expect(await screen.findByTestId("study-names")).toHaveValue("ada, ben, cleo");
    expect(screen.getByTestId("study-per-person")).toHaveValue(40);
  });
});

describe("merging", () => {
  it("reports the result of each file, refused ones first", async () => {
    vi.spyOn(platform, "chooseSubmissions").mockResolvedValue([
      "/in/ada.handin",
      "/in/another study.handin",
      "/in/ben late.handin",
    ]);
    await commands.handOut(REQUEST, "/p", "file", null);
    const user = userEvent.setup();
    render(App);
    await screen.findByTestId("nav-people");
    // The window begins with the open project.
    await new Promise((settled) => setTimeout(settled, 50));
    app.show("people-study");
    await user.click(await screen.findByTestId("study-take-in"));
    const dialog = await screen.findByTestId("merged");
    expect(dialog).toHaveTextContent("2 of 3 files were merged");
    const files = within(dialog).getAllByTestId("merged-file");
    expect(files[0]).toHaveTextContent("another study.handin");
    expect(files[0]).toHaveTextContent("not merged");
    expect(files[0]).toHaveTextContent("This belongs to another project");
    expect(files[1]).toHaveTextContent(/ada\.handin.*new.*of \u2068ada\u2069, handed in 2 days ago/);
    expect(files[2]).toHaveTextContent("The clock of the computer that wrote this");
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByTestId("merged")).toBeNull());
  });

  it("of the same file twice adds nothing", async () => {
    await app.study.merge(["/in/ada.handin"]);
    app.study.forget();
    await app.study.merge(["/in/ada.handin"]);
    render(App);
    expect(await screen.findByTestId("merged")).toHaveTextContent("The file was merged: no new data.");
  });

  it("of two files runs one after the other, and shows both", async () => {
    let give: () => void = () => undefined;
    const real = commands.mergeFiles;
    const merge = vi.spyOn(commands, "mergeFiles").mockImplementationOnce(async (files, consent) => {
      await new Promise<void>((done) => (give = done));
      return real(files, consent);
    });
    const both = [app.study.merge(["/in/ada.handin"]), app.study.merge(["/in/ben.handin"])];
    await waitFor(() => expect(merge).toHaveBeenCalledTimes(1));
    expect(app.study.merging).toBe(2);
    give();
    await Promise.all(both);
    expect(merge).toHaveBeenCalledTimes(2);
    expect(app.study.merging).toBe(0);
    expect(app.study.merged?.files.map((file) => file.file)).toEqual(["/in/ben.handin", "/in/ada.handin"]);
  });

  it("reports that no project is open", async () => {
    await app.close();
    const merge = vi.spyOn(commands, "mergeFiles");
    app.drop(["/in/ada.handin"]);
    await waitFor(() => expect(app.toasts.list[0]?.message).toBe("Open the project first"));
    expect(merge).not.toHaveBeenCalled();
  });
});

describe("a whole copy of the project", () => {
  const open = async (name: string) => {
    render(App);
    await screen.findByTestId("nav-people");
    // The window begins with the open project.
    await new Promise((settled) => setTimeout(settled, 50));
    await app.study.merge([name]);
    return screen.findByTestId("merge-question");
  };

  it("needs confirmation, and names the people whose answers are merged", async () => {
    const merge = vi.spyOn(commands, "mergeFiles");
    const dialog = await open("/in/whole copy of emil.dissensus");
    expect(dialog).toHaveTextContent("Merge a whole copy?");
    expect(dialog).toHaveTextContent("84 answers of emil (60), fay (24)");
    expect(dialog).toHaveTextContent("1 person who is new here: emil");
    expect(dialog).toHaveTextContent("12 texts new here");
    expect(within(dialog).queryAllByTestId("merge-question-change")).toEqual([]);
    expect(screen.queryByTestId("merged")).toBeNull();
    await userEvent.click(screen.getByTestId("merge-question-no"));
    await waitFor(() => expect(screen.queryByTestId("merge-question")).toBeNull());
    expect(merge).toHaveBeenCalledTimes(1);
    expect(app.study.merged).toBeNull();
  });

  it("that changes something here is previewed, and is merged as it was shown", async () => {
    const merge = vi.spyOn(commands, "mergeFiles");
    const dialog = await open("/in/changes.dissensus");
    expect(dialog).toHaveTextContent("This changes the project");
    const lines = within(dialog).getAllByTestId("merge-question-change");
    expect(lines[0]).toHaveTextContent("1 person withdrew there: all their data is erased here too: zorro");
    expect(lines[1]).toHaveTextContent("7 answers that count now are replaced or undone: ada, c007");
    expect(dialog).toHaveTextContent("The project is first copied");
    await userEvent.click(screen.getByTestId("merge-question-yes"));
    const seen = ["seen /in/changes.dissensus"];
    await waitFor(() => expect(merge).toHaveBeenCalledTimes(2));
    expect(merge).toHaveBeenLastCalledWith(["/in/changes.dissensus"], {
      whole_copies: true,
      changes: true,
      seen,
    });
    expect(await screen.findByTestId("merged-backup")).toHaveTextContent("before-merge-2026-11-27");
    expect(screen.queryByTestId("merge-question")).toBeNull();
  });

  it("waits for confirmation while other files are merged", async () => {
    await app.study.merge(["/in/ada.handin", "/in/changes.dissensus"]);
    expect(app.study.merged?.files.map((file) => file.file)).toEqual(["/in/ada.handin"]);
    expect(app.study.unconfirmed.map((file) => file.file)).toEqual(["/in/changes.dissensus"]);
    app.study.forget();
    expect(app.study.unconfirmed).toEqual([]);
  });
});

describe("dropping files", () => {
  const dragged = (type: string, files: string[]) => {
    const event = new Event(type, { bubbles: true, cancelable: true });
    Object.assign(event, { dataTransfer: { files: files.map((name) => ({ name })) } });
    window.dispatchEvent(event);
  };

  it("previews the changes in this view, and merges everything there", async () => {
    const merge = vi.spyOn(commands, "mergeFiles");
    render(App);
    dragged("dragover", []);
    expect(await screen.findByText(/merge them into this project/)).toBeInTheDocument();
    dragged("drop", ["ada.handin", "copy.dissensus"]);
    await waitFor(() => expect(merge).toHaveBeenCalledWith(["ada.handin", "copy.dissensus"], NO_CONSENT));
    expect(screen.queryByText(/merge them into this project/)).toBeNull();
    expect(app.toasts.list).toEqual([]);
    app.show("people");
    dragged("dragover", []);
    expect(await screen.findByText(/Drop a file to import it/)).toBeInTheDocument();
    dragged("drop", []);
  });

  it("merges submissions in any view, and imports and opens other files as before", async () => {
    const merge = vi.spyOn(commands, "mergeFiles");
    const opened = vi.spyOn(app, "open").mockResolvedValue(true);
    app.show("label");
    app.drop(["/in/ada.handin", "/in/BEN.HANDIN"]);
    await waitFor(() => expect(merge).toHaveBeenCalledWith(["/in/ada.handin", "/in/BEN.HANDIN"], NO_CONSENT));
    expect(app.toasts.list).toEqual([]);
    app.drop(["/in/ada.handin", "/in/texts.csv"]);
    await waitFor(() => expect(merge).toHaveBeenLastCalledWith(["/in/ada.handin"], NO_CONSENT));
    expect(app.toasts.list[0]?.message).toBe("Only the submissions are merged");
    expect(app.importing).toBeNull();
    app.drop(["/in/other.dissensus"]);
    expect(opened).toHaveBeenCalledWith("/in/other.dissensus");
    app.drop(["/in/texts.csv", "/in/more.csv"]);
    expect(app.toasts.list.at(-1)?.message).toBe("One file at a time");
    expect(app.importing).toBe("/in/texts.csv");
    emit("openRequested", { project: null, files: ["/in/cleo.handin"], read_only: false, link: null });
    await waitFor(() => expect(merge).toHaveBeenLastCalledWith(["/in/cleo.handin"], NO_CONSENT));
  });
});

it("shows who failed attention checks even if they are too few for a share", () => {
  const row = {
    annotator: "ben",
    name: "ben",
    packets: 1,
    wanted: 4,
    given: 4,
    repeated: 0,
    left_out: 0,
    handed_in: 1,
    seconds: 3,
    anchor_agreement: null,
    self_agreement: null,
    attention: null,
    practice: null,
  };
  const { rerender } = render(StudyTable, {
    rows: [{ ...row, attention_status: "failed" as const }],
    onagain: () => undefined,
  });
  expect(screen.getByTestId("study-person")).toHaveTextContent("failed");
  void rerender({ rows: [{ ...row, attention_status: null }] });
  return waitFor(() => expect(screen.queryByRole("columnheader", { name: /Checks/ })).toBeNull());
});

it("reports packets with an earlier state, and texts that lack a person", async () => {
  await commands.handOut(REQUEST, "/p", "file", null);
  study.earlier = [{ annotator: "ada", name: "Ada", changed: ["the guideline", "the question rude"] }];
  study.short = 4;
  render(StudyView);
  const earlier = await screen.findByTestId("study-earlier");
  expect(earlier).toHaveTextContent("1 packet is handed out before later changes: Ada");
  expect(earlier).toHaveTextContent("Ada: the guideline, the question rude");
  expect(screen.getByTestId("study-short")).toHaveTextContent("4 texts handed out to fewer than 3 people");
});
