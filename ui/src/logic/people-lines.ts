// The annotators of a text as lines, those who labelled it first: in one list, or grouped by an attribute.
import type { AnnotatorPrediction, GroupPrediction, TextDetail } from "$api/bindings";
import { t } from "$messages/messages.svelte";

/** The value, as the program writes it, of a person without one. */
const UNKNOWN = "not known";

/** The value of an attribute, also of one that is not known. */
export const valueName = (value: string | undefined): string =>
  value === undefined || value === UNKNOWN ? t("disagreement.not_known") : value;

/** "Ada, Ben", or "Ada, Ben and 4 more" where others are not named. */
export function someNames(some: readonly string[], more: number): string {
  const names = some.join(t("format.list_separator"));
  return more > 0 ? t("disagreement.and_more", { names, count: more }) : names;
}

/** A group without a mean, as where all of its members are hidden. */
type BareGroup = Pick<GroupPrediction, "value" | "annotators"> & {
  distribution: null;
  hidden: boolean;
};
type PeopleLine =
  | { key: string; group: GroupPrediction | BareGroup }
  | { key: string; person: AnnotatorPrediction }
  | { key: string; head: string; people: number };

const personLine = (person: AnnotatorPrediction): PeopleLine => ({ key: `a${person.annotator}`, person });

const isLabelled = ({ observed }: AnnotatorPrediction) => observed !== null;

/** Those who labelled the text, then the others, each under a head of their own. */
function byLabel(people: readonly AnnotatorPrediction[]): PeopleLine[] {
  const parts = [
    { key: "labelled", head: t("disagreement.people_labelled"), people: people.filter(isLabelled) },
    {
      key: "predicted",
      head: t("disagreement.people_predicted_only"),
      people: people.filter((one) => !isLabelled(one)),
    },
  ];
  return parts.flatMap(({ key, head, people }) =>
    people.length === 0 ? [] : [{ key, head, people: people.length }, ...people.map(personLine)],
  );
}

/** Groups and their members, including groups without a mean; without an attribute, one group. */
export function peopleLines(
  from: Pick<TextDetail, "annotators" | "groups">,
  attribute: string | null,
): PeopleLine[] {
  if (attribute === null) return byLabel(from.annotators);
  const members = new Map<string, AnnotatorPrediction[]>();
  for (const one of from.annotators) {
    const value = one.attributes[attribute] ?? UNKNOWN;
    members.set(value, [...(members.get(value) ?? []), one]);
  }
  const means = new Map(from.groups.map((group) => [group.value, group]));
  const values = new Set([...means.keys(), ...members.keys()]);
  return [...values].flatMap((value) => {
    const all = members.get(value) ?? [];
    const people = [...all.filter(isLabelled), ...all.filter((one) => !isLabelled(one))];
    const group = means.get(value) ?? {
      value,
      annotators: people.length,
      distribution: null,
      hidden: people.some((one) => one.hidden),
    };
    return [{ key: `g${value}`, group }, ...people.map(personLine)];
  });
}
