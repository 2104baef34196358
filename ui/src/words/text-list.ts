// Texts of the list: filters, orders and row numbers.
import type { TextCounts, TextFilter, TextRow, TextSort } from "$api/bindings";
import { t } from "$messages/messages.svelte";
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
  return [
    {
      filter: "all",
      name: t("list.filter_all"),
      what: t("list.filter_all_what"),
      none: t("list.filter_all_none"),
    },
    {
      filter: "answered",
      name: own ? t("list.filter_answered") : "Labelled",
      what: own ? t("list.filter_answered_what") : "Texts with a label",
      none: own ? t("list.filter_answered_none") : "No text has a label yet.",
    },
    {
      filter: "not_yet",
      name: t("list.filter_not_yet"),
      what: own ? t("list.filter_not_yet_what") : "Texts without a label",
      none: t("list.filter_not_yet_none"),
    },
    {
      filter: "skipped",
      name: t("list.filter_skipped"),
      what: own ? t("list.filter_skipped_what") : "Texts that somebody has skipped",
      none: t("list.filter_skipped_none"),
    },
    {
      filter: "flagged",
      name: t("list.filter_flagged"),
      what: own ? t("list.filter_flagged_what") : "Texts that somebody has marked for a second look",
      none: t("list.filter_flagged_none"),
    },
    {
      filter: "noted",
      name: t("list.filter_noted"),
      what: own ? t("list.filter_noted_what") : "Texts with a note, a reason or a confidence of somebody",
      none: t("list.filter_noted_none"),
    },
    // Not in a packet, and so in English.
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

/** The orders; the last one is not in a packet. */
export function sortWords(): { value: TextSort; label: string; hint: string }[] {
  return [
    { value: "file", label: t("list.sort_file"), hint: t("list.sort_file_hint") },
    { value: "newest", label: t("list.sort_newest"), hint: t("list.sort_newest_hint") },
    { value: "longest", label: t("list.sort_longest"), hint: t("list.sort_longest_hint") },
    { value: "contested", label: "Most contested", hint: "where labels differ most" },
  ];
}

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
