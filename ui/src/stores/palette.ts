// The entries of the palette for a query: actions and people, recently used first.
import { inKeys, type ActionId, type Named } from "$logic/action-table";
import type { AnnotatorInfo } from "$api/bindings";
import { match } from "$logic/fuzzy";
import { t } from "$messages/messages.svelte";
import english from "$messages/window/en/actions";
import type { View } from "$logic/views";
import { remember, remembered } from "./local-storage";

const STORE = "recent-actions";
const MAX_RECENT = 6;
const MAX_PEOPLE = 8;
/** The bonus for recent use, in points of the match. */
const LATELY = 20;

export type Doing =
  | { kind: "action"; id: ActionId }
  | { kind: "person"; person: AnnotatorInfo }
  | { kind: "label-as"; person: AnnotatorInfo };

export interface Entry {
  key: string;
  title: string;
  /** Places of the letters that were found in the title. */
  at: readonly number[];
  does: Doing;
}

export interface Group {
  name: string;
  entries: Entry[];
}

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

/** Actions that were used through the palette, the last one first; of another version some may be gone. */
export function recentActions(): string[] {
  return remembered(STORE, [], isNames);
}

export function usedNow(id: ActionId): void {
  remember(STORE, [id, ...recentActions().filter((other) => other !== id)].slice(0, MAX_RECENT));
}

type Possible = Named & { words: string };

/** All enabled actions: recently used first, then those of the current view. */
export function unasked(
  possible: readonly Possible[],
  recent: readonly string[],
  view: View | null,
): Group[] {
  const entry = ({ id, name }: Possible): Entry => ({
    key: id,
    title: name,
    at: [],
    does: { kind: "action", id },
  });
  const lately = recent.flatMap((id) => possible.find((one) => one.id === id) ?? []);
  const others = possible.filter((one) => !lately.includes(one));
  const here = others.filter(({ scope }) => scope === view);
  const groups = [
    { name: t("palette.recent"), entries: lately.map(entry) },
    { name: t("palette.in_view"), entries: here.map(entry) },
    {
      name: view === null ? t("actions.available") : t("actions.everywhere"),
      entries: others.filter((one) => !here.includes(one)).map(entry),
    },
  ];
  return groups.filter(({ entries }) => entries.length > 0);
}

/** The name of an action in English, by which it is found in every language. */
function englishName(id: ActionId): string {
  const name = english[`name_${inKeys(id)}`];
  return id.startsWith("view.") ? english.go_to.replace("{{view}}", name) : name;
}

/** Actions and people that match the query, best first. */
export function asked(
  query: string,
  possible: readonly Possible[],
  recent: readonly string[],
  people: readonly AnnotatorInfo[],
): Group[] {
  const actions = possible.flatMap(({ id, name, words }) => {
    const byName = match(query, name);
    // By another word it is found as well, though not as well as by its name.
    const byWords = byName ? null : (match(query, englishName(id)) ?? match(query, words));
    const found = byName ?? (byWords && { score: byWords.score / 2, at: [] });
    if (!found) return [];
    const lately = recent.includes(id) ? LATELY - recent.indexOf(id) : 0;
    const does: Doing = { kind: "action", id };
    return [{ score: found.score + lately, entry: { key: id, title: name, at: found.at, does } }];
  });
  const persons = people.flatMap((person) => {
    const byName = match(query, person.name);
    const shown = { key: `person ${person.id}`, title: person.name, at: byName?.at ?? [] };
    const as = t("palette.label_as", { name: person.name });
    const byAs = person.simulated ? null : match(query, as);
    const labels = { key: `as ${person.id}`, title: as, at: byAs?.at ?? [] };
    return [
      ...(byName
        ? [{ score: byName.score, entry: { ...shown, does: { kind: "person" as const, person } } }]
        : []),
      ...(byAs
        ? [{ score: byAs.score - 1, entry: { ...labels, does: { kind: "label-as" as const, person } } }]
        : []),
    ];
  });
  const groups = [
    { name: t("palette.actions"), found: sorted(actions) },
    { name: t("palette.people"), found: sorted(persons).slice(0, MAX_PEOPLE) },
  ];
  return groups
    .filter(({ found }) => found.length > 0)
    .sort((a, b) => (b.found[0]?.score ?? 0) - (a.found[0]?.score ?? 0))
    .map(({ name, found }) => ({ name, entries: found.map(({ entry }) => entry) }));
}

function sorted<T extends { score: number }>(found: T[]): T[] {
  return found.sort((a, b) => b.score - a.score);
}
