// Notes about a ranking: what its order is based on, and its limits.
import type { Border, DisagreementRow, LabelWeight, Ranking, Scale } from "$api/bindings";
import { decimal, percent } from "./format";
import type { MeasureWords } from "./measures";
import { highestSplit } from "$logic/split-map";
import { t } from "$messages/messages.svelte";

/** From this rank correlation on, a measure adds nothing to the mean level of a text. */
const FOLLOWS = 0.95;
/** The number of texts from which this is reliable. */
const SAMPLE = 4000;
/** Labels of a text, and such texts, from which labels alone can be ranked by. */
const MIN_LABELS = 3;
const MIN_TEXTS = 10;

/** Ranks from 0, ties sharing their mean. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((value, at) => ({ value, at })).sort((a, b) => a.value - b.value);
  const found = new Array<number>(values.length).fill(0);
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to + 1 < order.length && order[to + 1]?.value === order[from]?.value) to += 1;
    for (let i = from; i <= to; i += 1) {
      const one = order[i];
      if (one) found[one.at] = (from + to) / 2;
    }
    from = to + 1;
  }
  return found;
}

/** Spearman's rank correlation; none where one side does not vary. */
export function spearman(a: readonly number[], b: readonly number[]): number | null {
  const [x, y] = [ranks(a), ranks(b)];
  const middle = (x.length - 1) / 2;
  let [xx, yy, xy] = [0, 0, 0];
  x.forEach((rank, at) => {
    const [dx, dy] = [rank - middle, (y[at] ?? 0) - middle];
    xx += dx * dx;
    yy += dy * dy;
    xy += dx * dy;
  });
  return xx > 0 && yy > 0 ? xy / Math.sqrt(xx * yy) : null;
}

/** Rank correlation of the values with the mean level; null for unordered scales or few texts. */
export function followsMean(ranking: Ranking, scale: Scale): number | null {
  const top = scale.levels.length - 1;
  const every = Math.max(1, Math.ceil(ranking.texts.length / SAMPLE));
  const [values, possible]: [number[], number[]] = [[], []];
  for (let at = 0; at < ranking.texts.length; at += every) {
    const [value, mean] = [ranking.values[at], ranking.means[at]];
    if (value == null || mean == null) continue;
    values.push(value);
    possible.push(highestSplit(mean, top));
  }
  return values.length < 20 ? null : spearman(values, possible);
}

/** Whether labels alone can rank texts: enough texts have several labels, and they are not all equal. */
export function labelsSeparate(ranking: Ranking): boolean {
  const splits = ranking.observed_splits.filter(
    (split, at) => split != null && (ranking.labels[at] ?? 0) >= MIN_LABELS,
  );
  return splits.length >= MIN_TEXTS && new Set(splits).size > 2;
}

/** The notes about a ranking; empty if there are none. `first` is the top row. */
export function rankingNotes(
  ranking: Ranking,
  first: DisagreementRow | undefined,
  words: MeasureWords,
  scale: Scale,
): string {
  if (words.value === "labels") return t("measures.note_labels");
  const notes: string[] = [];
  const weight = ranking.label_weight;
  if (weight && weight.half_at === null) notes.push(withoutLabels(weight));
  else if (ranking.basis) notes.push(ranking.basis);
  const last = first?.interval ? first.band[1] : 1;
  // In the default order these texts have a row of their own.
  if (last > 1 && words.value !== "combined") notes.push(t("measures.note_ties", { count: last }));
  const follows = ranking.by_labels ? null : followsMean(ranking, scale);
  if (follows !== null && follows >= FOLLOWS)
    notes.push(t("measures.note_follows", { correlation: decimal(follows) }));
  return notes.join(" ");
}

/** Why a text's own labels do not move it in the default order, and what to do about that. */
function withoutLabels({ texts }: LabelWeight): string {
  return texts === 0
    ? t("measures.note_prediction_no_text")
    : t("measures.note_prediction", { count: texts });
}

/** "between 2 and 3", with the names of the levels. */
export function borderWords(border: Border, scale: Scale): string {
  const name = (level: number) => scale.levels[level] ?? "";
  return t("measures.border", { lower: name(border.level - 1), upper: name(border.level) });
}

/** "48 % above (41–56)": how many answer the level above a border or a higher one. */
export function aboveWords(border: Border): string {
  const share = percent(border.above);
  if (!border.interval) return t("measures.above", { share });
  const [low, high] = border.interval;
  const whole = (end: number | null) => Math.round((end ?? 0) * 100);
  return t("measures.above_interval", { share, low: whole(low), high: whole(high) });
}
