// Rows by a chosen column.
import { expect, it } from "vitest";
import { Sorting } from "./sorting.svelte";

const rows = [
  { name: "cleo", labels: 2 },
  { name: "ben", labels: null },
  { name: "dora", labels: 7 },
  { name: "ada", labels: 2 },
];
const names = (sorting: Sorting<(typeof rows)[number], "labels">) =>
  sorting.sorted(rows).map(({ name }) => name);

it("keeps the original order until a column is chosen", () => {
  const sorting = new Sorting<(typeof rows)[number], "labels">(null, (row) => row.labels);
  expect(names(sorting)).toEqual(["cleo", "ben", "dora", "ada"]);
  expect(sorting.order("labels")).toBe("none");
});

it("sorts unknown values last in both directions, and ties by name", () => {
  const sorting = new Sorting<(typeof rows)[number], "labels">("labels", (row) => row.labels);
  expect(names(sorting)).toEqual(["dora", "ada", "cleo", "ben"]);
  sorting.choose("labels");
  expect(sorting.order("labels")).toBe("ascending");
  expect(names(sorting)).toEqual(["ada", "cleo", "dora", "ben"]);
});

it("sorts figures descending first, and names ascending", () => {
  const sorting = new Sorting<(typeof rows)[number], "labels">(null, (row) => row.labels);
  sorting.choose("name");
  expect(names(sorting)).toEqual(["ada", "ben", "cleo", "dora"]);
  sorting.choose("name");
  expect(names(sorting)).toEqual(["dora", "cleo", "ben", "ada"]);
  sorting.choose("labels");
  expect(sorting.order("labels")).toBe("descending");
});
