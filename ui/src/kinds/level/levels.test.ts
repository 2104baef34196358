// The number of columns in which the buttons of levels are laid out.
import { describe, expect, it } from "vitest";
import { levelColumns } from "./levels";

const likert = [
  "strongly disagree",
  "disagree",
  "somewhat disagree",
  "neither agree nor disagree",
  "somewhat agree",
  "agree",
  "strongly agree",
];

describe("columns of level buttons", () => {
  it("are one row where every name fits", () => {
    expect(levelColumns(["1", "2", "3", "4", "5"], 700)).toBe(5);
    expect(levelColumns(["no", "yes"], 320)).toBe(2);
  });

  it("are rows of about the same length where names do not fit", () => {
    expect(levelColumns(likert, 700)).toBe(4);
    expect(levelColumns(likert, 400)).toBe(2);
    expect(levelColumns(likert, 100)).toBe(1);
  });

  it("are one row of eleven numbers on a wide window", () => {
    const numbers = Array.from({ length: 11 }, (_, n) => String(n));
    expect(levelColumns(numbers, 872)).toBe(11);
  });

  it("are one row while the width is not known", () => {
    expect(levelColumns(likert, 0)).toBe(7);
  });
});
