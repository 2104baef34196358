import { describe, expect, it } from "vitest";
import { levelsOf, moved, newLevels, paste, readLevels } from "./level-list";

describe("a list of levels", () => {
  it("is parsed with one level per line and its definition after a tab or a colon", () => {
    const text = "not at all\tNobody would mind.\r\n- rude: some would: many\n\n 3) 10:30\nvile:\n";
    expect(readLevels(text)).toEqual([
      { from: null, name: "not at all", definition: "Nobody would mind." },
      { from: null, name: "rude", definition: "some would: many" },
      { from: null, name: "10:30", definition: "" },
      { from: null, name: "vile:", definition: "" },
    ]);
    expect(readLevels(" \n")).toEqual([]);
  });

  it("replaces new levels and keeps the levels of an existing question", () => {
    const pasted = readLevels("a\nb");
    expect(paste(newLevels(["1", "2", "3"]), 1, pasted)).toEqual(pasted);
    const kept = levelsOf({ kind: "choice", levels: ["1", "2"] }, []);
    expect(paste(kept, 0, pasted).map(({ name }) => name)).toEqual(["1", "a", "b", "2"]);
    const blank = [...kept, { from: null, name: " ", definition: "" }];
    expect(paste(blank, 2, pasted).map(({ name }) => name)).toEqual(["1", "2", "a", "b"]);
  });
});

it("moves a level to another position", () => {
  const list = ["a", "b", "c", "d"];
  expect([moved(list, 0, 2), moved(list, 3, 0), moved(list, 1, 1)].map((next) => next.join(""))).toEqual([
    "bcad",
    "dabc",
    "abcd",
  ]);
  expect(list).toEqual(["a", "b", "c", "d"]);
});
