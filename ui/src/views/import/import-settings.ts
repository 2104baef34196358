// How cells of a table are read, and which of these settings matter for it.
import type { AttributeConflicts, ColumnChoices, ImportPreview } from "$api/bindings";
import { itemsOf } from "$logic/lists";
import { t } from "$messages/messages.svelte";
import { hasAnswers } from "./columns";

export const FOUND_OUT = "found-out";
export const PATTERN = "pattern";

export function timeFormats(): { value: string; label: string; hint?: string }[] {
  return [
    { value: FOUND_OUT, label: t("importing.time_found_out") },
    { value: "iso", label: "ISO 8601", hint: "2026-11-28 13:05" },
    { value: "month-first", label: t("importing.time_month_first"), hint: "11/28/2026" },
    { value: "day-first", label: t("importing.time_day_first"), hint: "28/11/2026, 28.11.2026" },
    { value: "excel", label: t("importing.time_excel"), hint: t("importing.time_excel_hint") },
    { value: "unix", label: t("importing.time_unix"), hint: "1795871100" },
    { value: "unix-ms", label: t("importing.time_unix_ms"), hint: "1795871100000" },
    { value: PATTERN, label: t("importing.time_pattern"), hint: t("importing.time_pattern_hint") },
  ];
}

/** Words with what may separate options between them. */
const SEVERAL = /\p{L}\s*[,;|]\s*\p{L}/u;

const SEPARATORS = [",", ";", "|"];

/** How an answer can name several options; `own` is the separator of the file, which can be another one. */
export function separators(own: string | null): { value: string; label: string }[] {
  const all = own === null || own === "" || SEPARATORS.includes(own) ? SEPARATORS : [...SEPARATORS, own];
  return [
    { value: "", label: t("importing.one_option") },
    ...all.map((separator) => ({ value: separator, label: t("importing.separated_by", { separator }) })),
  ];
}

/** The entry of the list for a format: a pattern where it is none of the named ones. */
export function timeEntry(format: string | null): string {
  if (format === null) return FOUND_OUT;
  return timeFormats().some(({ value }) => value === format) ? format : PATTERN;
}

/** What can become of an attribute that differs between rows. */
export function conflicts(): { value: AttributeConflicts; label: string; hint: string }[] {
  return [
    { value: "refuse", label: t("importing.conflict_refuse"), hint: t("importing.conflict_refuse_hint") },
    { value: "first", label: t("importing.conflict_first"), hint: t("importing.conflict_first_hint") },
    { value: "last", label: t("importing.conflict_last"), hint: t("importing.conflict_last_hint") },
    {
      value: "most-frequent",
      label: t("importing.conflict_most_frequent"),
      hint: t("importing.conflict_most_frequent_hint"),
    },
    { value: "unknown", label: t("importing.conflict_unknown"), hint: t("importing.conflict_unknown_hint") },
  ];
}

/** "NA, -" as values, each once. */
export function valuesOf(text: string): string[] {
  return [...new Set(itemsOf(text))];
}

/** Cells of columns of answers among the first rows. */
function answerCells({ header, rows, columns }: ImportPreview): string[] {
  const answers = new Set([columns.label, ...columns.answers.map(({ column }) => column)]);
  const places = header.flatMap((column, at) => (answers.has(column) ? [at] : []));
  return rows.flatMap((row) => places.map((at) => row[at] ?? ""));
}

export interface ShownSettings {
  missing: boolean;
  case: boolean;
  comma: boolean;
  sets: boolean;
  time: boolean;
  conflicts: boolean;
  join: boolean;
}

/** No setting matters. */
export const NO_SETTINGS: ShownSettings = {
  missing: false,
  case: false,
  comma: false,
  sets: false,
  time: false,
  conflicts: false,
  join: false,
};

/** Which settings matter: those that can change how this table is read, and those that were changed. */
export function shownSettings(preview: ImportPreview): ShownSettings {
  const { columns, format, asked, scale } = preview;
  if (format.of_tool) return NO_SETTINGS;
  const answers = hasAnswers(columns);
  const levels = [...(scale?.levels ?? []), ...asked.flatMap((question) => question.scale.levels)];
  return {
    missing: answers || columns.attributes.length > 0 || columns.missing.length > 0,
    case: columns.fold_case || (answers && levels.some((level) => /\p{L}/u.test(level))),
    comma: columns.decimal_comma || answerCells(preview).some((cell) => /^\s*[-+−]?\d+,\d+\s*$/.test(cell)),
    sets: columns.option_separator !== null || levels.some((level) => SEVERAL.test(level)),
    time: columns.time !== null,
    conflicts:
      columns.attributes.length > 0 ||
      columns.answers.some(({ attributes }) => Object.keys(attributes).length > 0),
    join:
      (columns.text === null && !columns.answers.some(({ text }) => text !== null)) || columns.join !== null,
  };
}

/** The column that names the text, where another file has it. */
export function joinColumn({ text_id }: ColumnChoices, header: readonly string[]): string {
  return text_id ?? header.find((name) => /id$/i.test(name)) ?? header[0] ?? "";
}
