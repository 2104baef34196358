// Exports of the toy project for other programs.
import type * as view from "$api/bindings";
import type { World } from "./world";

/** What pseudonyms leave blank of the toy project. */
export const LEFT_BLANK = [
  "age: 3 values of 3 people left blank, each of fewer than 5 people; the other 2 values stay",
];

export const exportFormats = (): view.ExportFormat[] => [
  { name: "label-studio", title: "Label Studio JSON", ending: "json", one_question: false, notes: true },
  { name: "crowd-kit", title: "Table for crowd-kit", ending: "csv", one_question: true, notes: false },
];

export function contentsOf(world: World, request: view.ExportRequest): view.ExportContents {
  const one = exportFormats().find(({ name }) => name === request.format)?.one_question ?? false;
  const lost = (reason: string, count: number, message: string) => ({ reason, count, message });
  return {
    question: one ? request.question : null,
    texts: world.texts.length,
    people: world.people.length,
    answers: world.labels.size,
    losses: one
      ? [
          lost("notes", 4, "Notes: 4. The format has no place for them"),
          lost(
            "bodies",
            world.texts.length,
            `Texts themselves: ${world.texts.length}. The format has ids alone`,
          ),
        ]
      : [],
    suppressed: request.pseudonyms ? 3 : 0,
    left_blank: request.pseudonyms ? LEFT_BLANK : [],
    identifiable: request.pseudonyms ? 2 : 0,
  };
}
