// Curves from evaluations, and their words.
import { describe, expect, it } from "vitest";
import type { EpochInfo } from "$api/bindings";
import { epochsShare, epochsWords } from "../progress";
import { runs } from "../../../mock/bindings";
import { curveOf, describeSeries, domainOf, nearestX, xValuesOf, valueAt } from "./series";

const evaluation = (epoch: number, loss: number | null, best = false): EpochInfo => ({
  epoch,
  step: epoch * 10,
  train_loss: null,
  validation_loss: loss,
  validation_accuracy: 0.5,
  rate: 0.1,
  seconds: epoch,
  best,
  gradients: [],
});

describe("a curve", () => {
  const look = { name: "Validation", colour: "red", mark: true };

  it("leaves out unknown values, and marks the latest best one", () => {
    const curve = curveOf(
      [evaluation(0.5, 2, true), evaluation(1, null), evaluation(1.5, 1.5, true), evaluation(2, 1.8)],
      "validation_loss",
      look,
    );
    expect(curve.points).toEqual([
      { x: 0.5, y: 2 },
      { x: 1.5, y: 1.5 },
      { x: 2, y: 1.8 },
    ]);
    expect(curve.best).toBe(1);
    expect(describeSeries(curve, "epoch")).toBe(
      "Validation: 2.000 at epoch 0.5, best 1.500 at epoch 1.5, 1.800 at epoch 2",
    );
    expect(valueAt(curve, 1.5)).toBe(1.5);
    expect(valueAt(curve, 1)).toBeNull();
  });

  it("has no best value without points", () => {
    const curve = curveOf([evaluation(1, 1)], "train_loss", look);
    expect(curve.best).toBeNull();
    expect(describeSeries(curve, "epoch")).toBe("Validation: no points");
  });
});

describe("points", () => {
  it("are merged from all lines, without duplicates, in order", () => {
    const line = (...xs: number[]) => ({ name: "", colour: "", points: xs.map((x) => ({ x, y: 0 })) });
    expect(xValuesOf([line(2, 4), line(1, 2)])).toEqual([1, 2, 4]);
  });

  it("are found by the pointer position", () => {
    expect(nearestX([1, 2, 4], 3.2)).toBe(2);
    expect(nearestX([1, 2, 4], -9)).toBe(0);
    expect(nearestX([], 3)).toBe(-1);
  });
});

it("pads a single value on both sides", () => {
  expect(domainOf([2])).toEqual([1.8, 2.2]);
  expect(domainOf([0])).toEqual([-0.5, 0.5]);
  expect(domainOf([])).toEqual([0, 1]);
  expect(domainOf([0, 10], 0.1)).toEqual([-1, 11]);
});

it("shows the progress of a run", () => {
  const [running] = runs.list();
  if (!running) throw new Error("no run");
  expect(epochsWords(running)).toBe("epoch 9 of 24");
  expect(epochsShare(running)).toBeCloseTo(9 / 24);
  expect(epochsWords({ ...running, state: "interrupted" })).toBe("after epoch 9 of 24");
  expect(epochsWords({ ...running, epochs: [] })).toBe("at work");
  expect(epochsShare({ ...running, epochs: [] })).toBeNull();
});
