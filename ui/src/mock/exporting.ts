// Exports of the toy project for other programs.
import type * as view from "../lib/bindings";
import type { World } from "./world";

export const exportFormats = (): view.ExportFormat[] => [
  { name: "label-studio", title: "Label Studio JSON", ending: "json", one_question: false, notes: true },
  { name: "crowd-kit", title: "Table for crowd-kit", ending: "csv", one_question: true, notes: false },
];

export function contentsOf(world: World, wish: view.ExportWish): view.ExportContents {
  const one = exportFormats().find(({ name }) => name === wish.format)?.one_question ?? false;
  const lost = (reason: string, count: number, message: string) => ({ reason, count, message });
  return {
    question: one ? wish.question : null,
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
    suppressed: wish.pseudonyms ? 3 : 0,
    told_apart: wish.pseudonyms ? 2 : 0,
  };
}
