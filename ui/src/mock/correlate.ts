// Questions of the invented project correlated: the toy model's scores, with toy intervals.
import type * as view from "$api/bindings";
import { mean, predict, type World } from "./world";

interface Score {
  info: view.ScoredQuestion;
  of: number[];
}

/** Scores of every text; options have a score each. */
function scoresOf(world: World, chosen: readonly number[]): Score[] {
  const asked = world.questions.filter((q) => chosen.length === 0 || chosen.includes(q.id));
  const learned = asked.flatMap((q) => (q.options.length > 0 ? q.options : [q]));
  return learned.map((q) => {
    const of = world.texts.map((text) => {
      const p = mean(world.people.map((person) => predict(q, text, person)));
      return p.reduce((sum, share, level) => sum + share * level, 0);
    });
    const levels = q.scale.levels.length;
    const score = levels > 2 ? `mean level, 1 to ${levels}` : `probability of ${q.scale.levels.at(-1)}`;
    const info = {
      question: q.id,
      name: q.name,
      score,
      range: [0, levels - 1] as [number, number],
      run: null,
      learned: 90,
    };
    return { info, of };
  });
}

function pearson(x: number[], y: number[]): number {
  const average = (of: number[]) => of.reduce((a, b) => a + b, 0) / of.length;
  const [mx, my] = [average(x), average(y)];
  const sum = (f: (i: number) => number) => x.reduce((s, _, i) => s + f(i), 0);
  const [dx, dy] = [(i: number) => (x[i] ?? 0) - mx, (i: number) => (y[i] ?? 0) - my];
  return sum((i) => dx(i) * dy(i)) / Math.sqrt(sum((i) => dx(i) ** 2) * sum((i) => dy(i) ** 2));
}

export function correlate(
  world: World,
  choice: view.CorrelationChoice,
  revision: number,
): view.QuestionCorrelation {
  const scores = scoresOf(world, choice.questions);
  const figures = (value: number, texts: number, interval: boolean): view.CorrelationFigures => {
    const figure = { value, interval: interval ? ([value - 0.08, value + 0.08] as [number, number]) : null };
    return { texts, pearson: figure, spearman: { ...figure, value: 0.95 * value } };
  };
  const pairs = scores.flatMap((one, a) =>
    scores.slice(a + 1).map((other, at): view.ScorePair => {
      const r = pearson(one.of, other.of);
      const all = world.texts.length;
      return {
        a,
        b: a + 1 + at,
        learned: [40, 50, 50, all - 140],
        held_out: figures(0.7 * r, all, true),
        unlabelled: figures(0.68 * r, all - 140, true),
        as_learned: figures(r, all, false),
      };
    }),
  );
  return {
    choice,
    scores: scores.map(({ info }) => info),
    pairs,
    texts: world.texts.length,
    copies: 0,
    taught_encoder: 0,
    annotators: world.people.length,
    folds: 5,
    notes: [],
    revision,
    stale: false,
  };
}

export function pointsOf(
  world: World,
  choice: view.CorrelationChoice,
  a: number,
  b: number,
): view.CorrelationPoints | null {
  const scores = scoresOf(world, choice.questions);
  const [x, y] = [scores[a]?.of, scores[b]?.of];
  if (!x || !y) return null;
  return {
    texts: world.texts.map((text) => text.id),
    x,
    y,
    learned: world.texts.map((_, i) => (i < 40 ? 3 : i < 90 ? 1 : i < 140 ? 2 : 0)),
    all: x.length,
  };
}
