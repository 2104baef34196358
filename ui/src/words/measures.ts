// The measures of disagreement: names, explanations, formats, and supported scales.
import type { DisagreementMeasure, Scale } from "$api/bindings";
import { decimal, percent, signed } from "./format";
import { isBinary, isOrdinal } from "$kinds/kinds";

export interface MeasureWords {
  value: DisagreementMeasure;
  label: string;
  hint: string;
  /** The name of its column. */
  short: string;
  write: (value: number | null) => string;
  /** The range of values; `null` if unbounded. */
  ends: readonly [number, number] | null;
  /** It is shown without an interval. */
  bare?: boolean;
}

const share = (value: number | null) => percent(value);

/** The measures of a scale, the default first. */
export function measuresOf(scale: Scale): MeasureWords[] {
  const many = isOrdinal(scale) && scale.levels.length > 2;
  const all: (MeasureWords | false)[] = [
    {
      value: "combined",
      label: "Split, combined",
      hint: "predicted split; the text's own labels count as far as they improve the prediction",
      short: "Split",
      write: (value) => decimal(value),
      ends: [0, 1],
    },
    {
      value: "split",
      label: "Split, predicted",
      hint: many
        ? "squared distance of two people: 0 all equal, 1 half at each end"
        : "probability of different answers, divided by its maximum",
      short: "Split",
      write: (value) => decimal(value),
      ends: [0, 1],
    },
    {
      value: "labels",
      label: "Split, labels alone",
      hint: "of the labels, without predictions; two or more labels",
      short: "Split",
      write: (value) => decimal(value),
      ends: [0, 1],
      bare: true,
    },
    many && {
      value: "far_apart",
      label: "Far apart",
      hint: "probability that two people are at least two levels apart",
      short: "Far apart",
      write: share,
      ends: [0, 1],
    },
    (many || isBinary(scale)) && {
      value: "opposite_sides",
      label: "Opposite sides",
      hint: "probability that two people are on opposite sides of a cut; at most 50 % in a large group",
      short: "Opposite",
      write: share,
      ends: [0, 1],
    },
    many && {
      value: "surprising",
      label: "Surprising for its mean",
      hint: "labels more split than usual for texts with the same mean",
      short: "Surplus",
      write: (value) => signed(value, 3),
      ends: null,
    },
    many && {
      value: "group_gap",
      label: "Group gap",
      hint: "the widest difference between groups of people, in levels",
      short: "Gap",
      write: (value) => decimal(value),
      ends: null,
    },
    {
      value: "between",
      label: "People, not chance",
      hint: "share of the predicted variance that is between people",
      short: "Between",
      write: share,
      ends: [0, 1],
    },
    {
      value: "pairwise",
      label: "Different answers",
      hint: "chance that two people give different answers",
      short: "Differ",
      write: share,
      ends: [0, 1],
    },
    {
      value: "divergence",
      label: "Difference between people",
      hint: "Jensen-Shannon divergence of their predictions, in bits",
      short: "Bits",
      write: (value) => decimal(value),
      ends: null,
      bare: true,
    },
    {
      value: "uncertainty",
      label: "Uncertainty about each person",
      hint: "mean entropy of each prediction, in bits",
      short: "Bits",
      write: (value) => decimal(value),
      ends: null,
      bare: true,
    },
  ];
  return all.filter((measure) => measure !== false);
}

/** The words of a measure on a scale; the default where the scale does not have it. */
export function measureWords(scale: Scale, by: DisagreementMeasure): MeasureWords {
  const all = measuresOf(scale);
  const found = all.find((measure) => measure.value === by) ?? all[0];
  if (!found) throw new Error("every scale has a measure");
  return found;
}

/** "1", or "1–201" where the interval reaches more than one rank. */
export function rankBand([first, last]: readonly [number, number]): string {
  return first === last ? String(first) : `${first}–${last}`;
}
