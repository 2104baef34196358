// Why a prediction of the toy model is what it is.
import { answerOf } from "./answers";
import type * as view from "$api/bindings";
import { labelKey, predict, type Person, type Text, type World } from "./world";

const LISTED = 5;

/** As the program explains: the toy model's own sum. */
export function explain(
  world: World,
  query: view.ExplainQuery,
  readingAs: view.AnnotatorId | null,
  showHidden: boolean,
): view.Explanation {
  const question = world.questions.find((q) => q.id === query.question) ?? world.questions[0];
  const text = world.texts[query.text - 1];
  if (!question || !text) throw new Error("no such question or text");
  const levels = question.scale.levels.length;
  const level = Math.floor(levels / 2);
  const asked = [query.annotator, query.with].flatMap((id) => world.people.find((p) => p.id === id) ?? []);
  const answer = (person: Person, of: Text) => world.labels.get(labelKey(question.id, person.id, of.id));
  const named = (of: Text) => ({ text: of.id, external_id: of.external_id, snippet: of.body.slice(0, 280) });
  const annotators = asked.map((person): view.ExplainedAnnotator => {
    const given = answer(person, text);
    const observed = given === undefined || query.without_own ? null : answerOf(given);
    const hidden = person.id === readingAs && given === undefined && !showHidden;
    const labelled = world.texts.flatMap((of) => {
      const own = answer(person, of);
      return own === undefined || of === text ? [] : [{ of, answer: answerOf(own) }];
    });
    const parts: view.ScorePart[] = [
      { part: "average", value: -(level - 1 - (levels - 2) / 2) * 1.5 },
      { part: "words", value: text.heat * 1.4 },
      { part: "others", value: 0 },
      { part: "severity", value: person.severity * 1.4 },
      { part: "slope", value: (text.heat + person.severity) * 1.4 * (1 / person.noise - 1) },
    ];
    const score = parts.reduce((sum, { value }) => sum + (value ?? 0), 0);
    return {
      annotator: person.id,
      name: person.name,
      hidden,
      labels: hidden ? 0 : labelled.length,
      observed,
      sentence: hidden
        ? ""
        : `${person.name} is predicted by the text's words; ${person.name} answers such texts much as most people do.`,
      distribution: hidden ? [] : predict(question, text, person),
      parts: hidden ? [] : parts,
      score: hidden ? 0 : score,
      log_odds: hidden ? 0 : score * 0.9,
      probability: hidden ? 0 : 1 / (1 + Math.exp(-score * 0.9)),
      others: 3,
      influences: hidden
        ? []
        : labelled
            .slice(0, LISTED)
            .map(({ of, answer }, i) => ({ ...named(of), answer, change: (i % 2 ? -0.08 : 0.1) / (i + 1) })),
      nearest: hidden
        ? []
        : labelled
            .slice(-LISTED)
            .map(({ of, answer }, i) => ({ ...named(of), answer, similarity: 0.8 - i / 10, labels: 1 })),
    };
  });
  const visible = annotators.filter((one) => !one.hidden);
  const [first, second] = visible;
  const value = (of: view.ExplainedAnnotator | undefined, part: view.ScorePartKind) =>
    of?.parts.find((one) => one.part === part)?.value ?? 0;
  const kinds: view.ScorePartKind[] = ["severity", "slope"];
  return {
    text: text.id,
    odds: visible.length > 0 ? { level, against: null } : null,
    annotators,
    differences: second
      ? kinds
          .map((part) => ({ part, value: value(first, part) - value(second, part) }))
          .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
      : [],
    agreed:
      visible.length > 0 ? [{ ...named(text), answer: answerOf(level), similarity: 0.71, labels: 4 }] : [],
    remark: null,
  };
}

/** As the program leaves out words; the longest ones matter most. */
export function explainWords(world: World, query: view.ExplainQuery): view.ExplainedWords {
  const body = world.texts[query.text - 1]?.body ?? "";
  const pieces = body.match(/\S+\s*/g) ?? [];
  return {
    odds: explain(world, query, null, true).odds ?? { level: 2, against: null },
    score: 0.4,
    pieces: pieces.map((words, i) => ({ words, change: (words.length - 5) * (i % 3 === 0 ? -0.03 : 0.05) })),
    together: 1,
    needs: null,
    remark:
      "This text has labels: it is scored like a new text, by a model that has also learned from the labels of this one.",
  };
}
