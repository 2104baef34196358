// The annotators of a text as lines: one after the other, or below the group that an attribute puts them in.
import type { AnnotatorPrediction, GroupPrediction, TextDetail } from "$lib/bindings";

const NOT_KNOWN = "not known";

/** A group without a mean, as where all of its members are hidden. */
export type BareGroup = Pick<GroupPrediction, "value" | "annotators"> & {
  distribution: null;
  hidden: boolean;
};
export type PeopleLine =
  { key: string; group: GroupPrediction | BareGroup } | { key: string; person: AnnotatorPrediction };

const personLine = (person: AnnotatorPrediction): PeopleLine => ({ key: `a${person.annotator}`, person });

/** Groups and their members. One without a mean is named all the same; without an attribute everybody is in one row. */
export function peopleLines(
  from: Pick<TextDetail, "annotators" | "groups">,
  attribute: string | null,
): PeopleLine[] {
  if (attribute === null) return from.annotators.map(personLine);
  const members = new Map<string, AnnotatorPrediction[]>();
  for (const one of from.annotators) {
    const value = one.attributes[attribute] ?? NOT_KNOWN;
    members.set(value, [...(members.get(value) ?? []), one]);
  }
  const means = new Map(from.groups.map((group) => [group.value, group]));
  const values = new Set([...means.keys(), ...members.keys()]);
  return [...values].flatMap((value) => {
    const people = members.get(value) ?? [];
    const group = means.get(value) ?? {
      value,
      annotators: people.length,
      distribution: null,
      hidden: people.some((one) => one.hidden),
    };
    return [{ key: `g${value}`, group }, ...people.map(personLine)];
  });
}
