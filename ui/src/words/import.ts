// What an import did, in words.
import type { ImportAccount, ImportPlace, ImportReport } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { count } from "./format";

/** "row 7: ana on t1: 4 counts, not 3" */
export function locationWords(place: ImportPlace): string {
  const { row, annotator, text_id, counts, instead_of } = place;
  return t("importing.place", { row, annotator, text: text_id, counts, instead_of });
}

/** What was added. */
export function addedWords(report: ImportReport): string {
  const { texts, annotators, labels } = report;
  const added = [
    t("counts.texts", { count: texts }),
    ...(annotators > 0 ? [t("counts.annotators", { count: annotators })] : []),
    t("counts.labels", { count: labels }),
  ];
  return t("importing.imported", { what: added.join(t("format.list_separator")) });
}

/** The other notices, one per line; `known` are those already read. */
export function restWords(report: ImportReport, known: readonly string[]): string[] {
  const lines = report.notices.flatMap((notice) => [
    `${notice.message}.`,
    ...notice.places.slice(0, 3).map((place) => `– ${locationWords(place)}`),
  ]);
  if (report.repeats > 0) lines.push(t("importing.imported_later_round", { count: report.repeats }));
  if (report.repeated_rows > 0) lines.push(t("importing.imported_repeated", { count: report.repeated_rows }));
  if (report.empty_labels > 0) lines.push(t("importing.imported_empty", { count: report.empty_labels }));
  if (report.rejected_file)
    lines.push(t("importing.imported_rejected", { count: report.rejected_rows, file: report.rejected_file }));
  return [...lines, ...report.remarks.filter((remark) => !known.includes(remark))];
}

/** "1: 301 · 2: 422": levels and how often each is used. */
export function levelsWords(levels: readonly string[], counts: readonly number[]): string {
  return levels.map((level, at) => `${level}: ${count(counts[at] ?? 0)}`).join(" · ");
}

/** How many rows were imported, repeated or rejected, without zero counts. */
export function accountLines(account: ImportAccount): [string, number][] {
  const lines: [string, number][] = [
    [t("importing.account_read"), account.read],
    [t("importing.account_repeated"), account.repeated],
    [t("importing.account_changed"), account.changed],
    [t("importing.account_without_label"), account.without_label],
    [t("importing.account_left_out"), account.dropped],
  ];
  return lines.filter(([, rows]) => rows > 0);
}
