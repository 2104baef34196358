// The pill, and the blind rule where everybody's predictions are shown.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$stores/app.svelte";
import type { DisagreementQuery, SideOfBorder } from "$api/bindings";
import { draftOf } from "../../mock/answer-parts";
import { reset } from "../../mock/bindings";
import DisagreementView from "./DisagreementView.svelte";
import PersonLine from "./PersonLine.svelte";
import TextPane from "./TextPane.svelte";
import WhoChip from "./WhoChip.svelte";

beforeEach(async () => {
  reset();
  await app.openSample();
});

const queryWith = (attributes: Record<string, string> = {}): DisagreementQuery => ({
  question: question().id,
  by: "split",
  cut: null,
  groups: null,
  search: null,
  attributes,
  labelled_only: false,
});

const question = () => {
  if (!app.question) throw new Error("no question");
  return app.question;
};

it("offers a new order while the focus is in the list, and R applies it", async () => {
  const user = userEvent.setup();
  render(DisagreementView);
  await waitFor(() => expect(app.ranking.order.length).toBe(160));
  screen.getByTestId("ranking-list").focus();
  const before = app.ranking.order;
  const turned = [...before].reverse();
  vi.spyOn(commands, "disagreementRanking").mockResolvedValue({
    revision: 41,
    texts: turned,
    values: [],
    means: [],
    splits: [],
    observed_means: [],
    observed_splits: [],
    labels: [],
    annotators: 8,
    annotators_without_labels: 0,
    remark: null,
    estimation: null,
    needs: null,
    ties: [],
    label_weight: null,
    basis: null,
    by_labels: false,
  });
  app.ranking.receive(1);
  await waitFor(() => expect(screen.getByTestId("ranking-pill")).toBeVisible());
  expect(app.ranking.order).toBe(before);
  expect(screen.getByTestId("ranking-revision").textContent).toBe("41");
  await user.keyboard("r");
  await waitFor(() => expect(screen.queryByTestId("ranking-pill")).toBeNull());
  expect(app.ranking.order).toEqual(turned);
});

it("updates on label events", async () => {
  render(DisagreementView);
  await waitFor(() => expect(app.ranking.order.length).toBe(160));
  const asked = vi.spyOn(commands, "disagreementRanking");
  app.ranking.receive(2);
  await new Promise((settled) => setTimeout(settled, 120));
  expect(asked).not.toHaveBeenCalled();
  app.ranking.receive(1);
  await waitFor(() => expect(asked).toHaveBeenCalled());
});

it("requests the reader's own prediction only on demand, for one text", async () => {
  const user = userEvent.setup();
  await app.join("Robin");
  const asked = vi.spyOn(commands, "textDetail");
  const { rerender } = render(TextPane, { question: question(), query: queryWith(), text: 5 });
  await waitFor(() => expect(screen.getByTestId("detail-blind")).toBeVisible());
  expect(asked.mock.calls[0]).toEqual([queryWith(), 5, "age", app.annotatorId, false]);
  await user.click(screen.getByText("Show anyway"));
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[4]).toBe(true));
  await waitFor(() => expect(screen.queryByTestId("detail-blind")).toBeNull());
  await rerender({ question: question(), query: queryWith(), text: 6 });
  await waitFor(() =>
    expect(asked.mock.calls.at(-1)).toEqual([queryWith(), 6, "age", app.annotatorId, false]),
  );
});

it("lists only the annotators whom the filter lets through", async () => {
  const people = await commands.annotators();
  const role = people[0]?.attributes["role"] ?? "";
  const of_role = people.filter((a) => a.attributes["role"] === role).length;
  render(TextPane, { question: question(), query: queryWith({ role }), text: 5 });
  await waitFor(() =>
    expect(screen.getByTestId("detail-chosen").textContent.trim()).toBe(`${of_role} of ${people.length}`),
  );
});

it("shows the label of a person who answered separately from predictions", async () => {
  const found = await commands.textDetail(queryWith(), 5, null, null, false);
  const [one] = found.annotators;
  if (!one) throw new Error("nobody");
  const scale = question().scale;
  const person = { ...one, observed: { kind: "level", value: 3 } as const };
  const { rerender } = render(PersonLine, { person, scale, you: false, onwhy: () => {} });
  expect(screen.getByTestId("person-label")).toHaveTextContent("4");
  expect(screen.getByRole("img")).toHaveClass("opacity-60");
  await rerender({ person: { ...person, observed: null } });
  expect(screen.queryByTestId("person-label")).toBeNull();
  expect(screen.getByRole("img")).not.toHaveClass("opacity-60");
});

it("makes no claim about a text with fewer than two predicted people, and names what is missing", async () => {
  const found = await commands.textDetail(queryWith(), 5, null, null, false);
  const needs = "The annotator models are being fitted.";
  vi.spyOn(commands, "textDetail").mockResolvedValue({
    ...found,
    scores: null,
    needs,
    groups: [],
    differences: [],
    annotators: found.annotators.map((a, i) => ({
      ...a,
      distribution: null,
      expected: null,
      observed: i < 2 ? { kind: "level", value: 3 } : null,
    })),
  });
  render(TextPane, { question: question(), query: queryWith(), text: 5 });
  await waitFor(() => expect(screen.getByTestId("detail-needs")).toHaveTextContent(needs));
  expect(screen.getByTestId("detail-sentence")).toHaveTextContent(/^2 people labelled it: 2 × 4\.$/);
  expect(screen.queryByText("All measures")).toBeNull();
  expect(screen.queryByTestId("detail-blind")).toBeNull();
});

it("names who differs beyond chance, with labels above the border, or nobody", async () => {
  const nobody = { who: null, who_above: null, severity: null, sides: null };
  const { rerender, container } = render(WhoChip, { row: nobody });
  expect(container.textContent.trim()).toBe("");
  const who = {
    attribute: "gender",
    value: "Woman",
    against: "Man",
    gap: 0.8,
    interval: [0.3, 1.2] as [number, number],
    labels: [15, 14] as [number, number],
    significant: true,
  };
  const who_above: [{ above: number; labels: number }, { above: number; labels: number }] = [
    { above: 12, labels: 15 },
    { above: 3, labels: 14 },
  ];
  await rerender({ row: { ...nobody, who, who_above } });
  expect(container).toHaveTextContent(/Woman\s+\+0.8\s*12 of 15 above/);
  expect(screen.getByTestId("who-group").title).toMatch(/12 of 15 above, 3 of 14 of Man$/);
  const severity = {
    strict: false,
    gap: -0.9,
    interval: [-1.4, -0.4] as [number, number],
    labels: [3, 5] as [number, number],
  };
  await rerender({ row: { ...nobody, severity } });
  expect(screen.getByTestId("who-severity")).toHaveTextContent(/the lenient\s+−0.9/);
  expect(screen.queryByTestId("who-group")).toBeNull();
});

it("names who is above the border and below it, and hides the prediction for the current annotator", async () => {
  const person = (annotator: number, name: string, labelled: boolean) => ({ annotator, name, labelled });
  const sides: [SideOfBorder, SideOfBorder] = [
    {
      labelled: 2,
      predicted: 3,
      people: [person(1, "ana", true), person(2, "ben", true), person(3, "cleo", false)],
    },
    { labelled: 0, predicted: 1, people: [person(4, "dora", false)] },
  ];
  const row = { who: null, who_above: null, severity: null, sides };
  const { rerender } = render(WhoChip, { row });
  const notices = () => screen.queryAllByTestId("who-people").map((line) => line.textContent);
  // People who labelled the text are not counted together with predictions.
  expect(notices()).toEqual(["above: ana, ben", "below: dora"]);
  expect(screen.getAllByTestId("who-people")[0]?.title).toBe(
    "above the border, by their labels: ana, ben; 3 more are predicted there with a probability of 95 % or more",
  );
  await rerender({ row, labeller: 4 });
  expect(notices()).toEqual(["above: ana, ben"]);
});

it("hides columns that are empty in every row", async () => {
  render(DisagreementView);
  await waitFor(() => screen.getAllByTestId("ranking-border"));
  expect(screen.getAllByTestId("ranking-border")[0]).toHaveTextContent(/between \d and \d.*above/);
  expect(screen.queryByText("Who differs")).toBeNull();
  expect(screen.queryByText("no pattern")).toBeNull();
});

it("opens on the default order, and shows texts that cannot be distinguished as one row that opens", async () => {
  const user = userEvent.setup();
  const asked = vi.spyOn(commands, "disagreementRanking");
  render(DisagreementView);
  await waitFor(() => expect(app.ranking.order.length).toBe(160));
  expect(asked.mock.calls[0]?.[0].by).toBe("combined");
  screen.getByTestId("ranking-list").focus();
  await user.keyboard("{Home}");
  await waitFor(() =>
    expect(screen.getByTestId("ranking-tie")).toHaveTextContent("30 texts cannot be distinguished"),
  );
  expect(screen.getByTestId("ranking-tie")).toHaveTextContent("Ranks 1 to 30");
  const shown = () => Number(screen.getAllByTestId("ranking-row")[0]?.getAttribute("aria-setsize"));
  expect(shown()).toBe(160 - 30 + 10 + 1);
  await user.keyboard("{Enter}");
  await waitFor(() => expect(shown()).toBe(161));
  await user.click(screen.getByTestId("ranking-tie-open"));
  await waitFor(() => expect(shown()).toBe(141));
  // The row of a group is no text: the one that was open stays.
  expect(screen.getByTestId("text-pane").dataset["textId"]).toBe(String(app.ranking.order[0]));
});

it("shows the order by labels at once while the models are fitted, without a figure of theirs", async () => {
  const found = await commands.disagreementRanking(queryWith());
  const basis = "Ordered by labels alone while the annotator models are being fitted.";
  const first = found.texts.slice(0, 5);
  vi.spyOn(commands, "disagreementRanking").mockResolvedValue({
    ...found,
    revision: 0,
    texts: first,
    values: first.map(() => 0.5),
    means: [],
    splits: [],
    observed_means: first.map(() => 2),
    observed_splits: first.map(() => 0.5),
    basis,
    by_labels: true,
  });
  const rows = await commands.disagreementRows(queryWith(), first);
  vi.spyOn(commands, "disagreementRows").mockResolvedValue(
    rows.map((row) => ({ ...row, scores: null, distribution: [], interval: null, rank: 0 })),
  );
  render(DisagreementView);
  await waitFor(() => expect(screen.getByTestId("ranking-note")).toHaveTextContent(basis));
  await waitFor(() => screen.getAllByTestId("ranking-value"));
  expect(screen.queryByTestId("ranking-waiting")).toBeNull();
  expect(screen.getByTestId("split-map-labels")).toHaveAttribute("aria-checked", "true");
});

it("offers to rank by labels alone next to the notes on the order", async () => {
  const user = userEvent.setup();
  const asked = vi.spyOn(commands, "disagreementRanking");
  render(DisagreementView);
  await waitFor(() => expect(screen.getByTestId("ranking-note")).toHaveTextContent("Ordered by labels"));
  await user.click(screen.getByTestId("ranking-by-labels"));
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[0].by).toBe("labels"));
  await waitFor(() => expect(screen.getByTestId("ranking-note")).toHaveTextContent("Ranked by labels"));
  expect(screen.queryByTestId("ranking-by-labels")).toBeNull();
});

it("shows nothing that is predicted in the table of labels alone", async () => {
  const user = userEvent.setup();
  render(DisagreementView);
  await waitFor(() => screen.getAllByTestId("ranking-border"));
  const histogram = () => screen.getByTestId("ranking-list").querySelector("svg[role=img]");
  expect(histogram()?.getAttribute("aria-label")).toContain("Predicted");
  await user.click(screen.getByTestId("ranking-by-labels"));
  await waitFor(() => expect(screen.queryAllByTestId("ranking-border")).toHaveLength(0));
  expect(screen.queryByText("Border")).toBeNull();
  await waitFor(() => expect(histogram()?.getAttribute("aria-label")).toContain("Observed"));
  expect(histogram()?.getAttribute("aria-label")).not.toMatch(/Predicted|Mean level/);
});

it("keeps the last ranking options, also when the project is opened again", async () => {
  const user = userEvent.setup();
  const asked = vi.spyOn(commands, "disagreementRanking");
  const { unmount } = render(DisagreementView);
  await user.click(await screen.findByTestId("ranking-by-labels"));
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[0].by).toBe("labels"));
  unmount();
  await app.close();
  await app.openSample();
  asked.mockClear();
  render(DisagreementView);
  await waitFor(() => expect(asked.mock.calls[0]?.[0].by).toBe("labels"));
});

it("opens a similar text, and returns to the previous one", async () => {
  const user = userEvent.setup();
  render(DisagreementView);
  await waitFor(() => expect(screen.getByTestId("text-pane")).toBeVisible());
  const first = screen.getByTestId("text-pane").dataset["textId"];
  expect(screen.queryByTestId("detail-back")).toBeNull();
  const near = await screen.findAllByTestId("near-agreed-text");
  await user.click(near[0] as HTMLElement);
  await waitFor(() => expect(screen.getByTestId("text-pane").dataset["textId"]).not.toBe(first));
  await user.click(screen.getByTestId("detail-back"));
  await waitFor(() => expect(screen.getByTestId("text-pane").dataset["textId"]).toBe(first));
  expect(screen.queryByTestId("detail-back")).toBeNull();
});

/**
 * Drags over the texts of a mean level up to 2. Without layout the plot is as large as its margins, reversed.
 */
async function chooseArea() {
  const map = await screen.findByTestId("split-map");
  // jsdom's pointer events have no coordinates.
  const at = (type: string, clientX: number, clientY: number) =>
    fireEvent(map, new MouseEvent(type, { clientX, clientY, bubbles: true }));
  await at("pointerdown", 33.5, 8.5);
  await at("pointerup", 11, -20.5);
  await screen.findByTestId("split-map-all");
}

it("does not use the cut of another question", async () => {
  app.ranking.query = { ...queryWith(), by: "opposite_sides", cut: 4 };
  const asked = vi.spyOn(commands, "disagreementRanking");
  render(DisagreementView);
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[0]).toMatchObject({ question: 1, cut: 4 }));
  app.showFigures(2);
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[0].question).toBe(2));
  expect(asked.mock.calls.filter(([q]) => q.question === 2).map(([q]) => q.cut)).toEqual([null]);
});

it("keeps the level of the cut after levels were moved", async () => {
  app.ranking.query = { ...queryWith(), by: "opposite_sides", cut: 3 };
  const asked = vi.spyOn(commands, "disagreementRanking");
  render(DisagreementView);
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[0]).toMatchObject({ question: 1, cut: 3 }));
  const question = app.project?.questions[0];
  if (!question) throw new Error("there is no question");
  const draft = draftOf(question);
  const added = { from: null, name: "0", definition: "" };
  await commands.changeQuestion(1, { ...draft, levels: [added, ...draft.levels] });
  await app.refresh();
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[0].cut).toBe(4));
});

it("clears the chosen area when the question changes", async () => {
  render(DisagreementView);
  await waitFor(() => expect(app.ranking.order.length).toBe(160));
  await chooseArea();
  app.showFigures(2);
  await waitFor(() => expect(screen.queryByTestId("split-map")).toBeNull());
  app.showFigures(1);
  await screen.findByTestId("split-map");
  expect(screen.queryByTestId("split-map-all")).toBeNull();
});

it("filters by the chosen area only while the map is shown", async () => {
  render(DisagreementView);
  await waitFor(() => expect(app.ranking.order.length).toBe(160));
  const shown = vi.spyOn(app.ranking, "need");
  await chooseArea();
  const means = new Map(
    app.ranking.newest?.texts.map((text, i) => [text, app.ranking.newest?.means[i] ?? 9]),
  );
  const all = app.ranking.order.slice(0, 5);
  await waitFor(() => expect(shown.mock.calls.at(-1)?.[0].every((t) => (means.get(t) ?? 9) <= 2)).toBe(true));
  expect(shown.mock.calls.at(-1)?.[0].slice(0, 5)).not.toEqual(all);
  app.ranking.needs = "No text has labels by two people yet";
  await waitFor(() => expect(screen.queryByTestId("split-map")).toBeNull());
  await waitFor(() => expect(shown.mock.calls.at(-1)?.[0].slice(0, 5)).toEqual(all));
});

it("filters by an area chosen by keyboard, and Escape clears it", async () => {
  const user = userEvent.setup();
  render(DisagreementView);
  const map = await screen.findByTestId("split-map");
  map.focus();
  await user.keyboard("{ArrowRight}");
  await waitFor(() => expect(screen.getByRole("status")).toHaveTextContent("in the selected area"));
  expect(map).toHaveFocus();
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByTestId("split-map-all")).toBeNull());
});
