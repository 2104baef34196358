// A plan in words.
import { expect, it } from "vitest";
import type { PlanReport, Scale } from "$api/bindings";
import { effort, faults, now, planned, stops, USUAL, widthUnit } from "./plan";

const ordinal: Scale = { kind: "ordinal", levels: ["1", "2", "3"] };
const report = (some: Partial<PlanReport>) =>
  ({
    labels_in_all: 1200,
    labels_missing: 400,
    seconds_in_all: null,
    cost_in_all: null,
    ...some,
  }) as PlanReport;

it("formats numbers with their intervals, also beyond the range of a pilot", () => {
  expect(planned({ value: 10, low: 9, high: 12 }, 100)).toBe("10 (95 %: 9 to 12)");
  expect(planned({ value: null, low: 80, high: null }, 100)).toBe("over 100 (95 %: 80 to over 100)");
});

it("reports what is wrong with a request, field by field", () => {
  expect(faults(USUAL)).toEqual({});
  expect(Object.keys(faults({ ...USUAL, reliability: 1 }))).toEqual(["reliability"]);
  expect(Object.keys(faults({ ...USUAL, reliability: null }))).toEqual(["reliability"]);
  expect(Object.keys(faults({ ...USUAL, interval_width: 0, cost_per_label: -1 }))).toEqual([
    "interval_width",
    "cost_per_label",
  ]);
});

it("gives a width in levels, or as a share for a yes-or-no question", () => {
  expect(widthUnit(ordinal)).toBe("levels");
  expect(widthUnit({ kind: "binary", levels: ["no", "yes"] })).toBe("share");
  expect(widthUnit({ kind: "choice", levels: ["a", "b", "c"] })).toBeNull();
});

it("shows time and cost only if they are known", () => {
  expect(effort(report({}))).toEqual([{ what: "Labels", all: "1,200", missing: "400" }]);
  expect(effort(report({ labels_in_all: null }))).toEqual([]);
  const all = effort(
    report({
      seconds_per_label: 6,
      seconds_in_all: 7200,
      seconds_missing: 2400,
      cost_per_label: 0.5,
      cost_in_all: 600,
      cost_missing: 200,
    }),
  );
  expect(all[1]).toEqual({ what: "Time at 6.0 s per label", all: "2 h", missing: "40 min" });
  expect(all[2]).toEqual({ what: "Cost at 0.50 per label", all: "600.00", missing: "200.00" });
});

it("describes what can stop", () => {
  expect(stops(report({ done: true }))).toContain("The study can stop");
  expect(stops(report({ texts_done: 3, texts: 9, people_done: 1, annotators: 4 }))).toBe(
    "Enough labels already: 3 of 9 texts, 1 of 4 people.",
  );
  expect(stops(report({ labels_missing: null }))).toBe("");
  expect(now(report({ labels_per_text_now: 4.3, reliability_now: 0.7, width_now: 1.8 }), ordinal)).toBe(
    "Now: 4.3 labels per text, reliability 0.70, an interval 1.80 wide (levels).",
  );
});
