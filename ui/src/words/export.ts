// What an export holds, in words.
import type { ExportContents } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { sentence } from "./format";
import { isolated } from "./isolated";

/** "13,036 labels", "1,500 texts" and "262 people" */
export function contentsCounts({ answers, texts, people }: ExportContents) {
  return {
    labels: t("counts.labels", { count: answers }),
    texts: t("counts.texts", { count: texts }),
    people: t("counts.people", { count: people }),
  };
}

/** "13,036 labels on 1,500 texts by 262 people, question Is it kind?" */
export function contentsWords(contents: ExportContents): string {
  const counts = contentsCounts(contents);
  const { question } = contents;
  return question
    ? t("exporting.held_question", { ...counts, question: isolated(question) })
    : t("exporting.held", counts);
}

/** What pseudonyms do not protect, one sentence each. */
export function maskWords({
  left_blank,
  identifiable,
}: Pick<ExportContents, "left_blank" | "identifiable">): string[] {
  const words = left_blank.map((line) => `${line}.`);
  if (identifiable > 0) words.push(t("exporting.identifiable", { count: identifiable }));
  return words;
}

/** The report of a written file: what it does not contain, and what pseudonyms do not protect. */
export function exportReport(contents: ExportContents): string[] {
  const lost = contents.losses.map(({ message }) => `– ${sentence(message)}`);
  return [...(lost.length > 0 ? [t("exporting.lost"), ...lost] : []), ...maskWords(contents)];
}
