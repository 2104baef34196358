// Two groups are chosen, compared, refused, and remembered.
import { cleanup, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import { firstChoice, members, NOBODY, withPerson, withValue } from "$logic/group-choice";
import { reset, emit } from "../../mock/bindings";
import DisagreementView from "./DisagreementView.svelte";

beforeEach(async () => {
  reset();
  await app.start();
  await app.openSample();
});

const PEOPLE = [
  { name: "Ana", attributes: { age: "30", role: "reader" } },
  { name: "Ben", attributes: { age: "30", role: "author" } },
  { name: "Cy", attributes: { age: "40", role: "author" } },
].map((person, at) => ({
  ...person,
  id: at + 1,
  external_id: person.name,
  simulated: false,
  imported: false,
  labels: 1,
}));

it("combines values of one attribute by or, and attributes by and", () => {
  const names = (choice: typeof NOBODY) => members(choice, PEOPLE).map((p) => p.name);
  const thirty = withValue(NOBODY, "age", "30");
  expect(names(NOBODY)).toEqual([]);
  expect(names(thirty)).toEqual(["Ana", "Ben"]);
  expect(names(withValue(thirty, "age", "40"))).toEqual(["Ana", "Ben", "Cy"]);
  expect(names(withValue(thirty, "role", "author"))).toEqual(["Ben"]);
  expect(names(withPerson(withValue(thirty, "role", "author"), 3))).toEqual(["Ben", "Cy"]);
  expect(firstChoice([{ name: "town", values: ["x"] }]).a).toEqual(NOBODY);
});

async function open() {
  const user = userEvent.setup();
  render(DisagreementView);
  await user.click(screen.getByTestId("compare-groups"));
  return user;
}

/** Everybody at work is in A or in B. */
async function choose() {
  const half = Math.ceil(app.people.length / 2);
  const of = (from: number, to?: number) => ({
    attributes: [],
    annotators: app.people.slice(from, to).map((p) => p.id),
  });
  app.compareWith({ a: of(0, half), b: of(half) });
}

it("compares two groups and opens a text of the list", async () => {
  await choose();
  const user = await open();
  expect(screen.queryByTestId("ranking-list")).toBeNull();
  await user.click(screen.getByTestId("group-compare"));
  await waitFor(() => expect(screen.getByTestId("group-overall")).toBeVisible());
  expect(screen.getByTestId("group-overall").textContent).toMatch(/levels higher than/);
  expect(screen.getByTestId("group-texts").textContent).toMatch(/^No single text separates/);
  const first = screen.getAllByTestId("gap-A")[0];
  if (!first) throw new Error("no text");
  await user.click(first);
  expect(first).toHaveAttribute("aria-pressed", "true");

  // Left and come back to: the choice and the result are there.
  await user.click(screen.getByTestId("compare-groups"));
  expect(screen.queryByTestId("group-comparison")).toBeNull();
  await user.click(screen.getByTestId("compare-groups"));
  await waitFor(() => expect(screen.getByTestId("group-overall")).toBeVisible());
  expect((await commands.project())?.choices.compared).toEqual(app.compared);

  // Another choice has not been compared.
  await user.click(screen.getByRole("button", { name: "Swap" }));
  expect(screen.queryByTestId("group-overall")).toBeNull();
});

it("names who is in both groups", async () => {
  const [one, two] = app.people.map((p) => p.id);
  app.compareWith({
    a: { attributes: [], annotators: [one ?? 0, two ?? 0] },
    b: { attributes: [], annotators: [two ?? 0] },
  });
  const user = await open();
  await user.click(screen.getByTestId("group-compare"));
  await waitFor(() => expect(screen.getByTestId("group-problem").textContent).toMatch(/in both groups: /i));
});

it("adds a person by name and reports an unknown name", async () => {
  const user = await open();
  const field = screen.getByTestId("group-person-A");
  await user.type(field, "nobody at all{Enter}");
  expect(screen.getByText("Nobody has that name.")).toBeVisible();
  const person = app.people[0];
  if (!person) throw new Error("nobody");
  await user.clear(field);
  await user.type(field, `${person.name}{Enter}`);
  await waitFor(() => expect(app.compared?.a.annotators).toContain(person.id));
});

const JOB = {
  id: 41,
  kind: "compare",
  title: "groups",
  done: 1,
  total: 3,
  seconds_left: null,
  note: null,
  problem: null,
};

it("reports that a comparison was stopped", async () => {
  await choose();
  const user = await open();
  vi.spyOn(commands, "compareGroups").mockResolvedValueOnce(41);
  await user.click(screen.getByTestId("group-compare"));
  emit("jobChanged", { ...JOB, state: "running" });
  await waitFor(() => expect(screen.getByTestId("group-stop")).toBeVisible());
  emit("jobChanged", { ...JOB, state: "cancelled" });
  await waitFor(() => expect(screen.getByText("Stopped. Nothing was compared.")).toBeVisible());
});

it("finds a running comparison on return to the view, and shows its result", async () => {
  await choose();
  const groups = app.compared;
  const question = app.questionId;
  if (!groups || question === null) throw new Error("nothing chosen");
  await commands.compareGroups(question, groups);
  const made = await commands.groupComparison(question, groups);
  const kept = vi.spyOn(commands, "groupComparison").mockResolvedValue(null);
  const user = await open();
  vi.spyOn(commands, "compareGroups").mockResolvedValueOnce(42);
  await user.click(screen.getByTestId("group-compare"));
  emit("jobChanged", { ...JOB, id: 42, state: "running" });
  await screen.findByTestId("group-stop");
  cleanup();

  await open();
  expect(screen.getByTestId("group-stop")).toBeVisible();
  expect(screen.queryByText("Not compared yet")).toBeNull();
  expect(app.comparison).toEqual({ job: 42, question, groups });
  kept.mockResolvedValue(made);
  emit("jobChanged", { ...JOB, id: 42, state: "finished" });
  await waitFor(() => expect(screen.getByTestId("group-overall")).toBeVisible());
  expect(screen.queryByTestId("group-stop")).toBeNull();
});

it("reports nothing about a comparison that was stopped once other groups are chosen", async () => {
  await choose();
  const user = await open();
  vi.spyOn(commands, "compareGroups").mockResolvedValueOnce(43);
  await user.click(screen.getByTestId("group-compare"));
  emit("jobChanged", { ...JOB, id: 43, state: "running" });
  await screen.findByTestId("group-stop");
  await user.click(screen.getAllByRole("button", { name: /^Take .* out of/ })[0] ?? document.body);
  await waitFor(() => expect(screen.queryByTestId("group-stop")).toBeNull());
  emit("jobChanged", { ...JOB, id: 43, state: "cancelled" });
  await waitFor(() => expect(app.comparison).toBeNull());
  expect(screen.queryByText("Stopped. Nothing was compared.")).toBeNull();
});

it("offers to compare again when labels of the question have changed", async () => {
  await choose();
  const user = await open();
  await user.click(screen.getByTestId("group-compare"));
  await screen.findByTestId("group-overall");
  const real = commands.groupComparison;
  vi.spyOn(commands, "groupComparison").mockImplementation(async (...of) => {
    const found = await real(...of);
    return found && { ...found, stale: true };
  });
  expect(screen.getByTestId("group-compare")).toHaveTextContent(/^Compare$/);
  app.changes += 1;
  await waitFor(() => expect(screen.getByTestId("group-compare")).toHaveTextContent("New data"));
});

it("opens with the groups that have the most evidence, and shows the reason", async () => {
  await open();
  await waitFor(() =>
    expect(screen.getByTestId("group-reason")).toHaveTextContent(
      "Of the values of age, these two have the strongest evidence of a difference. After correction",
    ),
  );
  // The first two values of the list are 18–29 and 30–44 as well, but the higher one is A.
  expect(screen.getByTestId("group-comparison")).toHaveTextContent(/A\s*.*30–44/);
  expect(app.compared).toBeNull();
  // They were picked by their difference: the p of the two alone is not corrected for that.
  await userEvent.click(screen.getByTestId("group-compare"));
  expect(await screen.findByText(/p 0\.\d+, without correction/)).toBeVisible();
});
