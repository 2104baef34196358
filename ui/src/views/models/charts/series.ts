// What the charts of this view draw: lines over a common x, and how they are read out.
import type { EpochInfo } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { decimal } from "$words/format";

export interface ChartPoint {
  x: number;
  y: number;
}

export interface Series {
  name: string;
  colour: string;
  points: ChartPoint[];
  dashed?: boolean;
  /** A sign at each point, and not only a line. */
  dots?: boolean;
  /** Place in `points` of the one that is marked. */
  best?: number | null;
}

/** A scale of d3, as far as the charts use it. */
export interface LinearScale {
  (value: number): number;
  ticks(count: number): number[];
  tickFormat(count: number): (value: number) => string;
}

/** One metric of each evaluation as a line; evaluations without it are omitted. */
export function curveOf(
  epochs: readonly EpochInfo[],
  key: "train_loss" | "validation_loss" | "validation_accuracy",
  look: { name: string; colour: string; dashed?: boolean; mark?: boolean },
): Series {
  const known = epochs.filter((e) => e.epoch !== null && e[key] !== null);
  const best = known.findLastIndex((e) => e.best);
  return {
    name: look.name,
    colour: look.colour,
    dashed: look.dashed ?? false,
    points: known.map((e) => ({ x: e.epoch ?? 0, y: e[key] ?? 0 })),
    best: look.mark && best >= 0 ? best : null,
  };
}

/** All places on x where some line has a point, in order. */
export function xValuesOf(series: readonly Series[]): number[] {
  return [...new Set(series.flatMap((s) => s.points.map((p) => p.x)))].sort((a, b) => a - b);
}

/** The index of the value nearest to `x`; -1 if there is none. */
export function nearestX(places: readonly number[], x: number): number {
  let at = -1;
  places.forEach((place, i) => {
    if (at < 0 || Math.abs(place - x) < Math.abs((places[at] ?? 0) - x)) at = i;
  });
  return at;
}

/** The value of a line at x. */
export function valueAt(series: Series, x: number | undefined): number | null {
  return series.points.find((p) => p.x === x)?.y ?? null;
}

/** Ends of the values with a margin, so that no line runs along the edge. */
export function domainOf(values: readonly number[], margin = 0.06): [number, number] {
  if (values.length === 0) return [0, 1];
  const low = values.reduce((a, b) => Math.min(a, b));
  const high = values.reduce((a, b) => Math.max(a, b));
  const room = high > low ? (high - low) * margin : Math.abs(high) * 0.1 || 0.5;
  return [low - room, high + room];
}

/** What the places on x are. */
export type Across = "epoch" | "confidence";

/** "epoch 2" */
export function placeWords(across: Across, x: number): string {
  return t(`models.x_${across}`, { x });
}

/** A line in words: where it begins, its best point, where it ends. */
export function describeSeries(series: Series, across: Across): string {
  const first = series.points[0];
  const last = series.points.at(-1);
  if (!first || !last) return t("models.no_points", { line: series.name });
  const best = series.best == null ? null : series.points[series.best];
  const words = ({ x, y }: ChartPoint) => ({ value: decimal(y, 3), place: placeWords(across, x) });
  const parts: string[] = [t("models.point", words(first))];
  if (best) parts.push(t("models.point_best", words(best)));
  if (last !== first) parts.push(t("models.point", words(last)));
  return readOut(series.name, parts);
}

/** "epoch 2: Training 1.204, Validation 1.316" */
export function readOut(what: string, values: readonly string[]): string {
  return t("models.read_out", { what, values: values.join(t("format.list_separator")) });
}
