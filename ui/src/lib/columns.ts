// Which column of a file is what: one role a column in the window, one column a role in the choices.
import type { ColumnChoices, OffsetUnit } from "$lib/bindings";

export const ROLES = [
  "text",
  "text_id",
  "annotator",
  "label",
  "span_start",
  "span_end",
  "span_type",
  "split",
  "group",
  "time",
  "occasion",
] as const;
type SingleRole = (typeof ROLES)[number];
/** `attribute` describes the annotator; `other` is kept with the text. */
export type Role = SingleRole | "attribute" | "other";

export const ROLE_NAMES: Record<Role, { label: string; hint: string }> = {
  text: { label: "Text", hint: "what is judged" },
  text_id: { label: "Text id", hint: "which text it is" },
  annotator: { label: "Annotator", hint: "who judged" },
  label: { label: "Label", hint: "the answer" },
  span_start: { label: "Start of a span", hint: "one row a span; its first character" },
  span_end: { label: "End of a span", hint: "behind its last character" },
  span_type: { label: "Type of a span", hint: "which kind of passage" },
  attribute: { label: "Annotator attribute", hint: "gender, age, …" },
  split: { label: "Split", hint: "train, validation, test" },
  group: { label: "Group", hint: "document or thread" },
  time: { label: "Time", hint: "when it was judged" },
  occasion: { label: "Occasion", hint: "1, or 2 where the same person was asked again" },
  other: { label: "Text metadata", hint: "any other column" },
};

/** Columns that rows of an annotation tool's file always mean the same by, and that have no role to choose. */
export const KNOWN_COLUMNS: Record<string, string | undefined> = {
  question: "Question",
  duration_ms: "Time taken",
  note: "Note",
  marks: "Skipped, flagged",
};

/** What a column is. */
export function roleOf(columns: ColumnChoices, column: string): Role {
  const single = ROLES.find((role) => columns[role] === column);
  if (single) return single;
  return columns.attributes.includes(column) ? "attribute" : "other";
}

/** The choices after a column was given a role. A role that only one column can have leaves the other one. */
export function withRole(columns: ColumnChoices, column: string, role: Role): ColumnChoices {
  const next: ColumnChoices = {
    ...columns,
    attributes: columns.attributes.filter((name) => name !== column),
  };
  for (const single of ROLES) {
    if (next[single] === column) next[single] = null;
  }
  if (role === "attribute") next.attributes = [...next.attributes, column];
  else if (role !== "other") next[role] = column;
  return next;
}

/** What offsets of spans can count. */
export const OFFSET_UNITS: { value: OffsetUnit; label: string; hint: string }[] = [
  { value: "characters", label: "Characters", hint: "Unicode code points, as in Python" },
  { value: "utf-16", label: "UTF-16 code units", hint: "as in JavaScript and Java" },
  { value: "bytes", label: "Bytes of UTF-8", hint: "as in Rust and Go" },
];

/** Whether the file has one row a span. */
export function rowsAreSpans(columns: ColumnChoices): boolean {
  return columns.span_start !== null || columns.span_end !== null || columns.span_type !== null;
}
