// How a question was edited, in words.
import type { QuestionEdits } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { dateOf } from "./format";

/** "Edited 3 times, last its text on Nov 24, 2026." */
export function editsWords({ edits }: QuestionEdits): string {
  const last = edits.at(-1);
  if (!last) return "";
  const parts = last.parts.map((part) => t(`questions.part_${part}`)).join(t("format.list_separator"));
  return t("questions.edited", { count: edits.length, parts, day: dateOf(last.at ?? 0) });
}
