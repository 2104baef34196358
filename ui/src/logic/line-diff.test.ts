// What changed between two texts, line by line.
import { expect, it } from "vitest";
import { differs, lineDiff, type DiffRow } from "./line-diff";

/** The diff in its usual text form. */
const diffLines = (before: string, after: string) =>
  lineDiff(before, after).map((row: DiffRow) =>
    row.kind === "fold" ? `@${row.lines}` : `${{ same: " ", added: "+", removed: "-" }[row.kind]}${row.line}`,
  );

it("reports removed and added lines", () => {
  expect(diffLines("a\nb\nc", "a\nx\nc\nd")).toEqual([" a", "-b", "+x", " c", "+d"]);
  expect(diffLines("", "a\n\nb")).toEqual(["+a", "+", "+b"]);
  expect(diffLines("a", "")).toEqual(["-a"]);
});

it("ignores the end of the last line", () => {
  expect(differs(lineDiff("a\nb", "a\nb\n"))).toBe(false);
  expect(differs(lineDiff("a", "a "))).toBe(true);
  expect(lineDiff("", "")).toEqual([]);
});

it("folds unchanged lines far from any change", () => {
  const lines = Array.from({ length: 20 }, (_, i) => `line ${i}`);
  const changed = lines.with(10, "other");
  expect(diffLines(lines.join("\n"), changed.join("\n"))).toEqual([
    "@8",
    " line 8",
    " line 9",
    "-line 10",
    "+other",
    " line 11",
    " line 12",
    "@7",
  ]);
  // A single line is as short as the note that it is omitted.
  expect(diffLines("a\nb\nc\nd", "a\nb\nc\nx")[0]).toBe(" a");
});

it("restores the text of either side", () => {
  const lines = (seed: number) => Array.from({ length: 60 }, (_, i) => String((i * seed) % 7)).join("\n");
  const [before, after] = [lines(3), lines(5)];
  const rows = lineDiff(before, after);
  expect(rows.some(({ kind }) => kind === "fold")).toBe(false);
  const side = (other: string) =>
    rows.flatMap((row) => ("line" in row && row.kind !== other ? [row.line] : [])).join("\n");
  expect([side("added"), side("removed")]).toEqual([before, after]);
});

it("terminates for two long texts without common lines", () => {
  const long = (word: string) => Array.from({ length: 20_000 }, (_, i) => `${word} ${i}`).join("\n");
  const began = performance.now();
  const rows = lineDiff(long("a"), long("b"));
  expect(performance.now() - began).toBeLessThan(5000);
  expect(rows).toHaveLength(40_000);
});
