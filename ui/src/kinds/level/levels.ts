// How the levels of a scale are named, coloured and reached by key.
import type { Answer, Scale } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { percent } from "$words/format";
import { spansName, spansOf } from "$kinds/spans/spans";
import { isOrdered } from "$kinds/kinds";
import { idAt, nameOf, positionOf } from "$kinds/scale";

/** A probability a level; a probability that is no number arrives as null. */
export type Distribution = readonly (number | null)[];

const CATEGORIES = 8;

/** The position of an answer's level; null for answers without one, such as a set of options. */
export function levelOf(answer: Answer | null, scale: Scale): number | null {
  return answer?.kind === "level" ? positionOf(scale, answer.value) : null;
}

/** The answer “cannot say”, which is not a level. */
export const CANNOT_SAY: Answer = { kind: "cannot-say" };

/** The answer that the level at a position is; null if there is none. */
export function answerOf(level: number, scale: Scale): Answer | null {
  const value = idAt(scale, level);
  return value === null ? null : { kind: "level", value };
}

/** The answer that the options at these positions are, in whatever order they were chosen. */
export function answerOfOptions(options: readonly number[], scale: Scale): Answer {
  const ids = options.map((option) => idAt(scale, option)).filter((id) => id !== null);
  return { kind: "options", value: [...new Set(ids)].sort((a, b) => a - b) };
}

/** The positions of an answer's options, in order; empty if it is not a set of options. */
export function optionsOf(answer: Answer | null, scale: Scale): readonly number[] {
  if (answer?.kind !== "options") return [];
  const positions = answer.value.map((id) => positionOf(scale, id)).filter((at) => at !== null);
  return positions.sort((a, b) => a - b);
}

/** Whether two answers are equal. */
export function sameAnswer(a: Answer | null, b: Answer | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** An answer in words: the options of a set in scale order, or the number of spans of each type. */
export function answerName(scale: Scale, answer: Answer): string {
  if (answer.kind === "cannot-say") return t("answer.cannot_say");
  if (answer.kind === "level") return nameOf(scale, answer.value) ?? "";
  if (answer.kind === "spans") return spansName(scale, spansOf(answer, scale));
  return (
    optionsOf(answer, scale)
      .map((option) => scale.levels[option] ?? "")
      .join(" + ") || t("answer.none")
  );
}

const category = (n: number) => `var(--cat-${(n % CATEGORIES) + 1})`;

/** Neutral level names, and pairs of opposite level names, matched at the beginning of a level's name. */
const NEUTRAL =
  /^(?:neutral|neither|undecided|mixed|balanced|no opinion|weder|unentschieden|neutre|neutro|ni )/i;
const POLES: readonly [RegExp, RegExp][] = [
  [/\bdisagree/i, /\bagree/i],
  [/\bnegative/i, /\bpositive/i],
  [/\b(?:oppose|against)/i, /\b(?:support|for|in favou?r)/i],
  [/\bunfavou?rable/i, /\bfavou?rable/i],
  [/\bworse/i, /\bbetter/i],
  [/\bdislike/i, /\blike/i],
  [/\bleft/i, /\bright/i],
];

/**
 * Whether a scale leads from one pole to its opposite, as from "disagree" to "agree", instead of from none to
 * much of something. The names decide: numbers below and above zero, a neutral level in the middle, or known
 * opposites at the ends. Two levels are opposites.
 */
export function hasOppositePoles({ levels }: Scale): boolean {
  const [first = "", last = ""] = [levels[0], levels.at(-1)];
  if (levels.length <= 2) return true;
  if (Number(first.replace("−", "-")) < 0 && Number(last) > 0) return true;
  if (levels.length % 2 === 1 && NEUTRAL.test(levels[(levels.length - 1) / 2] ?? "")) return true;
  return POLES.some(([a, b]) => (a.test(first) && b.test(last)) || (b.test(first) && a.test(last)));
}

/**
 * The colour of a level: for ordered levels from light to dark of one hue (reversed in the dark theme),
 * between opposite poles from one hue over grey to another; otherwise one of eight, as for options and types.
 */
export function levelColour(scale: Scale, level: number): string {
  if (!isOrdered(scale)) return category(level);
  const ramp = hasOppositePoles(scale) ? "level" : "ramp";
  const at = scale.levels.length < 2 ? 0 : level / (scale.levels.length - 1);
  if (at === 0) return `var(--${ramp}-low)`;
  if (at === 1) return `var(--${ramp}-high)`;
  if (at === 0.5) return `var(--${ramp}-mid)`;
  const [from, to, share] = at < 0.5 ? ["low", "mid", at * 2] : ["mid", "high", at * 2 - 1];
  return `color-mix(in oklab, var(--${ramp}-${to}) ${Math.round(Number(share) * 100)}%, var(--${ramp}-${from}))`;
}

/** The digits that levels are called by, where each begins with one of its own: "0 none", "1 mild". */
function ownDigits(names: readonly string[]): string[] | null {
  const digits = names.flatMap((name) => /^([0-9])(?![0-9.,])/.exec(name.trim())?.[1] ?? []);
  return digits.length === names.length && new Set(digits).size === names.length ? digits : null;
}

/**
 * The key of a level: its own digit if all names begin with one, otherwise 1..9, then 0 for the tenth; none
 * after that.
 */
export function levelKey(level: number, names: readonly string[] = []): string | null {
  const own = ownDigits(names);
  if (own !== null && names.length > 0) return own[level] ?? null;
  return level < 9 ? String(level + 1) : level === 9 ? "0" : null;
}

/** The level that a key gives on a scale of so many levels, of which some may have names. */
export function levelOfKey(key: string, levels: number, names: readonly string[] = []): number | null {
  if (!/^[0-9]$/.test(key)) return null;
  const level = Array.from({ length: levels }, (_, at) => at).find((at) => levelKey(at, names) === key);
  return level ?? null;
}

/**
 * The number of columns for the buttons of levels in a row of `width` pixels: as few rows as let each name
 * fit on two lines without a break inside a word, filled evenly. A width of 0 is not known yet.
 */
export function levelColumns(names: readonly string[], width: number): number {
  const longest = Math.max(...names.map(letters));
  const button = KEY_AND_MARGINS + LETTER * Math.min(longest, LONGEST_NAME);
  const fit = width > 0 ? Math.max(1, Math.floor((width + GAP) / (button + GAP))) : names.length;
  return Math.ceil(names.length / Math.ceil(names.length / fit));
}

/** Sizes in pixels, and the number of letters from which on a name is cut off. */
const [KEY_AND_MARGINS, LETTER, GAP, LONGEST_NAME] = [52, 7, 8, 24];

/** The letters of the longer of two lines on which a name fits. */
function letters(name: string): number {
  const words = name
    .trim()
    .split(/\s+/)
    .map((word) => word.length);
  return Math.max(...words, Math.ceil(name.trim().length / 2));
}

/** Counts as shares of their sum; nothing counted gives nothing. */
export function shares(counts: readonly number[]): number[] | null {
  const sum = counts.reduce((a, b) => a + b, 0);
  return sum > 0 ? counts.map((n) => n / sum) : null;
}

/** A distribution in words, for those who do not see the bar: the levels from 5 % on. */
export function describe(scale: Scale, distribution: Distribution): string {
  const parts = scale.levels
    .map((name, level) => ({ name, share: distribution[level] ?? 0 }))
    .filter(({ share }) => share >= 0.05)
    .map(({ name, share }) => t("answer.level_share", { level: name, share: percent(share) }));
  return parts.join(t("format.list_separator"));
}
