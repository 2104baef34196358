// Encrypted files: what is asked before one is written, and before one is opened or merged.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { reset, study } from "../../mock/bindings";
import App from "../../App.svelte";
import EncryptDialog from "./EncryptDialog.svelte";

const WORDS = "quiet harbour seven";
let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  reset();
  user = userEvent.setup();
  app.toasts.list = [];
  await app.openSample();
  await app.start();
});

afterEach(async () => {
  cleanup();
  app.encryption.cancel();
  app.dialog = null;
  await app.close();
  vi.restoreAllMocks();
});

const field = (name: string) => screen.findByTestId(name);

it("encrypts a copy with a passphrase that was typed twice alike", async () => {
  const save = vi.spyOn(commands, "saveCopy");
  app.dialog = "copy-encrypted";
  render(EncryptDialog, { file: "copy" });
  const write = await field("encrypt-write");
  expect(write).toBeDisabled();
  expect(await field("passphrase-strength")).toHaveTextContent("shorter than 12");
  await user.type(await field("passphrase-first"), WORDS);
  await user.type(await field("passphrase-second"), "quiet");
  expect(await field("passphrase-differs")).toBeInTheDocument();
  expect(write).toBeDisabled();
  await user.type(await field("passphrase-second"), " harbour seven");
  expect(screen.queryByTestId("passphrase-differs")).toBeNull();
  expect(await field("passphrase-strength")).toHaveTextContent("Long enough");
  await user.click(write);
  await waitFor(() => expect(save).toHaveBeenCalledWith("/home/you/Comments copy.dissensus.age", WORDS));
  expect(app.dialog).toBeNull();
});

it("hides a passphrase unless it is shown, and shows a generated one", async () => {
  render(EncryptDialog, { file: "submission" });
  const first = await field("passphrase-first");
  expect(first).toHaveAttribute("type", "password");
  await user.click(await field("passphrase-generate"));
  expect(first).toHaveAttribute("type", "text");
  expect((first as HTMLInputElement).value).toMatch(/^[0-9a-z]{4}(-[0-9a-z]{4}){3}$/);
  expect(await field("encrypt-write")).toBeEnabled();
  await user.click(await field("passphrase-shown"));
  expect(first).toHaveAttribute("type", "password");
});

it("asks for the passphrase of a project until it is the right one", async () => {
  const decrypt = vi.spyOn(commands, "decryptFile");
  const open = vi.spyOn(commands, "openProject");
  render(App);
  app.drop(["/home/you/ada.dissensus.age"]);
  const typed = await field("unlock-passphrase");
  expect(await field("unlock-target")).toHaveTextContent("/home/you/ada.dissensus");
  expect(await field("unlock-open")).toBeDisabled();
  await user.type(typed, "wrong{Enter}");
  expect(await field("unlock-problem")).toHaveTextContent("not the passphrase");
  expect(open).not.toHaveBeenCalledWith("/home/you/ada.dissensus");
  await user.clear(typed);
  await user.type(typed, `${WORDS}{Enter}`);
  await waitFor(() => expect(open).toHaveBeenCalledWith("/home/you/ada.dissensus"));
  expect(decrypt).toHaveBeenLastCalledWith("/home/you/ada.dissensus.age", "/home/you/ada.dissensus", WORDS);
  expect(screen.queryByTestId("unlock-dialog")).toBeNull();
});

it("opens nothing if the question is cancelled", async () => {
  const decrypt = vi.spyOn(commands, "decryptFile");
  const opened = app.open("/home/you/ada.dissensus.age");
  await waitFor(() => expect(app.encryption.asked).not.toBeNull());
  app.encryption.cancel();
  expect(await opened).toBe(false);
  expect(decrypt).not.toHaveBeenCalled();
  expect(app.encryption.asked).toBeNull();
  expect(app.toasts.list).toEqual([]);
});

it("merges an encrypted submission, and removes what it was decrypted to", async () => {
  study.begin(4);
  const merge = vi.spyOn(commands, "mergeFiles");
  const forget = vi.spyOn(commands, "lockFiles");
  const merged = app.study.merge(["/in/ben.handin.age", "/in/cleo.handin"]);
  await waitFor(() => expect(app.encryption.asked?.files).toEqual(["/in/ben.handin.age"]));
  expect(app.encryption.asked?.target).toBeNull();
  app.encryption.answer(WORDS);
  await merged;
  expect(merge.mock.calls[0]?.[0]).toEqual(["/in/ben.handin", "/in/cleo.handin"]);
  expect(forget).toHaveBeenCalledOnce();
});

it("leaves decrypted files while an earlier merge ends", async () => {
  study.begin(4);
  const forget = vi.spyOn(commands, "lockFiles");
  let end: () => void = () => {};
  const real = await commands.mergeFiles(["/in/cleo.handin"], {
    whole_copies: false,
    changes: false,
    seen: [],
  });
  vi.spyOn(commands, "mergeFiles").mockReturnValueOnce(new Promise((resolve) => (end = () => resolve(real))));
  const earlier = app.study.merge(["/in/cleo.handin"]);
  const merged = app.study.merge(["/in/ben.handin.age"]);
  await waitFor(() => expect(app.encryption.asked).not.toBeNull());
  end();
  await earlier;
  expect(app.study.merging).toBe(1);
  expect(forget).not.toHaveBeenCalled();
  app.encryption.answer(WORDS);
  await merged;
  expect(app.study.merging).toBe(0);
  expect(forget).toHaveBeenCalledOnce();
});

it.each(["answered", "cancelled"])(
  "removes decrypted files if the project was closed before it %s",
  async (how) => {
    study.begin(4);
    const merge = vi.spyOn(commands, "mergeFiles");
    const merged = app.study.merge(["/in/ben.handin.age"]);
    await waitFor(() => expect(app.encryption.asked).not.toBeNull());
    await app.close();
    const forget = vi.spyOn(commands, "lockFiles");
    if (how === "answered") app.encryption.answer(WORDS);
    else app.encryption.cancel();
    await merged;
    expect(merge).not.toHaveBeenCalled();
    expect(forget).toHaveBeenCalledOnce();
    expect(app.study.merging).toBe(0);
  },
);

it("opens a file that only has the name of an encrypted one as it is, and shows what is wrong", async () => {
  vi.spyOn(commands, "encryptedFiles").mockResolvedValue([]);
  const wrong = { code: "project-not-ours", message: "x.age is no project", detail: null };
  const open = vi.spyOn(commands, "openProject").mockRejectedValue(wrong);
  expect(await app.open("/home/you/x.age")).toBe(false);
  expect(open).toHaveBeenCalledWith("/home/you/x.age");
  expect(app.toasts.list.at(-1)).toMatchObject({ kind: "problem", message: "x.age is no project" });
});

it("asks nothing about other files", async () => {
  const merge = vi.spyOn(commands, "mergeFiles");
  study.begin(4);
  await app.study.merge(["/in/ben.handin"]);
  expect(app.encryption.asked).toBeNull();
  expect(merge).toHaveBeenCalledOnce();
});
