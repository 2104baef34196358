// Two groups of people as they are chosen.
import type { AnnotatorId, AnnotatorInfo, AttributeInfo, GroupsChoice, PeopleChoice } from "$api/bindings";

export const NOBODY: PeopleChoice = { attributes: [], annotators: [] };

export const isEmpty = (people: PeopleChoice) =>
  people.attributes.length === 0 && people.annotators.length === 0;

export const same = (a: GroupsChoice, b: GroupsChoice) => JSON.stringify(a) === JSON.stringify(b);

/** With another value or person. */
export function withValue(people: PeopleChoice, name: string, value: string): PeopleChoice {
  return { ...people, attributes: [...withoutValue(people, name, value).attributes, [name, value]] };
}

export function withoutValue(people: PeopleChoice, name: string, value: string): PeopleChoice {
  return { ...people, attributes: people.attributes.filter(([n, v]) => n !== name || v !== value) };
}

export function withPerson(people: PeopleChoice, id: AnnotatorId): PeopleChoice {
  return { ...people, annotators: [...people.annotators.filter((other) => other !== id), id] };
}

export function withoutPerson(people: PeopleChoice, id: AnnotatorId): PeopleChoice {
  return { ...people, annotators: people.annotators.filter((other) => other !== id) };
}

/** The people of a group: with one value of each named attribute, or named individually. */
export function members(people: PeopleChoice, all: readonly AnnotatorInfo[]): AnnotatorInfo[] {
  const wanted = new Map<string, Set<string>>();
  for (const [name, value] of people.attributes) wanted.set(name, (wanted.get(name) ?? new Set()).add(value));
  const fits = (person: AnnotatorInfo) =>
    wanted.size > 0 && [...wanted].every(([name, values]) => values.has(person.attributes[name] ?? ""));
  return all.filter((person) => people.annotators.includes(person.id) || fits(person));
}

/** What is chosen first: the first two values of the first attribute that has two or more. */
export function firstChoice(attributes: readonly AttributeInfo[]): GroupsChoice {
  const found = attributes.find(({ values }) => values.length > 1);
  const one = (at: number): PeopleChoice => {
    const value = found?.values[at];
    return found && value !== undefined ? { attributes: [[found.name, value]], annotators: [] } : NOBODY;
  };
  return { a: one(0), b: one(1) };
}
