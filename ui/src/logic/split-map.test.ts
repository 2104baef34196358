// Points, areas and stacks of the map in Findings.
import { expect, it } from "vitest";
import type { Ranking } from "$api/bindings";
import { area, byArrow, highestSplit, pointsOf, within } from "./split-map";
import { stacked } from "./stacked";

const ranking: Ranking = {
  revision: 1,
  texts: [7, 8],
  values: [0.4, 0.2],
  means: [2, 1],
  splits: [0.4, 0.2],
  observed_means: [3, null],
  observed_splits: [0.9, null],
  labels: [3, 0],
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

it("positions texts by mean and split, and none for unordered levels", () => {
  expect(pointsOf(ranking, "everyone")).toEqual([
    { text: 7, mean: 2, split: 0.4, labels: 3 },
    { text: 8, mean: 1, split: 0.2, labels: 0 },
  ]);
  expect(pointsOf(ranking, "labels")).toEqual([{ text: 7, mean: 3, split: 0.9, labels: 3 }]);
  expect(pointsOf({ ...ranking, means: [] }, "everyone")).toEqual([]);
});

it("selects the area between two corners in any order", () => {
  const box = area(3, 0.5, 1.5, 0.3);
  expect(pointsOf(ranking, "everyone").map((point) => within(point, box))).toEqual([true, false]);
});

it("allows the maximum in the middle of the scale and zero at its ends", () => {
  expect([0, 2, 4].map((mean) => highestSplit(mean, 4))).toEqual([0, 1, 0]);
});

it("stacks all dots of one position within the height", () => {
  const dots = stacked(
    Array.from({ length: 60 }, (_, n) => ({ at: 5, n })),
    7,
    40,
    20,
  );
  expect(new Set(dots.map((dot) => `${dot.dx} ${dot.dy}`)).size).toBe(60);
  expect(Math.max(...dots.map((dot) => dot.dy + dot.size))).toBeLessThanOrEqual(40);
  expect(Math.max(...dots.map((dot) => Math.abs(dot.dx) + dot.size / 2))).toBeLessThanOrEqual(11);
});

it("chooses an area by arrow keys, moves it and extends it within the plot", () => {
  const first = byArrow(null, "ArrowRight", false, { mean: 2, split: 0.5 }, 4);
  expect(first).toEqual({ mean: [1.5, 2.5], split: [0.375, 0.625] });
  const right = byArrow(first, "ArrowRight", false, { mean: 2, split: 0.5 }, 4);
  expect(right.mean[0]).toBeCloseTo(1.7);
  expect(right.mean[1]).toBeCloseTo(2.7);
  expect(right.split).toEqual(first.split);
  const higher = byArrow(first, "ArrowUp", true, { mean: 2, split: 0.5 }, 4);
  expect(higher.split[0]).toBe(0.375);
  expect(higher.split[1]).toBeCloseTo(0.675);
  let end = first;
  for (let i = 0; i < 30; i += 1) end = byArrow(end, "ArrowLeft", false, { mean: 2, split: 0.5 }, 4);
  expect(end.mean[0]).toBe(0);
  expect(end.mean[1]).toBeCloseTo(1);
  // Shrinking it always leaves a remainder.
  for (let i = 0; i < 30; i += 1) end = byArrow(end, "ArrowLeft", true, { mean: 2, split: 0.5 }, 4);
  expect(end.mean[1] - end.mean[0]).toBeCloseTo(0.2);
});
