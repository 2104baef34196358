// A prediction in its parts, in words and as steps of a sum.
import type { ExplainedAnnotator, ExplainedOdds, Scale, ScorePartKind } from "$api/bindings";
import { isOrdered } from "$kinds/kinds";
import { t } from "$messages/messages.svelte";

interface PartWords {
  label: string;
  hint: string;
}

/** The name and explanation of a part; null for shrinkage. */
export function partWords(part: ScorePartKind | null, scale: Scale): PartWords {
  const kind = part === "severity" && !isOrdered(scale) ? "preference" : (part ?? "shrinkage");
  return { label: t(`why.part_${kind}`), hint: t(`why.effect_${kind}`) };
}

/** "4 or above", "remove", "angry rather than sad". */
export function oddsWords(odds: ExplainedOdds, scale: Scale): string {
  const name = (level: number) => scale.levels[level] ?? "";
  const level = name(odds.level);
  if (odds.against !== null) return t("why.odds_rather", { level, other: name(odds.against) });
  return odds.level === scale.levels.length - 1 ? level : t("why.odds_above", { level });
}

/** Whether these are odds of the same levels. */
export const sameOdds = (one: ExplainedOdds, other: ExplainedOdds) =>
  one.level === other.level && one.against === other.against;

/** One step of a sum: from where to where it leads. */
export interface Step {
  part: ScorePartKind | null;
  value: number;
  from: number;
  to: number;
}

/** The parts in order, and shrinkage; the last one ends at the log odds. */
export function steps(person: ExplainedAnnotator): Step[] {
  const all: { part: ScorePartKind | null; value: number }[] = [
    ...person.parts.map(({ part, value }) => ({ part, value: value ?? 0 })),
    { part: null, value: (person.log_odds ?? 0) - (person.score ?? 0) },
  ];
  let at = 0;
  return all.map(({ part, value }) => {
    const from = at;
    at += value;
    return { part, value, from, to: at };
  });
}

/** The chance that these odds are, of which this is the logarithm. */
const chanceOf = (logOdds: number) => 1 / (1 + Math.exp(-logOdds));

/** The same steps as chances: from which to which each leads. The first one begins at even odds. */
export function chances(person: ExplainedAnnotator): Step[] {
  return steps(person).map((step) => ({ ...step, from: chanceOf(step.from), to: chanceOf(step.to) }));
}

/** The common range of the bars of these people, including 0, so that they can be compared. */
export function range(people: readonly ExplainedAnnotator[]): [number, number] {
  const ends = people.flatMap((person) => steps(person).map(({ to }) => to));
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  return high - low < 1e-6 ? [-1, 1] : [low, high];
}
