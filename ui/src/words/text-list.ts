// Texts of the list: filters, orders and row numbers.
import type { TextCounts, TextFilter, TextRow, TextSort } from "$api/bindings";
import { t } from "$messages/messages.svelte";

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
      name: own ? t("list.filter_answered") : t("texts.filter_labelled"),
      what: own ? t("list.filter_answered_what") : t("texts.filter_labelled_what"),
      none: own ? t("list.filter_answered_none") : t("texts.filter_labelled_none"),
    },
    {
      filter: "not_yet",
      name: t("list.filter_not_yet"),
      what: own ? t("list.filter_not_yet_what") : t("texts.filter_not_yet_what"),
      none: t("list.filter_not_yet_none"),
    },
    {
      filter: "skipped",
      name: t("list.filter_skipped"),
      what: own ? t("list.filter_skipped_what") : t("texts.filter_skipped_what"),
      none: t("list.filter_skipped_none"),
    },
    {
      filter: "flagged",
      name: t("list.filter_flagged"),
      what: own ? t("list.filter_flagged_what") : t("texts.filter_flagged_what"),
      none: t("list.filter_flagged_none"),
    },
    {
      filter: "noted",
      name: t("list.filter_noted"),
      what: own ? t("list.filter_noted_what") : t("texts.filter_noted_what"),
      none: t("list.filter_noted_none"),
    },
    // Not in a packet.
    {
      filter: "contested",
      name: t("texts.filter_contested"),
      what: own ? t("texts.filter_contested_own_what") : t("texts.filter_contested_what"),
      none: own ? t("texts.filter_contested_own_none") : t("texts.filter_contested_none"),
    },
    {
      filter: "long",
      name: t("texts.filter_long"),
      what: t("texts.filter_long_what"),
      none: t("texts.filter_long_none"),
    },
  ];
}

/** The orders; the last one is not in a packet. */
export function sortWords(): { value: TextSort; label: string; hint: string }[] {
  return [
    { value: "file", label: t("list.sort_file"), hint: t("list.sort_file_hint") },
    { value: "newest", label: t("list.sort_newest"), hint: t("list.sort_newest_hint") },
    { value: "longest", label: t("list.sort_longest"), hint: t("list.sort_longest_hint") },
    { value: "contested", label: t("texts.sort_contested"), hint: t("texts.sort_contested_hint") },
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
  return named ? external_id : t("list.row_name", { row });
}
