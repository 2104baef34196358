// Texts of the list: filters, orders and row numbers.
import type { TextCounts, TextFilter, TextRow, TextSort } from "$api/bindings";
import { count } from "./format";

export interface FilterWords {
  filter: TextFilter;
  name: string;
  /** What it leaves. */
  what: string;
  /** The message for an empty result. */
  none: string;
}

/** In the order in which they are listed. `own`: they are of one person. */
export function filterWords(own: boolean): FilterWords[] {
  const who = own ? "you have" : "somebody has";
  return [
    { filter: "all", name: "All", what: "Every text", none: "There is no text." },
    {
      filter: "answered",
      name: own ? "Mine" : "Labelled",
      what: own ? "Texts that you have answered" : "Texts with a label",
      none: own ? "You have not answered a text yet." : "No text has a label yet.",
    },
    {
      filter: "not_yet",
      name: "Not yet",
      what: own ? "Texts without your answer" : "Texts without a label",
      none: "Every text is answered.",
    },
    {
      filter: "skipped",
      name: "Skipped",
      what: `Texts that ${who} skipped`,
      none: "No text is skipped.",
    },
    {
      filter: "flagged",
      name: "Flagged",
      what: `Texts that ${who} marked for a second look`,
      none: "No text is flagged.",
    },
    {
      filter: "noted",
      name: "Noted",
      what: `Texts with a note, a reason or a confidence of ${own ? "yours" : "somebody"}`,
      none: "No notes, reasons or confidences.",
    },
    {
      filter: "contested",
      name: "Contested",
      what: own ? "Texts that you have answered and on which labels differ" : "Texts on which labels differ",
      none: own
        ? "Labels do not differ on any text that you have answered. Other texts are shown after you answer them."
        : "Labels do not differ on any text.",
    },
    {
      filter: "long",
      name: "Long",
      what: "Texts longer than the encoder reads at once",
      none: "No text is longer than the encoder reads at once.",
    },
  ];
}

export const SORTS: readonly { value: TextSort; label: string; hint: string }[] = [
  { value: "file", label: "As in the file", hint: "one after the other" },
  { value: "newest", label: "Answered last", hint: "what you answered last first" },
  { value: "longest", label: "Longest first", hint: "by their characters" },
  { value: "contested", label: "Most contested", hint: "where labels differ most" },
];

/** How many a filter leaves; null where that is not known, undefined where there is no such filter. */
export function countOf(counts: TextCounts | null, filter: TextFilter): number | null | undefined {
  if (!counts) return null;
  if (filter === "contested") return counts.contested ?? undefined;
  return counts[filter];
}

/** The name of a text: its id from a file, else its row number. */
export function rowName({ named, external_id, row }: Pick<TextRow, "named" | "external_id" | "row">): string {
  return named ? external_id : `Row ${count(row)}`;
}
