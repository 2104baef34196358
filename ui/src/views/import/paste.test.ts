// Rows that are pasted where no field takes them are imported, and their file goes with the dialog.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import * as platform from "$platform";
import { perform } from "$stores/actions";
import { app } from "$stores/app.svelte";
import { listenForPaste } from "$stores/paste-key";
import { reset } from "../../mock/bindings";
import ImportOf from "./ImportOf.svelte";

const TABLE = "comment\trater\nso good\tana\n";

let unheard: (() => void) | undefined;
afterEach(() => unheard?.());

beforeEach(async () => {
  unheard = listenForPaste();
  reset();
  app.toasts.list = [];
  app.importing = null;
  await app.openSample();
});

/** The event that the webview sends when Ctrl+V is pressed. */
function paste(target: EventTarget, text: string): Event {
  const event = new Event("paste", { bubbles: true, cancelable: true });
  Object.defineProperty(event, "clipboardData", { value: { getData: () => text } });
  target.dispatchEvent(event);
  return event;
}

it("imports pasted data, except in a field", async () => {
  const field = document.body.appendChild(document.createElement("textarea"));
  expect(paste(field, TABLE).defaultPrevented).toBe(false);
  expect(app.importing).toBeNull();
  field.remove();
  const before = new Event("beforepaste", { bubbles: true, cancelable: true });
  document.body.dispatchEvent(before);
  expect(before.defaultPrevented).toBe(true);
  expect(paste(document.body, TABLE).defaultPrevented).toBe(true);
  await waitFor(() => expect(app.importing).toBe("/home/you/pasted/Pasted at first.csv"));
  expect(app.paste.now).toMatchObject({ header: true, text: TABLE });
  // While a dialog is open, further pastes are ignored.
  expect(paste(document.body, "more").defaultPrevented).toBe(false);
});

it("reads the first row as names of columns or as a row, and removes the file with the dialog", async () => {
  const user = userEvent.setup();
  const forgot = vi.spyOn(commands, "forgetPasted");
  const pasted = vi.spyOn(commands, "pasteRows");
  await app.paste.preview(TABLE);
  const first = app.importing ?? "";
  // As in the window: another file is another dialog, whose path changes before the old dialog closes.
  const { unmount } = render(ImportOf);
  expect(await screen.findByRole("dialog", { name: "Import pasted rows" })).toBeInTheDocument();
  await user.click(screen.getByTestId("import-header"));
  await waitFor(() => expect(pasted.mock.calls.at(-1)).toEqual([TABLE, false]));
  const second = app.importing ?? "";
  expect(second).not.toBe(first);
  await waitFor(() => expect(forgot.mock.calls).toEqual([[first]]));
  expect(app.paste.now?.path).toBe(second);
  expect(await screen.findByRole("dialog", { name: "Import pasted rows" })).toBeInTheDocument();
  unmount();
  expect(forgot.mock.calls.at(-1)).toEqual([second]);
  expect(app.paste.now).toBeNull();
});

it("shows why nothing can be imported", async () => {
  await app.openToRead("/home/you/Documents/Comments.dissensus");
  const pasted = vi.spyOn(commands, "pasteRows");
  paste(document.body, TABLE);
  await waitFor(() => expect(app.toasts.list.at(-1)?.message).toContain("read-only"));
  expect(pasted).not.toHaveBeenCalled();
  await app.openSample();
  perform("data.paste");
  await waitFor(() => expect(app.toasts.list.at(-1)?.detail).toContain("Press Ctrl+V"));
  vi.spyOn(platform, "readClipboard").mockResolvedValueOnce("");
  perform("data.paste");
  await waitFor(() => expect(app.toasts.list.at(-1)?.message).toContain("no rows to paste"));
  expect(app.importing).toBeNull();
});
