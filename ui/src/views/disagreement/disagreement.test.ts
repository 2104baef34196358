// The pill, and the blind rule where everybody's predictions are shown.
import { render, screen, waitFor } from "@testing-library/svelte";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import { app } from "$lib/app.svelte";
import type { DisagreementQuery } from "$lib/bindings";
import { reset } from "../../mock/bindings";
import DisagreementView from "./DisagreementView.svelte";
import TextPane from "./TextPane.svelte";

beforeEach(async () => {
  reset();
  await app.openSample();
});

const asking = (attributes: Record<string, string> = {}): DisagreementQuery => ({
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

it("offers a new order with a pill while the focus is in the list, and R takes it", async () => {
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
  });
  app.ranking.hear(1);
  await waitFor(() => expect(screen.getByTestId("ranking-pill")).toBeVisible());
  expect(app.ranking.order).toBe(before);
  expect(screen.getByTestId("ranking-revision").textContent).toBe("41");
  await user.keyboard("r");
  await waitFor(() => expect(screen.queryByTestId("ranking-pill")).toBeNull());
  expect(app.ranking.order).toEqual(turned);
});

it("hears of labels by event", async () => {
  render(DisagreementView);
  await waitFor(() => expect(app.ranking.order.length).toBe(160));
  const asked = vi.spyOn(commands, "disagreementRanking");
  app.ranking.hear(2);
  await new Promise((settled) => setTimeout(settled, 120));
  expect(asked).not.toHaveBeenCalled();
  app.ranking.hear(1);
  await waitFor(() => expect(asked).toHaveBeenCalled());
});

it("asks for the reader's own prediction only on demand, and for one text", async () => {
  const user = userEvent.setup();
  await app.join("Robin");
  const asked = vi.spyOn(commands, "textDetail");
  const { rerender } = render(TextPane, { question: question(), query: asking(), text: 5 });
  await waitFor(() => expect(screen.getByTestId("detail-blind")).toBeVisible());
  expect(asked.mock.calls[0]).toEqual([asking(), 5, "age", app.annotatorId, false]);
  await user.click(screen.getByText("Show anyway"));
  await waitFor(() => expect(asked.mock.calls.at(-1)?.[4]).toBe(true));
  await waitFor(() => expect(screen.queryByTestId("detail-blind")).toBeNull());
  await rerender({ question: question(), query: asking(), text: 6 });
  await waitFor(() => expect(asked.mock.calls.at(-1)).toEqual([asking(), 6, "age", app.annotatorId, false]));
});

it("lists only the annotators whom the filter lets through", async () => {
  const people = await commands.annotators();
  const role = people[0]?.attributes["role"] ?? "";
  const of_role = people.filter((a) => a.attributes["role"] === role).length;
  render(TextPane, { question: question(), query: asking({ role }), text: 5 });
  await waitFor(() =>
    expect(screen.getByTestId("detail-chosen").textContent.trim()).toBe(`${of_role} of ${people.length}`),
  );
});
