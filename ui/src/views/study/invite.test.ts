// Inviting people: the form and its faults, the server while it runs, and what closing it would end.
import { cleanup, render, screen, waitFor, within } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import type { InviteRequest, StudyRequest } from "$api/bindings";
import { faults, isInviteForm, requestOf, USUAL } from "$logic/invite";
import * as platform from "$platform";
import { emit, reset, serving } from "../../mock/bindings";
import LeaveDialog from "$views/project/LeaveDialog.svelte";
import StudyView from "./StudyView.svelte";

const PEOPLE: StudyRequest = {
  questions: [],
  people: ["ada", "ben"],
  per_text: 2,
  per_person: 20,
  anchors: 0,
  repeat: 0,
  again_after: 0,
  new_people: false,
  balance: null,
  seed: 0,
};
const HERE: InviteRequest = {
  network: false,
  port: 8400,
  address: null,
  behind_proxy: false,
  join: null,
  completion: null,
};
const STUDY = { packets: 2, texts: 100, questions: 1 };

let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  localStorage.clear();
  reset();
  app.study.serving = null;
  app.leaving = null;
  user = userEvent.setup();
  await app.start();
  await app.openSample();
  app.show("people-study");
  app.toasts.list = [];
});

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

async function dialog() {
  render(StudyView);
  await user.click(await screen.findByTestId("study-invite"));
  return screen.findByTestId("invite-dialog");
}

async function started(request = HERE) {
  await commands.handOut(PEOPLE, "/p", "file", null);
  await app.study.invite(request);
  render(StudyView);
  await user.click(within(await screen.findByTestId("study-serving")).getByRole("button"));
  return screen.findByTestId("serving-dialog");
}

describe("the form", () => {
  it("is validated by field", () => {
    const of = (change: Partial<typeof USUAL>, study = STUDY) =>
      Object.keys(faults({ ...USUAL, ...change }, study));
    expect(of({})).toEqual([]);
    expect(of({ port: 0 })).toEqual(["port"]);
    expect(of({ port: 65_536 })).toEqual(["port"]);
    expect(of({ port: null })).toEqual(["port"]);
    for (const address of ["study.example.org", "https://", "https://a b", "https://a/?x", "ftp://a"])
      expect(of({ address }), address).toEqual(["address"]);
    for (const address of ["https://study.example.org", " http://10.0.0.7:8400/study "])
      expect(of({ address }), address).toEqual([]);
    expect(of({}, { ...STUDY, packets: 0 })).toEqual(["joins"]);
    const joins = true;
    expect(of({ joins }, { ...STUDY, packets: 0 })).toEqual([]);
    expect(of({ joins }, { ...STUDY, questions: 0 })).toEqual(["joins"]);
    expect(of({ joins, per_text: 0, per_person: 1.5, give_back: null })).toEqual([
      "per_person",
      "per_text",
      "give_back",
    ]);
    expect(of({ joins, anchors: 20 })).toEqual(["anchors"]);
    expect(of({ joins, anchors: 10 }, { ...STUDY, texts: 10 })).toEqual(["anchors"]);
    // Hidden fields are not validated.
    expect(of({ per_text: 0 })).toEqual([]);
  });

  it("becomes a request", () => {
    expect(requestOf({ ...USUAL, behind_proxy: true, completion: " " })).toEqual(HERE);
    expect(
      requestOf({
        ...USUAL,
        network: true,
        address: " https://x ",
        behind_proxy: true,
        joins: true,
        completion: "C0",
      }),
    ).toEqual({
      network: true,
      port: 8400,
      address: "https://x",
      behind_proxy: true,
      join: { per_text: 3, per_person: 20, anchors: 0, give_back_minutes: 60 },
      completion: "C0",
    });
  });

  it("is restored, unless another version has stored it", async () => {
    expect(isInviteForm({ ...USUAL, port: null })).toBe(true);
    expect(isInviteForm({ ...USUAL, port: "8400" })).toBe(false);
    expect(isInviteForm({})).toBe(false);
    await dialog();
    await user.type(screen.getByTestId("invite-completion"), "C0FFEE");
    cleanup();
    await dialog();
    expect(screen.getByTestId("invite-completion")).toHaveValue("C0FFEE");
  });

  it("shows faults at their fields, and starts nothing with them", async () => {
    const invite = vi.spyOn(commands, "invite");
    await dialog();
    // Nobody has a packet: they can only join.
    expect(screen.getByTestId("invite-joins")).toHaveAttribute("aria-checked", "true");
    await user.type(screen.getByTestId("invite-address"), "example.org");
    expect(screen.getByTestId("invite-address-fault")).toHaveTextContent("begins with https or http");
    expect(screen.getByTestId("invite-address")).toHaveAttribute("aria-invalid", "true");
    await user.clear(screen.getByTestId("invite-address"));
    await user.clear(screen.getByTestId("invite-anchors"));
    await user.type(screen.getByTestId("invite-anchors"), "20");
    expect(screen.getByText(/^Fewer than texts per person/)).toBeVisible();
    await user.click(screen.getByTestId("invite-joins"));
    expect(screen.queryByTestId("invite-join")).toBeNull();
    expect(screen.getByTestId("invite-joins-fault")).toHaveTextContent("Nobody has a packet yet");
    expect(screen.getByTestId("invite-start")).toBeDisabled();
    await user.type(screen.getByTestId("invite-completion"), "C{Enter}");
    expect(invite).not.toHaveBeenCalled();
  });

  it("starts by Enter, and shows the link for everybody", async () => {
    const invite = vi.spyOn(commands, "invite");
    await dialog();
    await user.type(screen.getByTestId("invite-completion"), "C0FFEE{Enter}");
    const running = await screen.findByTestId("serving-dialog");
    expect(invite).toHaveBeenCalledWith({
      ...HERE,
      join: { per_text: 3, per_person: 20, anchors: 0, give_back_minutes: 60 },
      completion: "C0FFEE",
    });
    expect(within(running).getByTestId("serving-join")).toHaveTextContent("http://127.0.0.1:8400/join");
    expect(within(running).getByTestId("serving-nobody")).toHaveTextContent(
      "Nobody has a link of their own yet",
    );
    expect(within(running).getByTestId("serving-save")).toBeDisabled();
  });

  it("shows why it did not start, with the port that is in use at its field", async () => {
    const message = "cannot listen on 127.0.0.1:8400: in use";
    const invite = vi
      .spyOn(commands, "invite")
      .mockRejectedValueOnce({ code: "server-address", message, detail: null });
    await dialog();
    await user.click(screen.getByTestId("invite-start"));
    expect(await screen.findByTestId("invite-problem")).toHaveTextContent("Cannot listen on");
    const port = screen.getByTestId("invite-port");
    expect(port).toHaveAttribute("aria-invalid", "true");
    expect(screen.getByTestId("invite-start")).toBeDisabled();
    await user.clear(port);
    await user.type(port, "8401");
    await user.click(screen.getByTestId("invite-start"));
    await screen.findByTestId("serving-dialog");
    expect(invite.mock.calls[1]?.[0].port).toBe(8401);
  });

  it("closes by Esc without starting anything", async () => {
    await dialog();
    await user.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByTestId("invite-dialog")).toBeNull());
    expect(app.study.serving).toBeNull();
    expect(screen.queryByTestId("study-serving")).toBeNull();
  });
});

describe("while it runs", () => {
  it("lists links, and copies them", async () => {
    const copy = vi.spyOn(platform, "copyText");
    const running = await started({ ...HERE, network: true, address: "https://study.example.org" });
    expect(within(running).getByTestId("serving-address")).toHaveTextContent("http://192.168.1.20:8400");
    expect(within(running).queryByTestId("serving-join")).toBeNull();
    const [ada, ben] = within(running).getAllByTestId("serving-link") as [HTMLElement, HTMLElement];
    expect(ada).toHaveTextContent(/^ada\s*20\s*0\s*Copy$/);
    await user.click(within(ben).getByRole("button", { name: "Copy the link of ben" }));
    expect(await copy.mock.calls[0]?.[0]).toMatch(/^https:\/\/study\.example\.org\/p\/[0-9a-f]{32}$/);
    await waitFor(() => expect(ben).toHaveTextContent("Copied"));
    expect(ada).not.toHaveTextContent("Copied");
  });

  it("reports a clipboard that cannot be written", async () => {
    vi.spyOn(platform, "copyText").mockRejectedValue(new Error("not allowed"));
    const running = await started();
    await user.click(within(running).getAllByTestId("serving-copy")[0] as HTMLElement);
    await waitFor(() => expect(app.toasts.list.at(-1)?.detail).toBe("not allowed"));
    expect(running).not.toHaveTextContent("Copied");
  });

  it("counts what was merged, in the dialog and in the view", async () => {
    const running = await started();
    serving.receive("ben", 3);
    serving.problems = [{ code: "io", message: "the disk is full", detail: null }];
    emit("projectChanged", []);
    await waitFor(() =>
      expect(within(running).getByTestId("serving-received")).toHaveTextContent("3 new answers"),
    );
    expect(within(running).getAllByTestId("serving-link")[1]).toHaveTextContent(/^ben\s*20\s*3\b/);
    expect(within(running).getByTestId("serving-problems")).toHaveTextContent("The disk is full");
    expect(screen.getByTestId("study-serving")).toHaveTextContent(
      "Serving at http://127.0.0.1:8400 · 3 new answers",
    );
  });

  it("asks each second while the dialog is open", async () => {
    const running = await started();
    serving.receive("ada", 1);
    await waitFor(
      () => expect(within(running).getByTestId("serving-received")).toHaveTextContent("1 new answer"),
      {
        timeout: 2500,
      },
    );
  });

  it("writes the links to a file, and nothing if none is chosen", async () => {
    const write = vi.spyOn(commands, "saveLinks");
    const choose = vi
      .spyOn(platform, "chooseLinks")
      .mockResolvedValueOnce(null)
      .mockResolvedValue("/l/links.html");
    const running = await started();
    await user.click(within(running).getByTestId("serving-save"));
    await waitFor(() => expect(choose).toHaveBeenCalledWith(app.project?.name));
    expect(write).not.toHaveBeenCalled();
    await user.click(within(running).getByTestId("serving-save"));
    await waitFor(() => expect(write).toHaveBeenCalledWith("/l/links.html"));
    await waitFor(() => expect(app.toasts.list.at(-1)?.message).toBe("2 links written to links.html"));
  });

  it("goes on when the dialog is closed, until it is stopped", async () => {
    const stop = vi.spyOn(commands, "stopInviting");
    const running = await started();
    await user.click(within(running).getByTestId("serving-close"));
    await waitFor(() => expect(screen.queryByTestId("serving-dialog")).toBeNull());
    expect(stop).not.toHaveBeenCalled();
    await user.click(screen.getByTestId("study-invite"));
    await user.click(await screen.findByTestId("serving-stop"));
    expect(await screen.findByTestId("invite-dialog")).toBeVisible();
    expect(stop).toHaveBeenCalledOnce();
    expect(screen.queryByTestId("study-serving")).toBeNull();
  });

  it("reports what could not be merged at the end", async () => {
    const message = "1 submission could not be merged yet, and stays in /S.dissensus.received";
    vi.spyOn(commands, "stopInviting").mockRejectedValue({ code: "server-waiting", message, detail: null });
    const running = await started();
    await user.click(within(running).getByTestId("serving-stop"));
    await waitFor(() => expect(app.toasts.list.at(-1)?.message).toBe(message));
    expect(app.study.serving).toBeNull();
  });

  it("shows once why it ended by itself, and starts again", async () => {
    const running = await started();
    serving.ended = { code: "server-network", message: "the network failed: unplugged", detail: null };
    emit("projectChanged", []);
    expect(await within(running).findByTestId("serving-ended")).toHaveTextContent(
      "The network failed: unplugged",
    );
    expect(screen.getByTestId("study-serving")).toHaveTextContent("Nobody can answer any more");
    expect(app.toasts.list.map(({ message }) => message)).toEqual(["the network failed: unplugged"]);
    expect(app.study.isServing).toBe(false);
    await user.click(within(running).getByTestId("serving-stop"));
    await user.click(await screen.findByTestId("invite-start"));
    await screen.findByTestId("serving-dialog");
    expect(app.study.isServing).toBe(true);
  });
});

describe("closing", () => {
  it("asks first, and then says that nobody can answer", async () => {
    const close = vi.spyOn(commands, "closeProject").mockImplementation(async () => {
      serving.stop();
      return null;
    });
    await commands.handOut(PEOPLE, "/p", "file", null);
    await app.study.invite(HERE);
    await app.close();
    expect(close).not.toHaveBeenCalled();
    if (!app.leaving) throw new Error("nothing is asked");
    render(LeaveDialog, { leaving: app.leaving });
    expect(await screen.findByTestId("leave-dialog")).toHaveTextContent("People can still answer");
    expect(screen.getByTestId("leave-serving")).toHaveTextContent("People answer at http://127.0.0.1:8400.");
    await user.click(screen.getByTestId("leave-stop"));
    await waitFor(() => expect(close).toHaveBeenCalledOnce());
    await waitFor(() => expect(app.study.serving).toBeNull());
    expect(app.toasts.list.at(-1)?.message).toBe("The server was stopped");
  });

  it("asks before another project is opened in its place", async () => {
    await app.study.invite({
      ...HERE,
      join: { per_text: 3, per_person: 20, anchors: 0, give_back_minutes: 60 },
    });
    expect(await app.open("/other.dissensus")).toBe(false);
    expect(app.leaving?.verb).toBe("open");
  });

  it("shows a project again after a withdrawal has ended the server", async () => {
    await commands.handOut(PEOPLE, "/p", "file", null);
    await app.study.invite(HERE);
    const open = vi.spyOn(commands, "openProject");
    const merge = commands.mergeFiles;
    vi.spyOn(commands, "mergeFiles").mockImplementation(async (files, consent) => {
      serving.ended = { code: "server-project-closed", message: "nobody can answer any more", detail: null };
      const { files: merged } = await merge(files, consent);
      return { files: merged.map((file) => ({ ...file, withdrawn: 1 })) };
    });
    await app.study.merge(["/in/ada.handin"]);
    expect(app.leaving).toBeNull();
    expect(open).toHaveBeenCalledOnce();
  });
});

it("is off where the project is open to read", async () => {
  const { project } = app;
  if (!project) throw new Error("a project is open");
  app.project = { ...project, read_only: true };
  render(StudyView);
  expect(await screen.findByTestId("study-invite")).toHaveAttribute("aria-disabled", "true");
});
