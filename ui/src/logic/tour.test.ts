import { describe, expect, it } from "vitest";
import { control, key, moveBetween, partsOf } from "./tour";

describe("the move of a text in the ranking", () => {
  it("is the furthest of those in sight, with both places", () => {
    expect(moveBetween([1, 2, 3, 4], [3, 1, 2, 4])).toEqual({ text: 3, from: 3, to: 1, moved: 3 });
  });

  it("is none if no text changed its place", () => {
    expect(moveBetween([1, 2, 3], [1, 2, 3])).toBeNull();
    expect(moveBetween([], [])).toBeNull();
  });

  it("prefers a short move in sight to a long one below", () => {
    const before = Array.from({ length: 40 }, (_, at) => at);
    const after = [1, 0, ...before.slice(2, 20), ...before.slice(21), 20];
    expect(moveBetween(before, after)).toMatchObject({ text: 1, from: 2, to: 1, moved: 22 });
  });

  it("is of a text below if only those moved", () => {
    const before = Array.from({ length: 40 }, (_, at) => at);
    const after = [...before.slice(0, 30), 39, ...before.slice(30, 39)];
    expect(moveBetween(before, after)).toMatchObject({ text: 39, from: 40, to: 31 });
  });

  it("does not count texts that were added or removed since", () => {
    expect(moveBetween([9, 1, 2, 3], [1, 2, 3, 8])).toBeNull();
    expect(moveBetween([9, 1, 2, 3], [2, 1, 3, 8])).toMatchObject({ moved: 2 });
  });
});

it("takes a sentence apart into words, controls and keys", () => {
  expect(partsOf(`Open ${control("Findings")}, press ${key("1")}.`)).toEqual([
    { kind: "words", text: "Open " },
    { kind: "control", text: "Findings" },
    { kind: "words", text: ", press " },
    { kind: "key", text: "1" },
    { kind: "words", text: "." },
  ]);
  expect(partsOf("")).toEqual([]);
});
