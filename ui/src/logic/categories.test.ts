import { expect, it } from "vitest";
import { categorise } from "./categories";

it("distinguishes values from the names of all others, whatever they are", () => {
  const values = ["others", "not known", "c", "d", "e", "f", "g", "h", "i"];
  const { list, of } = categorise(values);
  const all = [...list, of(undefined)];
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  expect(of("others")).toBe(list[0]);
  expect(of("not known")).toBe(list[1]);
  expect(of("h")).toBe(list.at(-1));
  expect(of("i")).toBe(list.at(-1));
  expect(of("unheard of")).toBe(list.at(-1));
});
