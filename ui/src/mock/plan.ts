// The plan of a study in the mock: figures that follow from the request.
import type * as view from "$api/bindings";
import type { World } from "./world";

/** Plans like the program, from invented variance components. */
export function plan(world: World, question: view.QuestionId, request: view.PlanRequest): view.PlanReport {
  const reliability = request.reliability ?? 0.8;
  const needed = Math.ceil((reliability / (1 - reliability)) * 2.1);
  const number = { value: needed, low: needed - 1, high: needed + 2 };
  const per_text = world.texts.map(
    (text) => world.people.filter((p) => world.labels.has(`${question}:${p.id}:${text.id}`)).length,
  );
  const labels = per_text.reduce((sum, n) => sum + n, 0);
  const missing = per_text.reduce((sum, n) => sum + Math.max(0, needed - n), 0);
  const seconds = request.seconds_per_label ?? 6.2;
  const cost = (n: number) => (request.cost_per_label === null ? null : n * request.cost_per_label);
  return {
    question,
    reliability,
    interval_width: request.interval_width,
    cost_per_label: request.cost_per_label,
    seconds_per_label: seconds,
    timed_labels: request.seconds_per_label === null ? 120 : 0,
    limit: 100,
    texts: world.texts.length,
    labels,
    annotators: world.people.length,
    shares: { text: 0.32, annotator: 0.18, residual: 0.5 },
    for_reliability: number,
    for_width: request.interval_width === null ? null : number,
    annotators_per_text: needed,
    labels_per_person: { value: 24, low: 15, high: 61 },
    labels_per_text_now: labels / Math.max(1, world.texts.length),
    reliability_now: 0.66,
    width_now: 1.9,
    labels_in_all: labels + missing,
    labels_missing: missing,
    cost_in_all: cost(labels + missing),
    cost_missing: cost(missing),
    seconds_in_all: seconds * (labels + missing),
    seconds_missing: seconds * missing,
    texts_done: per_text.filter((n) => n >= needed).length,
    people_done: 3,
    done: missing === 0,
    open_texts: world.texts
      .map((text, at) => ({ text, n: per_text[at] ?? 0 }))
      .filter(({ n }) => n < needed)
      .slice(0, 10)
      .map(({ text, n }) => ({
        text: text.id,
        text_id: text.external_id,
        body: text.body,
        labels: n,
        missing: needed - n,
        width: n > 0 && request.interval_width !== null ? 4 / Math.sqrt(n) : null,
      })),
    needs: null,
    remark: null,
  };
}
