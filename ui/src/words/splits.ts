// Splits of texts into training and evaluation data: parsing, formatting, and descriptions.

interface Kind {
  label: string;
  hint: string;
  /** The form used by {@link splitWords}. */
  words: string;
  /** Whether a share for training belongs to it. */
  share: boolean;
}

/** The ways that the window offers, by the name they have on the command line. */
export const SPLITS: Readonly<Record<string, Kind>> = {
  "by-text": {
    label: "By text",
    hint: "new texts, known people",
    words: "by text",
    share: true,
  },
  stratified: {
    label: "By text, stratified",
    hint: "the same share of every level on both sides",
    words: "stratified by label",
    share: true,
  },
  grouped: {
    label: "By group",
    hint: "whole documents or threads on one side",
    words: "by group",
    share: true,
  },
  "by-annotator": {
    label: "By annotator",
    hint: "new people",
    words: "by annotator",
    share: true,
  },
  column: {
    label: "Official split",
    hint: "as in the imported file: train, validation, test",
    words: "official split",
    share: false,
  },
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
  return share === null ? known.words : `${known.words}, ${Number((share * 100).toFixed(1))} %`;
}
