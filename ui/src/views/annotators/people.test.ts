// Editing people, and erasing a person who withdraws after confirmation.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent, { type UserEvent } from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { attributeChanges, attributeProblem, erasedWords } from "$stores/people.svelte";
import { remember, remembered } from "$logic/study-plan";
import { reset } from "../../mock/bindings";
import AnnotatorsView from "./AnnotatorsView.svelte";

beforeEach(async () => {
  localStorage.clear();
  vi.restoreAllMocks();
  reset();
  await app.openSample();
});

/** Chooses the first person of the table. */
async function choose(user: UserEvent) {
  render(AnnotatorsView);
  const grid = await screen.findByRole("grid", { name: "Annotators" });
  grid.focus();
  await user.keyboard("{Home}");
  const detail = await screen.findByTestId("annotator-detail");
  return app.people.find((person) => detail.textContent?.includes(person.name))!;
}

it("lists required settings and removals, and problems", () => {
  const before = { age: "20-29", role: "nurse" };
  const line = (name: string, value: string) => ({ name, value });
  expect(attributeChanges(before, [line("role", "nurse"), line(" gender ", "woman ")])).toEqual({
    set: { gender: "woman" },
    unset: ["age"],
  });
  expect(attributeProblem([line("a", "x"), line(" a", "y")])).toContain("“a” is listed twice");
  expect(attributeProblem([line("a", "")])).toContain("a name and a value");
  expect(attributeProblem([])).toBeNull();
});

it("corrects a name and attributes", async () => {
  const user = userEvent.setup();
  const change = vi.spyOn(commands, "changeAnnotator");
  const person = await choose(user);
  await user.click(screen.getByTestId("person-change"));
  const save = await screen.findByTestId("person-save");
  expect(save).toBeDisabled();
  await user.clear(screen.getByTestId("person-name"));
  await user.type(screen.getByTestId("person-name"), "Somebody Else");
  await user.click(screen.getAllByTestId("attribute-remove")[0]!);
  await user.click(screen.getByTestId("attribute-add"));
  expect(save).toBeDisabled();
  await user.type(screen.getAllByTestId("attribute-name").at(-1)!, "gender");
  await user.type(screen.getAllByTestId("attribute-value").at(-1)!, "woman");
  await user.click(save);
  await waitFor(() => expect(screen.queryByTestId("person-dialog")).toBeNull());
  expect(change).toHaveBeenCalledWith(person.id, "Somebody Else", { gender: "woman" }, ["age"]);
  await waitFor(() => expect(screen.getByTestId("annotator-detail")).toHaveTextContent("Somebody Else"));
  expect(screen.getByTestId("annotator-detail")).toHaveTextContent("gender: woman");
});

it("stays open and shows the reason if a change is refused", async () => {
  const user = userEvent.setup();
  const problem = { code: "name", message: "the annotator name “Amara” is taken", detail: null };
  vi.spyOn(commands, "changeAnnotator").mockRejectedValue(problem);
  await choose(user);
  await user.click(screen.getByTestId("person-change"));
  await user.type(await screen.findByTestId("person-name"), "x");
  await user.click(screen.getByTestId("person-save"));
  await waitFor(() => expect(app.toasts.list.some((toast) => toast.message.includes("is taken"))).toBe(true));
  expect(screen.getByTestId("person-dialog")).toBeVisible();
});

it("erases a person only after the explanation and after the name was typed, and opens the project again", async () => {
  const user = userEvent.setup();
  const withdraw = vi.spyOn(commands, "withdraw");
  const opened = vi.spyOn(commands, "openProject");
  app.show("people");
  const person = await choose(user);
  const path = app.project!.path;
  remember(path, { people: [person.name] } as never);
  localStorage.setItem("who-decides", person.name);
  localStorage.setItem("who-writes", "somebody else");
  await user.click(screen.getByTestId("person-withdraw"));
  const goes = await screen.findByTestId("withdraw-goes");
  expect(goes).toHaveTextContent("3 training runs");
  expect(screen.getByTestId("withdraw-lacks")).toHaveTextContent("12 texts handed out to them");
  expect(screen.getByTestId("withdraw-stays")).toHaveTextContent("before-v13: delete it");
  const confirm = screen.getByTestId("withdraw-confirm");
  await user.type(screen.getByTestId("withdraw-typed"), "somebody");
  expect(confirm).toBeDisabled();
  await user.clear(screen.getByTestId("withdraw-typed"));
  await user.type(screen.getByTestId("withdraw-typed"), person.external_id);
  await user.click(confirm);
  await waitFor(() => expect(app.people.some(({ id }) => id === person.id)).toBe(false));
  expect(withdraw).toHaveBeenCalledExactlyOnceWith(person.id);
  expect(opened).toHaveBeenCalledWith(path);
  expect(app.view).toBe("people");
  expect(remembered(path)).toBeNull();
  expect(localStorage.getItem("who-decides")).toBeNull();
  expect(localStorage.getItem("who-writes")).toBe("somebody else");
});

it("keeps everybody if it failed", async () => {
  const user = userEvent.setup();
  const problem = { code: "busy", message: "a training is already running", detail: null };
  vi.spyOn(commands, "withdraw").mockRejectedValue(problem);
  const person = await choose(user);
  await user.click(screen.getByTestId("person-withdraw"));
  await user.type(await screen.findByTestId("withdraw-typed"), person.external_id);
  await user.click(screen.getByTestId("withdraw-confirm"));
  await waitFor(() =>
    expect(app.toasts.list.some((toast) => toast.message.includes("already running"))).toBe(true),
  );
  expect(app.people.some(({ id }) => id === person.id)).toBe(true);
});

it("opens the project again after a merged withdrawal", async () => {
  const opened = vi.spyOn(commands, "openProject");
  await app.study.merge(["/in/withdrawn copy.dissensus"]);
  await app.study.agree();
  expect(opened).toHaveBeenCalledOnce();
  expect(app.study.merged?.files).toHaveLength(1);
  await app.study.merge(["/in/ada.handin"]);
  expect(opened).toHaveBeenCalledOnce();
});

it("lists what is left to do", () => {
  const gone = {
    answers: 1,
    packets: 0,
    texts: 0,
    nameless: 0,
    runs: 2,
    encoder_changed: true,
    cleaned: false,
  };
  const words = erasedWords({ ...gone, copies: ["/a.before-v9"] });
  for (const part of [
    "1 answer, 0 packets and 2 training runs",
    "encoder in use",
    "Traces may remain",
    "/a.before-v9",
  ])
    expect(words).toContain(part);
});
