// Notes about a ranking.
import { expect, it } from "vitest";
import type { DisagreementRow, Ranking, Scale } from "$api/bindings";
import { measureWords } from "./measures";
import { aboveWords, borderWords, followsMean, labelsSeparate, spearman, rankingNotes } from "./ranking";

const scale: Scale = { kind: "ordinal", levels: ["1", "2", "3", "4", "5"] };
const ranking = (some: Partial<Ranking>) =>
  ({ texts: [], values: [], means: [], observed_splits: [], labels: [], ...some }) as unknown as Ranking;
const row = (band: [number, number], interval: [number, number] | null) =>
  ({ band, interval }) as unknown as DisagreementRow;

/** By hand: ranks 0 1 2 3 against 1 0 2 3 give 1 - 6 * 2 / (4 * 15) = 0.8. */
it("computes rank correlation with mean ranks for ties", () => {
  expect(spearman([1, 2, 3, 4], [20, 10, 30, 40])).toBeCloseTo(0.8, 12);
  expect(spearman([1, 2, 3], [9, 5, 1])).toBeCloseTo(-1, 12);
  // scipy.stats.spearmanr([1, 1, 2, 3], [1, 2, 3, 4]) = 0.9486832980505138
  expect(spearman([1, 1, 2, 3], [1, 2, 3, 4])).toBeCloseTo(0.9486832980505138, 12);
  expect(spearman([1, 1, 1], [1, 2, 3])).toBeNull();
});

it("states only if it holds that an order follows from the means", () => {
  const texts = Array.from({ length: 40 }, (_, i) => i + 1);
  const means = texts.map((t) => (t / 40) * 2);
  const split = means.map((mean) => (mean / 4) * (1 - mean / 4));
  const words = measureWords(scale, "split");
  const follows = ranking({ texts, means, values: split });
  expect(followsMean(follows, scale)).toBeCloseTo(1, 9);
  expect(rankingNotes(follows, row([1, 12], [0.4, 0.5]), words, scale)).toMatch(
    /^The first 12 texts cannot be distinguished.*The prediction follows from the average answer/,
  );
  const own = ranking({ texts, means, values: texts.map((t) => (t * 7) % 40) });
  expect(rankingNotes(own, row([1, 1], [0.4, 0.5]), words, scale)).toBe("");
  // Without an interval there is no note about the order.
  expect(rankingNotes(own, row([1, 12], null), words, scale)).toBe("");
  expect(followsMean(ranking({ texts, values: split }), scale)).toBeNull();
});

it("offers ranking by labels alone if enough texts have several and they differ", () => {
  const texts = Array.from({ length: 12 }, (_, i) => i + 1);
  const several = { texts, labels: texts.map(() => 5) };
  expect(labelsSeparate(ranking({ ...several, observed_splits: texts.map((t) => t / 12) }))).toBe(true);
  expect(labelsSeparate(ranking({ ...several, observed_splits: texts.map(() => 0) }))).toBe(false);
  expect(
    labelsSeparate(
      ranking({ texts, labels: texts.map(() => 2), observed_splits: texts.map((t) => (t % 3) / 2) }),
    ),
  ).toBe(false);
});

it("describes what the default order depends on, without ties", () => {
  const words = measureWords(scale, "combined");
  const basis = "Ordered by labels and prediction: 9 labels of a text count 34 %.";
  expect(rankingNotes(ranking({ basis }), row([1, 12], [0.4, 0.5]), words, scale)).toBe(basis);
  // While models are fitted there is no note about predictions.
  const texts = Array.from({ length: 40 }, (_, i) => i + 1);
  const means = texts.map((t) => (t / 40) * 2);
  const values = means.map((mean) => (mean / 4) * (1 - mean / 4));
  const fitting = ranking({ texts, means, values, by_labels: true, basis: "Ordered by labels alone." });
  expect(rankingNotes(fitting, undefined, words, scale)).toBe("Ordered by labels alone.");
});

it("explains why labels add nothing to the default order, and what would change that", () => {
  const words = measureWords(scale, "combined");
  const notesFor = (texts: number) =>
    rankingNotes(
      ranking({
        basis: "Ordered by the prediction: labels count 0 %.",
        label_weight: { half_at: null, labels: 5, weight: 0, texts },
      }),
      undefined,
      words,
      scale,
    );
  expect(notesFor(1366)).toMatch(/^Ranked by the prediction alone\./);
  expect(notesFor(1366)).toContain("1,366 texts with at least four labels do not show that.");
  expect(notesFor(1366)).toContain("More labels on the same texts can change this.");
  expect(notesFor(1366)).not.toContain("0 %");
  expect(notesFor(1)).toContain("1 text with at least four labels does not show that.");
  expect(notesFor(0)).toContain("no text has the required four labels");
});

it("names a border by its levels, and the share above it", () => {
  const named: Scale = { kind: "ordinal", levels: ["no", "hardly", "yes"] };
  const border = { level: 2, above: 0.478, interval: null };
  expect(borderWords(border, named)).toBe("between hardly and yes");
  expect(aboveWords(border)).toBe("48 % above");
  expect(aboveWords({ ...border, interval: [0.41, 0.556] })).toBe("48 % above (41–56)");
});
