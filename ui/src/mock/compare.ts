// Two groups of the invented people compared: means of their labels, with toy intervals.
import type * as view from "$api/bindings";
import { isEmpty, members } from "$logic/group-choice";
import { labelKey, type World } from "./world";
import { problem } from "./refusals";

/** The invented project has few people. */
const MIN_PEOPLE = 2;

const around = (value: number, half: number, p: number | null = null): view.Figure => ({
  value,
  interval: [value - half, value + half],
  p,
});

const average = (of: number[]) => of.reduce((a, b) => a + b, 0) / of.length;

/** Refused as by the program: an empty group, or a person in both. */
export function refusal(world: World, { a, b }: view.GroupsChoice): view.Problem | null {
  if (isEmpty(a) || isEmpty(b)) return problem("empty-group", [isEmpty(a) ? "A" : "B"]);
  const first = new Set(members(a, world.people).map((person) => person.id));
  const both = members(b, world.people).filter((person) => first.has(person.id));
  if (both.length === 0) return null;
  const names = both.map((person) => person.name).join(", ");
  return problem("groups-overlap", [names]);
}

export function compare(
  world: World,
  question: number,
  groups: view.GroupsChoice,
  revision: number,
): view.GroupComparison {
  const people = [members(groups.a, world.people), members(groups.b, world.people)] as const;
  const labels = (text: number, side: 0 | 1) =>
    people[side].flatMap((person) => world.labels.get(labelKey(question, person.id, text)) ?? []);
  const shared = world.texts
    .map((text) => ({ text, a: labels(text.id, 0), b: labels(text.id, 1) }))
    .filter(({ a, b }) => a.length > 0 && b.length > 0);
  const rows: view.GroupTextGap[] = shared.map(({ text, a, b }) => {
    const gap = average(a) - average(b);
    return {
      text: text.id,
      external_id: text.external_id,
      snippet: text.body.slice(0, 280),
      gap,
      interval: [gap - 0.8, gap + 0.8],
      observed: gap,
      labels: [a.length, b.length],
      p: Math.abs(gap) > 2 ? 0.0004 : 0.4,
      significant: Math.abs(gap) > 2,
    };
  });
  const sorted = [...rows].sort((x, y) => Math.abs(y.gap ?? 0) - Math.abs(x.gap ?? 0));
  const [a_higher, b_higher] = [
    sorted.filter((r) => (r.gap ?? 0) > 0),
    sorted.filter((r) => (r.gap ?? 0) < 0),
  ];
  const few = people.some((side) => side.length < MIN_PEOPLE) || shared.length === 0;
  const needs = few
    ? "Too little to compare, counting only people with labels on texts that both groups labelled: group A has one person, and 5 are needed."
    : null;
  const gap = few ? 0 : average(rows.map((row) => row.gap ?? 0));
  const agreement: view.GroupAgreement | null = few
    ? null
    : { within_a: around(0.48, 0.05), within_b: around(0.44, 0.06), between: around(0.46, 0.04) };
  const group = (side: 0 | 1): view.ComparedGroup => ({
    words: people[side].map((person) => person.name).join(", "),
    people: people[side].length,
    with_labels: people[side].filter((person) => person.labels > 0).length,
    labels: shared.reduce((n, text) => n + (side === 0 ? text.a : text.b).length, 0),
  });
  const [higher, other] = gap < 0 ? ["B", "A"] : ["A", "B"];
  return {
    question,
    groups,
    revision,
    stale: false,
    a: group(0),
    b: group(1),
    texts: world.texts.length,
    shared_texts: shared.length,
    gap: few ? null : around(gap, 0.3, 0.03),
    gap_corrected: null,
    severity: few ? null : around(1.5 * gap, 0.5),
    equal: agreement,
    equal_beyond: few ? null : around(0, 0.02),
    alpha: agreement,
    alpha_metric: "ordinal",
    differing: [
      a_higher.filter((row) => row.significant).length,
      b_higher.filter((row) => row.significant).length,
    ],
    a_higher: few ? [] : a_higher.slice(0, 50),
    b_higher: few ? [] : b_higher.slice(0, 50),
    overall_words:
      needs ??
      `${higher} answers ${Math.abs(gap).toFixed(2)} levels higher than ${other} on average (95 %: 0.23 to 0.83; p 0.030), on ${shared.length} texts that both labelled.`,
    agreement_words: few
      ? null
      : "Two people give the same answer to a text this often: 46 % across the groups.",
    texts_words:
      needs ??
      `No single text separates the groups beyond how strict their members are anyway, of ${shared.length} texts that both labelled.`,
    correction:
      "A difference over all texts is shown where its 95 % interval leaves out 0; that interval is of this comparison alone. Of single texts those are shown that hold after correction for their number (at most 5 % of them are false discoveries); the list by group gap also counts differences that severity alone explains.",
    needs,
  };
}
