// Axes are named by what they go with, or not at all.
import { expect, it } from "vitest";
import { commands } from "$bindings";
import { axisWords, correlation } from "$logic/map-axes";

it("names an axis by severity if positions correlate with it", async () => {
  const { annotators } = await commands.annotatorReport(1);
  const placed = (x: (at: number) => number, y: (at: number) => number) =>
    annotators.map((row, at) => ({ ...row, severity: at, x: x(at), y: y(at) }));
  const along = axisWords(
    placed(
      (at) => 2 * at + 1,
      (at) => (at % 2 === 0 ? 1 : -1),
    ),
  );
  expect(along.right).toBe("gives higher levels");
  expect(along.up).toBe("the next largest difference");
  const turned = axisWords(
    placed(
      () => 0,
      (at) => -at,
    ),
  );
  expect(turned.right).toBe("the largest difference between people");
  expect(turned.up).toBe("gives lower levels");
  expect(correlation([1, 2, 3], [2, 4, 6])).toBeCloseTo(1);
  expect(correlation([], [])).toBe(0);
});
