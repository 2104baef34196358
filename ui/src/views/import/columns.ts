// Which column of a file is what: one role a column in the window; the choices list columns by role.
import type { AnswerColumn, ColumnChoices, OffsetUnit } from "$api/bindings";
import { t } from "$messages/messages.svelte";

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
  "note",
] as const;
type SingleRole = (typeof ROLES)[number];
/** Roles of columns of answers, where a table has several. */
const ANSWER_ROLES = ["answers", "option", "person", "to_text"] as const;
type AnswerRole = (typeof ANSWER_ROLES)[number];
/** `attribute` describes the annotator; `other` is stored with the text. */
export type Role = SingleRole | AnswerRole | "attribute" | "other" | "ignored";

/** All of them, as they are listed. */
const LISTED: readonly Role[] = [
  "text",
  "text_id",
  "annotator",
  "label",
  "answers",
  "option",
  "person",
  "to_text",
  "span_start",
  "span_end",
  "span_type",
  "attribute",
  "split",
  "group",
  "time",
  "occasion",
  "note",
  "other",
  "ignored",
];

/** Roles to choose from. */
export function roleItems(): { value: Role; label: string; hint: string }[] {
  return LISTED.map((value) => ({
    value,
    label: t(`importing.${value}_role`),
    hint: t(`importing.${value}_role_hint`),
  }));
}

/** What a column with a fixed meaning in a tool's format is; null for one with a role to choose. */
export function knownColumn(column: string): string | null {
  switch (column) {
    case "question":
      return t("importing.known_question");
    case "duration_ms":
      return t("importing.known_duration");
    case "note":
      return t("importing.note_role");
    case "marks":
      return t("importing.known_marks");
    default:
      return null;
  }
}

const isSingle = (role: Role): role is SingleRole => (ROLES as readonly Role[]).includes(role);
const isAnswerRole = (role: Role): role is AnswerRole => (ANSWER_ROLES as readonly Role[]).includes(role);

/** Whether only one column can have it. */
export const isForOne = (role: Role): boolean => isSingle(role);

function answerRole({ option, annotator, text }: AnswerColumn): AnswerRole {
  if (text !== null) return "to_text";
  if (option !== null) return "option";
  return annotator?.startsWith("=") ? "person" : "answers";
}

/** What each column is. */
export function rolesOf(columns: ColumnChoices): (column: string) => Role {
  const roles = new Map<string, Role>();
  for (const column of columns.ignored) roles.set(column, "ignored");
  for (const column of columns.attributes) roles.set(column, "attribute");
  for (const { annotator } of columns.answers)
    if (annotator !== null && !annotator.startsWith("=")) roles.set(annotator, "annotator");
  for (const answer of columns.answers) roles.set(answer.column, answerRole(answer));
  for (const role of ROLES) {
    const column = columns[role];
    if (column !== null) roles.set(column, role);
  }
  return (column) => roles.get(column) ?? "other";
}

/** Roles of columns whose cells can be lists. */
const NO_LISTS: readonly Role[] = ["text", "text_id", "option", "other", "ignored"];
export const canBeList = (role: Role): boolean => !NO_LISTS.includes(role);

/** The choices without these columns. */
function without(columns: ColumnChoices, gone: ReadonlySet<string>): ColumnChoices {
  const isPresent = (column: string) => !gone.has(column);
  const next: ColumnChoices = {
    ...columns,
    attributes: columns.attributes.filter(isPresent),
    ignored: columns.ignored.filter(isPresent),
    answers: columns.answers
      .filter(({ column }) => isPresent(column))
      .map((answer) =>
        answer.annotator !== null && gone.has(answer.annotator) ? { ...answer, annotator: null } : answer,
      ),
  };
  for (const single of ROLES) {
    const column = next[single];
    if (column !== null && gone.has(column)) next[single] = null;
  }
  return next;
}

const SEPARATOR = /[\s_\-.:/|]/;

/** The beginning that all names share, up to a separator and without it; null where there is none. */
function sharedBeginning(names: readonly string[]): string | null {
  const [first = "", ...rest] = names;
  if (rest.length === 0) return null;
  let length = first.length;
  for (const name of rest) while (!name.startsWith(first.slice(0, length))) length -= 1;
  while (length > 0 && !SEPARATOR.test(first.charAt(length - 1))) length -= 1;
  while (length > 0 && SEPARATOR.test(first.charAt(length - 1))) length -= 1;
  return first.slice(0, length) || null;
}

/** The questions whose options have a column each. */
export function optionSets(columns: ColumnChoices): string[] {
  const sets = columns.answers.flatMap(({ option, question }) =>
    option === null || question === null ? [] : [question],
  );
  return [...new Set(sets)];
}

/** What an option is called: the name of its column without that of the question before it. */
function optionName(column: string, question: string): string {
  const rest = column.slice(question.length);
  if (!column.startsWith(question) || !SEPARATOR.test(rest.charAt(0))) return column;
  return rest.slice(rest.search(/[^\s_\-.:/|]/)) || column;
}

/** The question that these columns are options of. */
function setOf(columns: ColumnChoices, names: readonly string[]): string {
  const sets = optionSets(columns);
  const same = sets.find((set) => names.every((name) => optionName(name, set) !== name));
  return same ?? sharedBeginning(names) ?? (sets.length === 1 ? sets[0] : undefined) ?? "options";
}

/** The choices with columns of answers, several of them. */
function withAnswers(columns: ColumnChoices, names: readonly string[], role: AnswerRole): ColumnChoices {
  const set = role === "option" ? setOf(columns, names) : "";
  const made = (column: string, as: AnswerRole): AnswerColumn => ({
    column,
    question: as === "person" || as === "to_text" ? null : as === "option" ? set : column,
    option: as === "option" ? optionName(column, set) : null,
    annotator: as === "person" ? `=${column}` : null,
    text: as === "to_text" ? column : null,
    occasion: null,
    attributes: {},
  });
  // The one column of answers becomes one of several.
  const before =
    columns.label === null
      ? []
      : [made(columns.label, role === "person" || role === "to_text" ? role : "answers")];
  const answers = [...before, ...columns.answers, ...names.map((name) => made(name, role))];
  const everybody = columns.annotator?.startsWith("=") ?? false;
  return {
    ...columns,
    label: null,
    // Columns that are texts leave nothing that would be the text of a row.
    text: role === "to_text" ? null : columns.text,
    text_id: role === "to_text" ? null : columns.text_id,
    annotator: role === "person" && everybody ? null : columns.annotator,
    answers,
  };
}

/**
 * The choices after assigning a role to columns. A role of a single column goes to the first of them and is
 * removed from its previous column; with several answer columns, the label column becomes one of them.
 */
export function withRole(
  columns: ColumnChoices,
  named: string | readonly string[],
  role: Role,
): ColumnChoices {
  const all = typeof named === "string" ? [named] : [...new Set(named)];
  if (role === "label" && all.length > 1) return withRole(columns, all, "answers");
  const names = isSingle(role) ? all.slice(0, 1) : all;
  const gone = new Set(names);
  const next = without(columns, gone);
  if (!canBeList(role)) next.lists = next.lists.filter((column) => !gone.has(column));
  if (isAnswerRole(role)) return withAnswers(next, names, role);
  if (role === "label") next.answers = [];
  if (role === "attribute") next.attributes = [...next.attributes, ...names];
  else if (role === "ignored") next.ignored = [...next.ignored, ...names];
  else if (isSingle(role)) next[role] = names[0] ?? null;
  return next;
}

/** The choices with another name of the question that options belong to. */
export function withSetName(columns: ColumnChoices, set: string, name: string): ColumnChoices {
  const answers = columns.answers.map((answer) =>
    answer.option !== null && answer.question === set ? { ...answer, question: name } : answer,
  );
  return { ...columns, answers };
}

/** The choices with a changed answer column. */
export function withAnswer(
  columns: ColumnChoices,
  column: string,
  part: Partial<AnswerColumn>,
): ColumnChoices {
  const answers = columns.answers.map((answer) =>
    answer.column === column ? { ...answer, ...part } : answer,
  );
  return { ...columns, answers };
}

/** The choices where cells of these columns are lists, or are not. */
export function withLists(columns: ColumnChoices, names: readonly string[], are: boolean): ColumnChoices {
  const rest = columns.lists.filter((column) => !names.includes(column));
  return { ...columns, lists: are ? [...rest, ...names] : rest };
}

/** Whether the file has answers. */
export function hasAnswers(columns: ColumnChoices): boolean {
  return columns.label !== null || columns.answers.length > 0;
}

/** Whether the same answers are read, and in the same way. */
export function sameAnswers(a: ColumnChoices, b: ColumnChoices): boolean {
  const read = (columns: ColumnChoices) => {
    const { label, answers, lists, missing, fold_case, decimal_comma, option_separator } = columns;
    const spans = [columns.span_start, columns.span_end, columns.span_type];
    return JSON.stringify([
      label,
      answers,
      lists,
      missing,
      fold_case,
      decimal_comma,
      option_separator,
      spans,
    ]);
  };
  return read(a) === read(b);
}

/** Whether a column names the annotators of some answers. */
export function needsAnnotator(columns: ColumnChoices): boolean {
  return columns.label !== null || columns.answers.some(({ annotator }) => annotator === null);
}

/** What offsets of spans can count. */
export function offsetUnits(): { value: OffsetUnit; label: string; hint: string }[] {
  return [
    {
      value: "characters",
      label: t("importing.unit_characters"),
      hint: t("importing.unit_characters_hint"),
    },
    { value: "utf-16", label: t("importing.unit_utf16"), hint: t("importing.unit_utf16_hint") },
    { value: "bytes", label: t("importing.unit_bytes"), hint: t("importing.unit_bytes_hint") },
  ];
}

/** Whether the file has one row a span. */
export function rowsAreSpans(columns: ColumnChoices): boolean {
  return columns.span_start !== null || columns.span_end !== null || columns.span_type !== null;
}
