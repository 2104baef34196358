// Searching notes of people.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { reset } from "../../mock/bindings";
import NotesDialog from "./NotesDialog.svelte";

let user: ReturnType<typeof userEvent.setup>;

beforeEach(async () => {
  reset();
  await app.openSample();
  user = userEvent.setup();
});

afterEach(cleanup);

const count = () => screen.getByTestId("remarks-count").textContent;

it("explains what to do where there are no notes", async () => {
  render(NotesDialog, { onclose: () => {} });
  await waitFor(() => expect(count()).toContain("N writes a note"));
});

it("finds notes by their words, and flags", async () => {
  const say = (text: number, note: string) =>
    commands.saveNote(1, 1, text, {
      note: { note, reasons: ["slang"], confidence: 2 },
      guideline: null,
    });
  await say(1, "Irony, I think");
  await say(2, "quotes somebody");
  await commands.flagText(2, 1, 3, true);
  render(NotesDialog, { onclose: () => {} });
  await waitFor(() => expect(count()).toContain("3 entries"));
  await user.type(screen.getByTestId("remarks-search"), "IRONY");
  await waitFor(() => expect(count()).toContain("1 entry,"));
  await user.clear(screen.getByTestId("remarks-search"));
  await user.click(screen.getByTestId("remarks-flagged"));
  await waitFor(() => expect(count()).toContain("1 entry,"));
  await user.type(screen.getByTestId("remarks-search"), "nothing like it");
  await waitFor(() => expect(count()).toContain("No matching entries"));
});
