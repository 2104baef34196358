// How cells of a table are read, and which of these settings matter for it.
import type { AttributeConflicts, ColumnChoices, ImportPreview } from "$api/bindings";
import { hasAnswers } from "./columns";

export const FOUND_OUT = "found-out";
export const PATTERN = "pattern";

export const TIME_FORMATS: { value: string; label: string; hint?: string }[] = [
  { value: FOUND_OUT, label: "As found" },
  { value: "iso", label: "ISO 8601", hint: "2026-11-28 13:05" },
  { value: "month-first", label: "Month first", hint: "11/28/2026" },
  { value: "day-first", label: "Day first", hint: "28/11/2026, 28.11.2026" },
  { value: "excel", label: "Excel serial", hint: "46354.5, days" },
  { value: "unix", label: "Unix seconds", hint: "1795871100" },
  { value: "unix-ms", label: "Unix milliseconds", hint: "1795871100000" },
  { value: PATTERN, label: "Pattern…", hint: "strftime, such as %d %b %Y %H:%M" },
];

/** Words with what may separate options between them. */
const SEVERAL = /\p{L}\s*[,;|]\s*\p{L}/u;

export const SEPARATORS: { value: string; label: string }[] = [
  { value: "", label: "One option" },
  { value: ",", label: "Separated by ," },
  { value: ";", label: "Separated by ;" },
  { value: "|", label: "Separated by |" },
];

/** The entry of the list for a format: a pattern where it is none of the named ones. */
export function timeEntry(format: string | null): string {
  if (format === null) return FOUND_OUT;
  return TIME_FORMATS.some(({ value }) => value === format) ? format : PATTERN;
}

export const CONFLICTS: { value: AttributeConflicts; label: string; hint: string }[] = [
  { value: "refuse", label: "Stop the import", hint: "and report where they differ" },
  { value: "first", label: "First value", hint: "of the first row" },
  { value: "last", label: "Last value", hint: "of the last row" },
  { value: "most-frequent", label: "Most frequent value", hint: "of most rows" },
  { value: "unknown", label: "No value", hint: "the attribute is not known" },
];

/** "NA, -" as values, each once. */
export function valuesOf(text: string): string[] {
  return [...new Set(text.split(",").map((value) => value.trim()))].filter((value) => value !== "");
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
