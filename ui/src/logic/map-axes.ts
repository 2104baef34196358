// What the axes of the map of annotators show.
import type { AnnotatorRow } from "$api/bindings";
import { t } from "$messages/messages.svelte";

/** With a correlation of this size an axis is what it goes with. */
const NAMED_FROM = 0.8;

/** Names of the axes: severity if positions correlate with it, else unnamed. */
export function axisWords(rows: readonly AnnotatorRow[]): { right: string; up: string } {
  const placed = rows.filter((row) => row.x !== null && row.y !== null && row.severity !== null);
  const severity = placed.map((row) => row.severity ?? 0);
  const words = (places: number[], unnamed: string) => {
    const r = correlation(places, severity);
    if (r >= NAMED_FROM) return t("measures.axis_higher");
    return r <= -NAMED_FROM ? t("measures.axis_lower") : unnamed;
  };
  return {
    right: words(
      placed.map((row) => row.x ?? 0),
      t("measures.axis_largest"),
    ),
    up: words(
      placed.map((row) => row.y ?? 0),
      t("measures.axis_next"),
    ),
  };
}

/** Pearson's; 0 where one of them does not vary. */
export function correlation(x: readonly number[], y: readonly number[]): number {
  const mean = (of: readonly number[]) => of.reduce((a, b) => a + b, 0) / Math.max(1, of.length);
  const [mx, my] = [mean(x), mean(y)];
  const sum = (of: (at: number) => number) => x.reduce((s, _, at) => s + of(at), 0);
  const dx = (at: number) => (x[at] ?? 0) - mx;
  const dy = (at: number) => (y[at] ?? 0) - my;
  const length = Math.sqrt(sum((at) => dx(at) ** 2) * sum((at) => dy(at) ** 2));
  return length > 0 ? sum((at) => dx(at) * dy(at)) / length : 0;
}
