// Splits of texts into training and evaluation data: parsing, formatting, and descriptions.
import { t } from "$messages/messages.svelte";

interface Kind {
  /** The end of the keys of its messages. */
  key: "by_text" | "stratified" | "grouped" | "by_annotator" | "column";
  /** Whether a share for training belongs to it. */
  share: boolean;
}

/** The ways that the window offers, by the name they have on the command line. */
export const SPLITS: Readonly<Record<string, Kind>> = {
  "by-text": { key: "by_text", share: true },
  stratified: { key: "stratified", share: true },
  grouped: { key: "grouped", share: true },
  "by-annotator": { key: "by_annotator", share: true },
  column: { key: "column", share: false },
};

export interface Split {
  kind: string;
  /** Share of the texts (or people) for training; none where the kind has none or it cannot be read. */
  share: number | null;
}

/** Reads `by-text:0.7`, `column`, ... */
export function readSplit(split: string): Split {
  const [kind = "", given] = split.split(":", 2);
  const share = given === undefined || given.trim() === "" ? NaN : Number(given);
  return { kind, share: Number.isFinite(share) ? share : null };
}

/** Writes what {@link readSplit} reads. */
export function writeSplit({ kind, share }: Split): string {
  return share === null ? kind : `${kind}:${Number(share.toFixed(4))}`;
}

/** "by text, 70 %"; a split this window does not offer is shown as it was written. */
export function splitWords(split: string): string {
  const { kind, share } = readSplit(split);
  const known = SPLITS[kind];
  if (!known || known.share !== (share !== null)) return split;
  const words = t(`models.split_words_${known.key}`);
  if (share === null) return words;
  const percent = Number((share * 100).toFixed(1));
  return [words, t("format.percent", { percent })].join(t("format.list_separator"));
}
