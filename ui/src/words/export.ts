// What an export holds, in words.
import type { ExportContents } from "$api/bindings";
import { counted, sentence } from "./format";

/** "13,036 labels on 1,500 texts by 262 people" */
export function contentsWords({ answers, texts, people }: ExportContents): string {
  return `${counted(answers, "label")} on ${counted(texts, "text")} by ${counted(people, "person", "people")}`;
}

/** What pseudonyms do not protect, one sentence each. */
export function maskWords({
  left_blank,
  identifiable,
}: Pick<ExportContents, "left_blank" | "identifiable">): string[] {
  const words = left_blank.map((line) => `${line}.`);
  if (identifiable > 0)
    words.push(
      `${counted(identifiable, "person", "people")} could still be identified by their combination of attributes.`,
    );
  return words;
}

/** The report of a written file: what it does not contain, and what pseudonyms do not protect. */
export function exportReport(contents: ExportContents): string[] {
  const lost = contents.losses.map(({ message }) => `– ${sentence(message)}`);
  return [...(lost.length > 0 ? ["Not in the file:", ...lost] : []), ...maskWords(contents)];
}
