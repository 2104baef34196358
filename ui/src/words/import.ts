// What an import did, in words.
import type { ImportAccount, ImportPlace, ImportReport } from "$api/bindings";
import { count, counted } from "./format";

/** "row 7: ana on t1: 4 counts, not 3" */
export function locationWords(place: ImportPlace): string {
  const { row, annotator, text_id, counts, instead_of } = place;
  return `row ${count(row)}: ${annotator} on ${text_id}: ${counts} counts, not ${instead_of}`;
}

/** What was added. */
export function addedWords(report: ImportReport): string {
  const annotators = report.annotators > 0 ? [counted(report.annotators, "annotator")] : [];
  const added = [counted(report.texts, "text"), ...annotators, counted(report.labels, "label")];
  return `Imported ${added.join(", ")}`;
}

/** The other notices, one per line; `known` are those already read. */
export function restWords(report: ImportReport, known: readonly string[]): string[] {
  const lines = report.notices.flatMap((notice) => [
    `${notice.message}.`,
    ...notice.places.slice(0, 3).map((place) => `– ${locationWords(place)}`),
  ]);
  if (report.repeats > 0)
    lines.push(
      `${counted(report.repeats, "answer")} of a later annotation round, stored separately from the labels.`,
    );
  if (report.repeated_rows > 0)
    lines.push(`${counted(report.repeated_rows, "row")} repeated existing labels.`);
  if (report.empty_labels > 0) lines.push(`${counted(report.empty_labels, "row")} had no label.`);
  if (report.rejected_file) {
    const rows = counted(report.rejected_rows, "row");
    lines.push(`${rows} not imported and written, with reasons, to ${report.rejected_file}`);
  }
  return [...lines, ...report.remarks.filter((remark) => !known.includes(remark))];
}

/** "1: 301 · 2: 422": levels and how often each is used. */
export function levelsWords(levels: readonly string[], counts: readonly number[]): string {
  return levels.map((level, at) => `${level}: ${count(counts[at] ?? 0)}`).join(" · ");
}

/** How many rows were imported, repeated or rejected, without zero counts. */
export function accountLines(account: ImportAccount): [string, number][] {
  const lines: [string, number][] = [
    ["read", account.read],
    ["repeated, already in the project", account.repeated],
    ["with other metadata of an existing text", account.changed],
    ["without a label", account.without_label],
    ["left out", account.dropped],
  ];
  return lines.filter(([, rows]) => rows > 0);
}
