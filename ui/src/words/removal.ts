// Messages about a removal.
import type { Removed, RemovalCounts } from "$api/bindings";
import { t } from "$messages/messages.svelte";

/** How many of each, in words. */
export function countWords({ questions, texts, annotators, answers, attributes }: RemovalCounts): string {
  const parts: [number, string][] = [
    [questions, t("counts.questions", { count: questions })],
    [texts, t("counts.texts", { count: texts })],
    [annotators, t("counts.annotators", { count: annotators })],
    [answers, t("counts.answers", { count: answers })],
    [attributes, t("importing.attributes", { count: attributes })],
  ];
  const some = parts.filter(([n]) => n > 0).map(([, words]) => words);
  return some.length === 0 ? t("importing.removed_nothing") : some.join(t("format.list_separator"));
}

/** What went, and what of an import stays. */
export function removedWords(
  { name, gone, kept }: Removed,
  isImport: boolean,
): { title: string; detail: string | null } {
  const stays = Object.values(kept).some((n) => n > 0);
  return {
    title: isImport ? t("importing.removed_import", { name }) : t("importing.removed_named", { name }),
    detail: isImport
      ? [
          t("importing.removed_what", { what: countWords(gone) }),
          stays ? t("importing.removed_kept", { what: countWords(kept) }) : "",
        ]
          .filter((words) => words !== "")
          .join("\n")
      : null,
  };
}
