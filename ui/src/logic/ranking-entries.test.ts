// Indistinguishable texts form one row that expands.
import { expect, it } from "vitest";
import { entriesOf, hiddenIn, ROWS_AT_FIRST } from "./ranking-entries";

const order = Array.from({ length: 60 }, (_, at) => 100 + at);

it("shows the first ten of a group, and all of it once it is expanded", () => {
  const closed = entriesOf(order, [2, 40], new Set());
  expect(closed.slice(0, 3).map((e) => e.kind)).toEqual(["text", "text", "tie"]);
  expect(closed[2]).toEqual({ kind: "tie", group: 1, first: 3, size: 40, open: false });
  expect(closed).toHaveLength(2 + 1 + ROWS_AT_FIRST + 18);
  // Rows after a collapsed group keep their rank.
  expect(closed[2 + 1 + ROWS_AT_FIRST]).toEqual({ kind: "text", text: 142, rank: 43 });
  const open = entriesOf(order, [2, 40], new Set([1]));
  expect(open.filter((e) => e.kind === "text").map((e) => e.rank)).toEqual(order.map((_, at) => at + 1));
});

it("has no expander for groups hardly larger than what is shown, and for an order without groups", () => {
  expect(entriesOf(order, [12, 12], new Set()).every((e) => e.kind === "text")).toBe(true);
  expect(entriesOf(order, [], new Set())).toHaveLength(60);
  expect(entriesOf([], [], new Set())).toEqual([]);
  // A group that is larger than the order, while a newer one is on its way.
  expect(entriesOf(order.slice(0, 5), [40], new Set())).toHaveLength(6);
});

it("finds the collapsed group that hides a text", () => {
  expect(hiddenIn(102, order, [2, 40], new Set())).toBeNull();
  expect(hiddenIn(112, order, [2, 40], new Set())).toBe(1);
  expect(hiddenIn(112, order, [2, 40], new Set([1]))).toBeNull();
  expect(hiddenIn(150, order, [2, 40], new Set())).toBeNull();
  expect(hiddenIn(7, order, [2, 40], new Set())).toBeNull();
});
