// The kinds of questions: what depends on the kind alone.
// To add one: an entry in KINDS; for a new form of answer a folder, and an entry in FORMS (components.ts).
import type { ScaleKind } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { MAX_TYPES } from "./spans/spans";

export interface QuestionKind {
  label: () => string;
  hint: () => string;
  /** What an answer consists of. */
  form: "level" | "options" | "spans";
  /** What a model learns from answers, or from each option or type. */
  target: "binary" | "nominal" | "ordinal";
  /** What a name on the scale is called. */
  part: "level" | "option" | "type";
  /** The fewest and the most names on a scale. */
  fewest: number;
  most: number;
  /** What to do about a question that is not answered yet, on a scale with so many names. */
  howToAnswer: (names: number) => string;
}

type Kinded = { kind: ScaleKind };

const MAX_OPTIONS = 64;

const level = { form: "level", part: "level", fewest: 2, most: 100 } as const;
const digits = (names: number) =>
  names > 9 ? t("answer.how_digit") : t("answer.how_digits", { last: names });

const multiLabel: QuestionKind = {
  label: () => t("kinds.multi_label"),
  hint: () => t("kinds.multi_label_hint", { most: MAX_OPTIONS }),
  form: "options",
  target: "binary",
  part: "option",
  fewest: 2,
  most: MAX_OPTIONS,
  howToAnswer: () => t("answer.how_options"),
};

/** In the order of the list from which a kind is chosen. */
export const KINDS: Record<ScaleKind, QuestionKind> = {
  ordinal: {
    ...level,
    label: () => t("kinds.ordinal"),
    hint: () => t("kinds.ordinal_hint"),
    target: "ordinal",
    howToAnswer: digits,
  },
  choice: {
    ...level,
    label: () => t("kinds.choice"),
    hint: () => t("kinds.choice_hint"),
    target: "nominal",
    howToAnswer: digits,
  },
  "multi-label": multiLabel,
  spans: {
    label: () => t("kinds.spans"),
    hint: () => t("kinds.spans_hint", { most: MAX_TYPES }),
    form: "spans",
    target: "binary",
    part: "type",
    fewest: 1,
    most: MAX_TYPES,
    howToAnswer: () => t("answer.how_spans"),
  },
  binary: {
    ...level,
    label: () => t("kinds.binary"),
    hint: () => t("kinds.binary_hint"),
    target: "binary",
    most: 2,
    howToAnswer: digits,
  },
  // The name of multi-label in old files.
  "multi-choice": multiLabel,
};

/** The kinds to choose from. */
export const kindItems = () =>
  (Object.entries(KINDS) as [ScaleKind, QuestionKind][])
    .filter(([value]) => value !== "multi-choice")
    .map(([value, { label, hint }]) => ({ value, label: label(), hint: hint() }));

/** The kind of a scale. */
export const kindOf = (scale: Kinded): QuestionKind => KINDS[scale.kind];

/** Whether answers are sets of options. */
export const takesOptions = (scale: Kinded): boolean => kindOf(scale).form === "options";

/** Whether answers are spans of the text. */
export const takesSpans = (scale: Kinded): boolean => kindOf(scale).form === "spans";

/** Whether each name on the scale is a yes/no question of its own: options and types of spans. */
export const hasParts = (scale: Kinded): boolean => kindOf(scale).form !== "level";

/** Whether answers are levels with an order and distances. */
export const isOrdinal = (scale: Kinded): boolean => kindOf(scale).target === "ordinal";

/** Whether answers are one of two levels. */
export const isBinary = (scale: Kinded): boolean => !hasParts(scale) && kindOf(scale).target === "binary";

/** Whether answers are levels in an order, lowest (or "no") first. */
export const isOrdered = (scale: Kinded): boolean => isOrdinal(scale) || isBinary(scale);
