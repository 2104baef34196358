// Texts as points: mean level and split.
import type { Ranking, TextId } from "$api/bindings";

export interface Point {
  text: TextId;
  /** Mean level, from 0. */
  mean: number;
  /** 0 to 1. */
  split: number;
  labels: number;
}

/** A part of the plot. */
export interface Area {
  mean: readonly [number, number];
  split: readonly [number, number];
}

/** Predictions for everyone, replaced by labels where there are labels; or only labels. */
export type PointKind = "everyone" | "labels";

/** The texts of a ranking with known figures; empty for an unordered scale. */
export function pointsOf(ranking: Ranking, kind: PointKind): Point[] {
  const points: Point[] = [];
  const [means, splits] =
    kind === "everyone" ? [ranking.means, ranking.splits] : [ranking.observed_means, ranking.observed_splits];
  ranking.texts.forEach((text, at) => {
    const mean = means[at];
    const split = splits[at];
    if (mean != null && split != null) points.push({ text, mean, split, labels: ranking.labels[at] ?? 0 });
  });
  return points;
}

/** The area between two corners. */
export function area(mean: number, split: number, otherMean: number, otherSplit: number): Area {
  return {
    mean: [Math.min(mean, otherMean), Math.max(mean, otherMean)],
    split: [Math.min(split, otherSplit), Math.max(split, otherSplit)],
  };
}

export function within(point: Point, { mean, split }: Area): boolean {
  return point.mean >= mean[0] && point.mean <= mean[1] && point.split >= split[0] && point.split <= split[1];
}

/**
 * The maximum for a mean level among many people: all of them at the two ends. Few people can exceed it, as
 * can an odd number of labels.
 */
export function highestSplit(mean: number, top: number): number {
  const share = top > 0 ? mean / top : 0;
  return 4 * share * (1 - share);
}

/** Steps of the keyboard across the plot. */
const STEPS = 20;

/**
 * The area after an arrow key: moved, or with `extend` with its far edge moved (right or up grows it). The
 * first key selects a quarter of each axis around `start`. Always within the plot, never empty. `top` is
 * the highest level.
 */
export function byArrow(
  chosen: Area | null,
  key: string,
  extend: boolean,
  start: Pick<Point, "mean" | "split">,
  top: number,
): Area {
  const box = chosen ?? {
    mean: [start.mean - top / 8, start.mean + top / 8],
    split: [start.split - 1 / 8, start.split + 1 / 8],
  };
  const across = key === "ArrowLeft" || key === "ArrowRight";
  const sign = key === "ArrowRight" || key === "ArrowUp" ? 1 : -1;
  const shift = (ends: readonly [number, number], most: number, by: number): [number, number] => {
    const [low, high] = [Math.max(0, ends[0]), Math.min(most, ends[1])];
    if (extend) return [low, Math.min(most, Math.max(low + most / STEPS, high + by))];
    const held = Math.max(-low, Math.min(most - high, by));
    return [low + held, high + held];
  };
  const step = chosen ? sign / STEPS : 0;
  return {
    mean: shift(box.mean, top, across ? step * top : 0),
    split: shift(box.split, 1, across ? 0 : step),
  };
}
