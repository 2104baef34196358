// Additions by mistake are removed after confirmation; used ones are kept, with the reason.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { perform } from "$stores/actions";
import { app } from "$stores/app.svelte";
import { countWords, removedWords } from "$words/removal";
import App from "../../App.svelte";
import { reset } from "../../mock/bindings";

beforeEach(async () => {
  reset();
  vi.restoreAllMocks();
  app.toasts.list = [];
  app.dialog = null;
  await app.openSample();
  await app.start();
});

/** The page starts by itself; what is shown before is lost. */
async function started() {
  await waitFor(() => expect(screen.getByTestId("nav-project")).toBeVisible());
  await app.start();
}

it("removes the last import, opens the project again, and lists what stays", async () => {
  const user = userEvent.setup();
  const opened = vi.spyOn(commands, "openProject");
  render(App);
  await started();
  app.show("label-list");
  perform("data.remove-import");
  const counts = await screen.findByTestId("remove-counts");
  expect(counts).toHaveTextContent("Imported today: 1 question, 40 texts, 2 annotators, 118 answers.");
  await user.click(screen.getByTestId("remove-confirm"));
  await waitFor(() => expect(app.toasts.list).toHaveLength(1));
  expect(app.toasts.list[0]?.message).toBe("The import of labels.csv was removed");
  expect(app.toasts.list[0]?.detail).toContain("undone since: 1 text, 2 answers");
  expect(opened).toHaveBeenCalledOnce();
  expect(app.view).toBe("label-list");
  expect(app.dialog).toBeNull();

  perform("data.remove-import");
  expect(await screen.findByTestId("remove-problem")).toHaveTextContent(
    "There is no import that can be removed",
  );
  expect(screen.queryByTestId("remove-confirm")).toBeNull();
});

it("does not offer to remove what somebody used", async () => {
  const remove = vi.spyOn(commands, "remove");
  render(App);
  await started();
  app.confirmRemoval({ text: 1 });
  expect(await screen.findByTestId("remove-stays")).toHaveTextContent(
    "It stays, because of 12 entries in its history",
  );
  expect(screen.queryByTestId("remove-confirm")).toBeNull();
  expect(remove).not.toHaveBeenCalled();
});

it("removes a person without answers, and keeps the dialog open if it is refused", async () => {
  const user = userEvent.setup();
  render(App);
  await started();
  const added = await commands.addAnnotator("By mistake", {});
  app.confirmRemoval({ annotator: added.id });
  vi.spyOn(commands, "remove").mockRejectedValueOnce({ code: "stays", message: "it stays", detail: null });
  await user.click(await screen.findByTestId("remove-confirm"));
  await waitFor(() => expect(app.toasts.list).toHaveLength(1));
  expect(app.dialog).toBe("remove");
  await user.click(await screen.findByTestId("remove-confirm"));
  await waitFor(() => expect(app.dialog).toBeNull());
  expect(app.people.some(({ id }) => id === added.id)).toBe(false);
});

it("describes in words what was removed", () => {
  const none = { questions: 0, texts: 0, annotators: 0, answers: 0, attributes: 0 };
  expect(countWords(none)).toBe("nothing");
  const one = { name: "x", gone: { ...none, texts: 1 }, kept: none };
  expect(removedWords(one, false)).toEqual({ title: "“x” was removed", detail: null });
  expect(removedWords(one, true).detail).toBe("Removed: 1 text.");
});
