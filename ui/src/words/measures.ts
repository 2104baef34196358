// The measures of disagreement: names, explanations, formats, and supported scales.
import type { DisagreementMeasure, Scale } from "$api/bindings";
import { decimal, percent, signed } from "./format";
import { isBinary, isOrdinal } from "$kinds/kinds";
import { t } from "$messages/messages.svelte";

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
      label: t("measures.combined"),
      hint: t("measures.combined_hint"),
      short: t("measures.split_short"),
      write: (value) => decimal(value),
      ends: [0, 1],
    },
    {
      value: "split",
      label: t("measures.split"),
      hint: t(many ? "measures.split_hint_levels" : "measures.split_hint"),
      short: t("measures.split_short"),
      write: (value) => decimal(value),
      ends: [0, 1],
    },
    {
      value: "labels",
      label: t("measures.labels"),
      hint: t("measures.labels_hint"),
      short: t("measures.split_short"),
      write: (value) => decimal(value),
      ends: [0, 1],
      bare: true,
    },
    many && {
      value: "far_apart",
      label: t("measures.far_apart"),
      hint: t("measures.far_apart_hint"),
      short: t("measures.far_apart"),
      write: share,
      ends: [0, 1],
    },
    (many || isBinary(scale)) && {
      value: "opposite_sides",
      label: t("measures.opposite_sides"),
      hint: t("measures.opposite_sides_hint"),
      short: t("measures.opposite_sides_short"),
      write: share,
      ends: [0, 1],
    },
    many && {
      value: "surprising",
      label: t("measures.surprising"),
      hint: t("measures.surprising_hint"),
      short: t("measures.surprising_short"),
      write: (value) => signed(value, 3),
      ends: null,
    },
    many && {
      value: "group_gap",
      label: t("measures.group_gap"),
      hint: t("measures.group_gap_hint"),
      short: t("measures.group_gap_short"),
      write: (value) => decimal(value),
      ends: null,
    },
    {
      value: "between",
      label: t("measures.between"),
      hint: t("measures.between_hint"),
      short: t("measures.between_short"),
      write: share,
      ends: [0, 1],
    },
    {
      value: "pairwise",
      label: t("measures.pairwise"),
      hint: t("measures.pairwise_hint"),
      short: t("measures.pairwise_short"),
      write: share,
      ends: [0, 1],
    },
    {
      value: "divergence",
      label: t("measures.divergence"),
      hint: t("measures.divergence_hint"),
      short: t("measures.bits_short"),
      write: (value) => decimal(value),
      ends: null,
      bare: true,
    },
    {
      value: "uncertainty",
      label: t("measures.uncertainty"),
      hint: t("measures.uncertainty_hint"),
      short: t("measures.bits_short"),
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
