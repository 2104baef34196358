// The order of the annotators of a text.
import { describe, expect, it } from "vitest";
import type { AnnotatorPrediction, GroupPrediction } from "$api/bindings";
import { peopleLines } from "./people-lines";

const person = (annotator: number, attributes: Record<string, string>, hidden = false, level?: number) =>
  ({
    annotator,
    name: `p${annotator}`,
    attributes,
    hidden,
    observed: level === undefined ? null : { kind: "level", value: level },
  }) as unknown as AnnotatorPrediction;
const mean = (value: string) => ({ value, annotators: 9 }) as unknown as GroupPrediction;
const people = [
  person(1, { age: "old" }),
  person(2, { age: "young" }),
  person(3, {}),
  person(4, { age: "old" }),
];
const keys = (groups: GroupPrediction[], attribute: string | null, annotators = people) =>
  peopleLines({ annotators, groups }, attribute).map(({ key }) => key);

describe("the lines of a text's annotators", () => {
  it("are one group without an attribute, in their original order", () => {
    expect(keys([mean("old")], null)).toEqual(["predicted", "a1", "a2", "a3", "a4"]);
    expect(keys([], null, [])).toEqual([]);
  });

  it("start with those who labelled the text, also within a group", () => {
    const some = [person(1, { age: "old" }), person(2, {}), person(3, { age: "old" }, false, 2)];
    expect(keys([], null, some)).toEqual(["labelled", "a3", "predicted", "a1", "a2"]);
    expect(keys([mean("old")], "age", some)).toEqual(["gold", "a3", "a1", "gnot known", "a2"]);
    expect(keys([], null, [person(3, {}, false, 2)])).toEqual(["labelled", "a3"]);
  });

  it("are listed below their group, those without known attributes together", () => {
    expect(keys([mean("young"), mean("old")], "age")).toEqual([
      "gyoung",
      "a2",
      "gold",
      "a1",
      "a4",
      "gnot known",
      "a3",
    ]);
  });

  it("name a group without members and one without a mean, and whether anybody in it is hidden", () => {
    const lines = peopleLines(
      { annotators: [person(1, { age: "old" }, true)], groups: [mean("young")] },
      "age",
    );
    expect(lines).toEqual([
      { key: "gyoung", group: mean("young") },
      { key: "gold", group: { value: "old", annotators: 1, distribution: null, hidden: true } },
      expect.objectContaining({ key: "a1" }),
    ]);
  });
});
