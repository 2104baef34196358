// How the levels of a scale are named, coloured and reached by key.
import type { Answer, Scale } from "$lib/bindings";

/** A probability a level; a probability that is no number arrives as null. */
export type Distribution = readonly (number | null)[];

const CATEGORIES = 8;

/** What a person chooses from: the options of a scale whose levels are their sets (option `k` has bit `k`), else the levels. */
export function optionsOf(scale: Scale): string[] {
  const { kind, levels } = scale;
  // A scale that is being made has no sets yet.
  const sets = kind === "multi-choice" && levels.length >= 4 && levels[0] === "none";
  return sets ? levels.filter((_, level) => level > 0 && (level & (level - 1)) === 0) : levels;
}

/** Whether the set of a level has an option. */
export function hasOption(level: number, option: number): boolean {
  return ((level >> option) & 1) === 1;
}

/** The level that stands for an answer in predictions, counts and colours: of a set of options, the one with the bit of each. No
 * view shows spans yet. */
export function levelOf(answer: Answer | null): number | null {
  if (answer === null || answer.kind === "spans") return null;
  return answer.kind === "level"
    ? answer.value
    : answer.value.reduce((set, option) => set | (1 << option), 0);
}

/** The answer that a level stands for. */
export function answerOf(scale: Scale, level: number): Answer {
  if (scale.kind !== "multi-choice") return { kind: "level", value: level };
  const options = optionsOf(scale).map((_, option) => option);
  return { kind: "options", value: options.filter((option) => hasOption(level, option)) };
}

const category = (n: number) => `var(--cat-${(n % CATEGORIES) + 1})`;

/** Colour of a level: along low, middle, high where levels have an order; one of eight where they have none; a set's is mixed
 * from those of its options. */
export function levelColour(scale: Scale, level: number): string {
  if (scale.kind === "choice") return category(level);
  if (scale.kind === "multi-choice") return setColour(level);
  const at = scale.levels.length < 2 ? 0 : level / (scale.levels.length - 1);
  if (at === 0) return "var(--level-low)";
  if (at === 1) return "var(--level-high)";
  if (at === 0.5) return "var(--level-mid)";
  const [from, to, share] = at < 0.5 ? ["low", "mid", at * 2] : ["mid", "high", at * 2 - 1];
  return `color-mix(in oklab, var(--level-${to}) ${Math.round(Number(share) * 100)}%, var(--level-${from}))`;
}

function setColour(set: number): string {
  let mixed = category(CATEGORIES - 1);
  for (let option = 0, members = 0; set >> option > 0; option += 1) {
    if (!hasOption(set, option)) continue;
    members += 1;
    const share = Math.round(100 / members);
    mixed = members === 1 ? category(option) : `color-mix(in oklab, ${category(option)} ${share}%, ${mixed})`;
  }
  return mixed;
}

/** Colour of what {@link optionsOf} gives. */
export function optionColour(scale: Scale, option: number): string {
  return levelColour(scale, scale.kind === "multi-choice" ? 1 << option : option);
}

/** The key that gives a level: 1..9, then 0 for the tenth; further levels have none. */
export function levelKey(level: number): string | null {
  return level < 9 ? String(level + 1) : level === 9 ? "0" : null;
}

/** The level that a key gives on a scale of so many levels. */
export function levelOfKey(key: string, levels: number): number | null {
  if (!/^[0-9]$/.test(key)) return null;
  const level = key === "0" ? 9 : Number(key) - 1;
  return level < levels ? level : null;
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
    .map(({ name, share }) => `${name}: ${Math.round(share * 100)} %`);
  return parts.join(", ");
}
