// The order under a reader's eyes stays until the reader lets it change; values are always new.
import { beforeEach, expect, it, vi } from "vitest";
import { commands } from "$bindings";
import type { DisagreementQuery, DisagreementRow, Ranking } from "$api/bindings";
import { RankingStore } from "./ranking.svelte";

const query: DisagreementQuery = {
  question: 1,
  by: "split",
  cut: null,
  groups: null,
  search: null,
  attributes: {},
  labelled_only: false,
};
let now: Ranking;

beforeEach(() => {
  now = {
    revision: 1,
    texts: [1, 2, 3],
    values: [],
    means: [],
    splits: [],
    observed_means: [],
    observed_splits: [],
    labels: [],
    annotators: 4,
    annotators_without_labels: 0,
    remark: null,
    estimation: null,
    needs: null,
    ties: [],
    label_weight: null,
    basis: null,
    by_labels: false,
  };
  vi.spyOn(commands, "disagreementRanking").mockImplementation(async () => ({ ...now }));
  vi.spyOn(commands, "disagreementRows").mockImplementation(async (_, texts) =>
    texts.map((text) => ({ text, snippet: `r${now.revision}` }) as DisagreementRow),
  );
});

async function asked(): Promise<RankingStore> {
  const store = new RankingStore();
  await store.load(query);
  await store.need([1, 2]);
  return store;
}

it("delays a new order while someone reads, and shows new values at once", async () => {
  const store = await asked();
  now = { ...now, revision: 2, texts: [3, 1, 2] };
  await store.refresh(true);
  expect(store.order).toEqual([1, 2, 3]);
  expect(store.waiting).toEqual([3, 1, 2]);
  expect(store.revision).toBe(2);
  expect(store.rows.get(1)?.snippet).toBe("r2");
});

it("updates indistinguishable texts together with their order", async () => {
  now = { ...now, ties: [2, 1] };
  const store = await asked();
  expect(store.ties).toEqual([2, 1]);
  now = { ...now, revision: 2, texts: [3, 1, 2], ties: [3] };
  await store.refresh(true);
  expect(store.ties).toEqual([2, 1]);
  store.apply();
  expect(store.ties).toEqual([3]);
  now = { ...now, revision: 3, ties: [1, 2] };
  await store.refresh(true);
  expect(store.ties).toEqual([1, 2]);
});

it("applies the pending order and reports which texts moved", async () => {
  const store = await asked();
  now = { ...now, revision: 2, texts: [3, 1, 2] };
  await store.refresh(true);
  store.apply();
  expect(store.order).toEqual([3, 1, 2]);
  expect(store.waiting).toBeNull();
  expect(Object.fromEntries(store.moves)).toEqual({ 1: -1, 2: -1, 3: 2 });
});

it("applies a new order at once if nobody reads", async () => {
  const store = await asked();
  now = { ...now, revision: 2, texts: [2, 1, 3] };
  await store.refresh(false);
  expect(store.order).toEqual([2, 1, 3]);
});

it("discards a pending order if the old one is current again", async () => {
  const store = await asked();
  now = { ...now, revision: 2, texts: [3, 1, 2] };
  await store.refresh(true);
  now = { ...now, revision: 3, texts: [1, 2, 3] };
  await store.refresh(true);
  expect(store.waiting).toBeNull();
});

it("shows what moved since the same ranking was last shown", async () => {
  const store = await asked();
  now = { ...now, revision: 2, texts: [2, 1, 3] };
  await store.load({ ...query });
  expect(store.moves.get(2)).toBe(1);
});

it("ignores an outdated response after the question changed", async () => {
  const store = new RankingStore();
  let late: (ranking: Ranking) => void = () => {};
  vi.mocked(commands.disagreementRanking).mockImplementationOnce(
    () => new Promise((resolve) => (late = resolve)),
  );
  const first = store.load(query);
  now = { ...now, texts: [9] };
  await store.load({ ...query, search: "x" });
  late({ ...now, texts: [1, 2, 3] });
  await first;
  expect(store.order).toEqual([9]);
});

it("keeps the list and shows the problem when it cannot be refreshed", async () => {
  const store = await asked();
  const problem = { code: "busy", message: "no", detail: null };
  vi.mocked(commands.disagreementRanking).mockRejectedValueOnce(problem);
  await store.refresh(false);
  expect(store.failed).toBe(problem);
  expect(store.order).toEqual([1, 2, 3]);
});
