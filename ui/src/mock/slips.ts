// Unlikely labels of the invented project, by its own toy model.
import type { AnnotatorId, QuestionId, SlipReport, SlipRow } from "$api/bindings";
import { labelKey, mean, predict, type World } from "./world";

const BELOW = 0.05;
const BELOW_OTHERS = 0.2;

/** The chance of a level no more probable than `level`. */
function chance(p: readonly number[], level: number): number {
  const bar = (p[level] ?? 0) * (1 + 1e-9);
  return p.filter((value) => value <= bar).reduce((sum, value) => sum + value, 0);
}

export function slips(world: World, question: QuestionId, annotator: AnnotatorId | null): SlipReport {
  const asked = world.questions.find((q) => q.id === question);
  const rows: SlipRow[] = [];
  let judged = 0;
  for (const text of asked ? world.texts : []) {
    if (!asked) break;
    for (const person of world.people) {
      const level = world.labels.get(labelKey(question, person.id, text.id));
      if (level === undefined || (annotator !== null && annotator !== person.id)) continue;
      judged += 1;
      const mine = predict(asked, text, person);
      const rest = world.people.filter((other) => other !== person);
      const own = chance(mine, level);
      const others = chance(mean(rest.map((other) => predict(asked, text, other))), level);
      if (own > BELOW && others > BELOW) continue;
      const given = rest.flatMap((other) => world.labels.get(labelKey(question, other.id, text.id)) ?? []);
      const usual = mine.indexOf(Math.max(...mine));
      rows.push({
        text: text.id,
        text_id: text.external_id,
        body: text.body,
        annotator: person.id,
        annotator_id: person.external_id,
        name: person.name,
        kind: own > BELOW ? "own_view" : others > BELOW_OTHERS ? "divided" : "slip",
        level,
        level_name: asked.scale.levels[level] ?? "",
        usual,
        usual_name: asked.scale.levels[usual] ?? "",
        own,
        others,
        others_labels: given.length,
        same_labels: given.filter((other) => other === level).length,
        expected: 0.4,
      });
    }
  }
  rows.sort((a, b) => (a.own ?? 0) - (b.own ?? 0));
  const found = rows.filter((row) => row.kind === "slip");
  const contested = rows.filter((row) => row.kind !== "slip");
  return {
    question,
    below: BELOW,
    below_others: BELOW_OTHERS,
    judged,
    slips_in_all: found.length,
    slips_expected: 18.2,
    slips_beyond_chance: 0,
    slips_words: `No sign of slips: ${found.length} unusual labels, and chance alone would give about 18.`,
    contested_in_all: contested.length,
    contested_expected: 9.7,
    contested_words: `${contested.length} contested labels, where chance alone would give about 10.`,
    slips: found.slice(0, 100),
    contested: contested.slice(0, 100),
    needs: judged === 0 ? "There are no labels yet." : null,
    remark: null,
  };
}
