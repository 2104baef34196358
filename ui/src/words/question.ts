// How a question was edited, in words.
import type { QuestionEdits, QuestionPart } from "$api/bindings";
import { counted } from "./format";

const PARTS: Record<QuestionPart, string> = {
  text: "its text",
  help: "its help",
  level_names: "names or meanings of its levels",
  levels: "its levels",
  cannot_say: 'whether "cannot say" is offered',
};

/** "Edited 3 times, last its text on 24 Nov 2026." */
export function editsWords({ edits }: QuestionEdits): string {
  const last = edits.at(-1);
  if (!last) return "";
  const day = new Date(last.at ?? 0).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
  });
  const what = last.parts.map((part) => PARTS[part]).join(", ");
  return `Edited ${counted(edits.length, "time")}, last ${what} on ${day}.`;
}
