// Messages about a removal.
import type { Removed, RemovalCounts } from "$api/bindings";
import { counted } from "./format";

/** How many of each, in words. */
export function countWords({ questions, texts, annotators, answers, attributes }: RemovalCounts): string {
  const parts = [
    [questions, "question"],
    [texts, "text"],
    [annotators, "annotator"],
    [answers, "answer"],
    [attributes, "attribute"],
  ] as const;
  const some = parts.filter(([n]) => n > 0).map(([n, one]) => counted(n, one));
  return some.length === 0 ? "nothing" : some.join(", ");
}

/** What went, and what of an import stays. */
export function removedWords(
  { name, gone, kept }: Removed,
  isImport: boolean,
): { title: string; detail: string | null } {
  const stays = Object.values(kept).some((n) => n > 0);
  return {
    title: isImport ? `The import of ${name} was removed` : `“${name}” was removed`,
    detail: isImport
      ? [
          `Removed: ${countWords(gone)}.`,
          stays ? `Not removed, because it was used, changed or undone since: ${countWords(kept)}.` : "",
        ]
          .filter((words) => words !== "")
          .join("\n")
      : null,
  };
}
