// WCAG 2.2 AA: 4.5 to 1 for text (1.4.3), 3 to 1 for what else must be seen (1.4.11), in both themes.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync("src/styles/tokens.css", "utf8");

function tokens(selector: string): Map<string, string> {
  const start = css.indexOf(`${selector} {`);
  const block = css.slice(start, css.indexOf("}", start));
  return new Map([...block.matchAll(/(--[\w-]+):\s*(#[0-9a-f]{6});/g)].map((m) => [m[1] ?? "", m[2] ?? ""]));
}

/** WCAG 2.2, "relative luminance". */
function luminance(hex: string): number {
  const channel = (at: number) => {
    const c = parseInt(hex.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** What has text or controls on it. */
const GROUNDS = [
  ...["--ground", "--surface", "--raised", "--sunken", "--hover"],
  ...["--accent-soft", "--good-soft", "--warn-soft", "--bad-soft", "--simulated-soft"],
];
const INKS = ["--ink", "--ink-soft", "--accent", "--good", "--warn", "--bad", "--simulated"];
const TEXT: [string, string[]][] = [
  ...INKS.map((ink): [string, string[]] => [ink, GROUNDS]),
  ["--accent-ink", ["--accent"]],
];
/** From none of something to much of it. */
const RAMP = ["--ramp-low", "--ramp-mid", "--ramp-high"];
/** What plots are drawn with. */
const MARKS = [
  ...["--level-low", "--level-mid", "--level-high", ...RAMP],
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `--cat-${n}`),
];
const COMBINATIONS: [string, string[]][] = [
  ...["--focus", "--line-strong"].map((line): [string, string[]] => [line, GROUNDS]),
  ...MARKS.map((mark): [string, string[]] => [mark, ["--surface", "--ground", "--raised"]]),
];

/** The colour that `filter: grayscale(1)` draws (Filter Effects 1, 8.1: sRGB weighted by luminance). */
function grey(hex: string): string {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const value = Math.round(0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0));
  return `#${value.toString(16).padStart(2, "0").repeat(3)}`;
}

describe.each([
  ["light", ":root"],
  ["dark", ':root[data-theme="dark"]'],
])("the %s theme", (_, selector) => {
  const theme = tokens(selector);
  const colour = (name: string) => {
    const hex = theme.get(name);
    if (!hex) throw new Error(`${name} is no colour of this theme`);
    return hex;
  };
  const check = (pairs: [string, string[]][], least: number, drawn = (hex: string) => hex) =>
    pairs.flatMap(([front, backs]) =>
      backs
        .map((back) => ({
          pair: `${front} on ${back}`,
          ratio: contrast(drawn(colour(front)), drawn(colour(back))),
        }))
        .filter(({ ratio }) => ratio < least),
    );

  it("has text contrast of 4.5:1 on full heat", () => {
    // Half of the colour (kinds/spans/span-paint.ts), over the background of texts.
    const half = (front: string, back: string) =>
      `#${[1, 3, 5]
        .map((at) =>
          Math.round((parseInt(front.slice(at, at + 2), 16) + parseInt(back.slice(at, at + 2), 16)) / 2),
        )
        .map((channel) => channel.toString(16).padStart(2, "0"))
        .join("")}`;
    const heats = ["--level-high", ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `--cat-${n}`)];
    const low = heats.filter(
      (heat) => contrast(colour("--ink"), half(colour(heat), colour("--ground"))) < 4.5,
    );
    expect(low).toEqual([]);
  });
  it("has text contrast of 4.5:1", () => expect(check(TEXT, 4.5)).toEqual([]));
  it("has a monotone ramp with distinguishable steps", () => {
    const ratios = RAMP.map((name) => contrast(colour(name), colour("--surface")));
    const steps = ratios.slice(1).map((ratio, i) => ratio / (ratios[i] ?? 0));
    // Two steps of five levels are between two of these.
    expect(Math.min(...steps)).toBeGreaterThan(1.25 ** 2);
  });
  it("has contrast of 3:1 for controls, focus and marks", () => expect(check(COMBINATIONS, 3)).toEqual([]));
  it("has both in greyscale", () =>
    expect([...check(TEXT, 4.5, grey), ...check(COMBINATIONS, 3, grey)]).toEqual([]));
});

it("computes contrast as WCAG does", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
  expect(contrast("#767676", "#ffffff")).toBeGreaterThan(4.5);
  expect(grey("#ff0000")).toBe("#363636");
});
