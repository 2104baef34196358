// A prediction in its parts, in words and as steps of a sum.
import type { ExplainedAnnotator, ExplainedOdds, Scale, ScorePartKind } from "$api/bindings";

interface PartWords {
  label: string;
  hint: string;
}

const DOUBT: PartWords = {
  label: "Not known exactly",
  hint: "Text and annotator are known from few labels: that draws every prediction towards even odds. Where texts have scales of their own, this text's is in it too",
};

/** What a part is called and what it says; null is what doubt draws off. */
export function partWords(part: ScorePartKind | null, scale: Scale): PartWords {
  const ordered = scale.kind === "ordinal" || scale.kind === "binary";
  const words: Record<ScorePartKind, PartWords> = {
    average: { label: "Average annotator", hint: "The average annotator on a text whose words say nothing" },
    words: {
      label: "The text's words",
      hint: "What the embedding of the text says; its own labels have no part in it",
    },
    others: { label: "Others' labels", hint: "What the labels of others on this text add to that" },
    own_label: { label: "Own label", hint: "What this annotator's own label of this text adds to the text" },
    severity: ordered
      ? { label: "Severity", hint: "How much higher this annotator answers than the average one" }
      : {
          label: "Own preference",
          hint: "How much more readily this annotator takes the one than the other",
        },
    thresholds: {
      label: "Own thresholds",
      hint: "How this annotator uses the scale at this place, beyond the severity",
    },
    slope: {
      label: "Own reaction",
      hint: "How differently this annotator, or the annotator's group, reacts to what the text is about",
    },
    discrimination: {
      label: "Own consistency",
      hint: "How much more or less closely than the average annotator's the labels of this one follow what everybody's follow",
    },
  };
  return part === null ? DOUBT : words[part];
}

/** "4 or above", "remove", "angry rather than sad". */
export function oddsWords(odds: ExplainedOdds, scale: Scale): string {
  const name = (level: number) => scale.levels[level] ?? "";
  if (odds.against !== null) return `${name(odds.level)} rather than ${name(odds.against)}`;
  return odds.level === scale.levels.length - 1 ? name(odds.level) : `${name(odds.level)} or above`;
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

/** The parts one after the other, and what doubt draws off; the last one ends at the logarithm of the odds. */
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

/** Where the bars of these people lie, 0 included, so that they can be compared. */
export function range(people: readonly ExplainedAnnotator[]): [number, number] {
  const ends = people.flatMap((person) => steps(person).map(({ to }) => to));
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  return high - low < 1e-6 ? [-1, 1] : [low, high];
}
