// Files that could be imported: what they hold, and what became of them.
import type * as view from "$api/bindings";
import { guessOf, tableOf, type Table } from "./import-tables";

export const GUESSED: view.ImportChoices = {
  columns: null,
  question: null,
  prompt: null,
  scale: null,
  levels: null,
  skip_bad: false,
  format: null,
  scales: [],
};

const COUNTS = [301, 422, 260, 151, 70];
const NUMBERS = ["1", "2", "3", "4", "5"];

/** The questions that the answers are to, with scales as they were chosen. */
function requestedQuestions(
  columns: view.ColumnChoices,
  given: view.ImportChoices,
  ofTool: boolean,
): view.ImportQuestion[] {
  const asked = (name: string, guess: view.Scale): view.ImportQuestion => {
    const chosen = given.scales?.find((scale) => scale.question === name);
    const scale = chosen ? { kind: chosen.kind, levels: chosen.levels } : guess;
    const level_counts = scale.levels.map((_, at) => COUNTS[at] ?? 0);
    const labels = level_counts.reduce((a, b) => a + b, 0);
    return { name, prompt: name, scale, exists: false, guessed: !chosen, labels, level_counts };
  };
  if (ofTool) return ["score", "topics"].map((name) => asked(name, { kind: "ordinal", levels: NUMBERS }));
  if (columns.label !== null) {
    const levels = given.levels ?? NUMBERS;
    return [asked(given.question ?? "score", { kind: given.scale ?? "ordinal", levels })];
  }
  const names = [...new Set(columns.answers.map(({ question }) => question ?? given.question ?? "label"))];
  return names.map((name) => {
    const options = columns.answers.flatMap(({ question, option }) =>
      question === name && option !== null ? [option] : [],
    );
    if (options.length > 0) return asked(name, { kind: "multi-label", levels: options });
    if (!name.startsWith("Q")) return asked(name, { kind: "ordinal", levels: NUMBERS });
    const words = name.startsWith("Q3") ? ["mild", "none", "severe"] : ["no", "yes"];
    const missing = columns.missing.includes("NA") || !name.startsWith("Q1");
    return asked(name, { kind: "choice", levels: missing ? words : [...words, "NA"] });
  });
}

function peopleOf(columns: view.ColumnChoices): view.ImportPerson[] {
  const named = columns.answers.flatMap(({ annotator }) =>
    annotator?.startsWith("=") ? [annotator.slice(1)] : [],
  );
  const names = named.length > 0 ? [...new Set(named)] : ["r1", "r2", "r3"];
  return names.slice(0, 200).map((annotator, at) => ({ annotator, labels: Math.max(1, 412 - 7 * at) }));
}

function usesOf({ header }: Table, columns: view.ColumnChoices): view.ColumnUse[] {
  const of = (column: string): string => {
    const answer = columns.answers.find((one) => one.column === column);
    if (answer?.option) return `option “${answer.option}” of the question “${answer.question}”`;
    if (answer?.annotator) return `answers of “${answer.annotator.slice(1)}”`;
    if (answer) return `answers to the question “${answer.question ?? column}”`;
    if (columns.text === column) return "the text";
    if (columns.text_id === column) return "names the text";
    if (columns.annotator === column) return "names the annotator";
    if (columns.label === column) return "the label";
    if (columns.time === column) return "the time of the label";
    if (columns.attributes.includes(column)) return "an attribute of the annotator";
    return columns.ignored.includes(column) ? "left out" : "stored with the text";
  };
  return header.map((column) => ({ column, use: of(column) }));
}

function examplesOf(
  bodies: readonly string[],
  asked: readonly view.ImportQuestion[],
  people: readonly view.ImportPerson[],
): view.ExampleText[] {
  return bodies.slice(0, 3).map((text, at) => ({
    text_id: `k${at + 1}`,
    text,
    answers: asked.flatMap(({ name, scale }) =>
      people.slice(0, 20).map(({ annotator }, n) => ({
        annotator,
        question: name,
        answer: scale.levels[(at + n) % scale.levels.length] ?? "",
        occasion: null,
      })),
    ),
  }));
}

const BAD_ROWS: view.BadRow[] = [
  {
    row: 17,
    line: 18,
    column: "score",
    message: '"seven" is not on the scale: its levels are 1, 2, 3, 4 and 5',
  },
  {
    row: 203,
    line: 231,
    column: "comment",
    message: "no text: every row needs one",
  },
  {
    row: 960,
    line: 991,
    column: null,
    message: "4 values where there are 6 columns: is a quote or a separator missing or too much?",
  },
];

function noticesOf(path: string, columns: view.ColumnChoices): view.ImportNotice[] {
  const plain = { places: [], fix: null, fix_label: null };
  if (path.includes("again"))
    return [
      {
        ...plain,
        code: "replaced-labels",
        count: 2,
        message:
          "Replaced in the project: 2 labels, of them 1 given in the window or by the command; undo does not bring them back",
        places: [
          { row: 7, annotator: "r1", text_id: "k1", question: "score", counts: "4", instead_of: "3" },
          { row: 19, annotator: "r2", text_id: "k2", question: "score", counts: "1", instead_of: "2" },
        ],
      },
    ];
  if (path.endsWith(".json"))
    return [
      {
        ...plain,
        code: "drafts",
        count: 4,
        message: "Drafts: 4. Left out: nobody has submitted them",
      },
      {
        ...plain,
        code: "skips",
        count: 9,
        message: "Skipped texts: 9. Kept as skipped, unless the person has answered all the same",
      },
    ];
  if (path.includes("several questions") && !columns.missing.includes("NA"))
    return [
      {
        ...plain,
        code: "missing-value-level",
        count: 260,
        message: "“NA” is a level of “Q1_harm”, and looks like a missing value",
        fix: { ...columns, missing: [...columns.missing, "NA"] },
        fix_label: "Read these as missing",
      },
    ];
  return [];
}

function problemOf(columns: view.ColumnChoices): view.Problem | null {
  const stop = (message: string) => ({ code: "columns", message, detail: null });
  if (columns.text === null && columns.join === null) return stop("No column has the texts");
  const byTable = columns.label !== null || columns.answers.some(({ annotator }) => annotator === null);
  if (byTable && columns.annotator === null) return stop("The file does not say who gave its answers");
  return null;
}

/** What a file holds, read as it was chosen. */
export function preview(
  texts: readonly { body: string }[],
  path: string,
  given: view.ImportChoices,
): view.ImportPreview {
  const ofTool = path.endsWith(".json");
  const table = tableOf(path);
  const columns = given.columns ?? guessOf(path);
  const shown = table.readings.findIndex(
    (reading) => JSON.stringify(reading.columns) === JSON.stringify(columns),
  );
  const bodies = texts.slice(0, 6).map(({ body }) => body);
  const asked = requestedQuestions(columns, given, ofTool);
  const people = peopleOf(columns);
  const [first] = asked;
  const bad = path.includes("bad");
  return {
    path,
    format: ofTool
      ? { name: "label-studio", title: "Label Studio JSON", of_tool: true }
      : { name: "csv", title: "CSV", of_tool: false },
    header: table.header,
    rows: bodies.map((body, at) => table.row(body, at)),
    columns,
    encoding: null,
    sheet: null,
    sheets: [],
    as_last_time: false,
    question: first?.name ?? "score",
    questions: asked.map(({ name }) => name),
    prompt: given.prompt ?? "How rude is this comment?",
    scale: first?.scale ?? null,
    question_exists: false,
    total_rows: 1214,
    new_texts: 212,
    new_annotators: 6,
    new_labels: first ? 1204 : 0,
    repeats: 0,
    repeated_rows: 3,
    empty_labels: 2,
    level_counts: first?.level_counts ?? [],
    bad_rows: bad ? BAD_ROWS : [],
    bad_row_count: bad ? BAD_ROWS.length : 0,
    remarks: ["No column names the texts: each gets an id made from its body, so equal texts become one."],
    changes: {
      replaced_in_file: 0,
      replaced_labels: path.includes("again") ? 2 : 0,
      replaced_given: path.includes("again") ? 1 : 0,
      older_labels: 0,
      given_again: 0,
      outdated_rows: 0,
    },
    notices: noticesOf(path, columns),
    problem: problemOf(columns),
    readings: table.readings,
    undecided: table.tied && given.columns === null,
    shown: shown === -1 ? null : shown,
    asked,
    people,
    examples: examplesOf(bodies, asked, people),
    account: {
      rows: 1214,
      read: 1204,
      repeated: 3,
      changed: 0,
      without_label: 2,
      dropped: 5,
      reasons: [
        { reason: "The row is empty", rows: 4, first_row: 88 },
        { reason: "The text is empty", rows: 1, first_row: 203 },
      ],
    },
    uses: usesOf(table, columns),
  };
}

/** What came of an import. */
export function imported(found: view.ImportPreview, given: view.ImportChoices): view.ImportReport {
  return {
    format: found.format,
    texts: 212,
    annotators: 6,
    labels: 1204,
    repeats: 0,
    repeated_rows: 3,
    empty_labels: 2,
    rejected_rows: given.skip_bad ? 3 : 0,
    rejected_file: given.skip_bad ? "/home/you/comments.rejected.csv" : null,
    question: "tone",
    scale: found.scale,
    remarks: [],
    changes: found.changes,
    notices: found.notices,
    asked: found.asked,
    people: found.people,
    account: found.account,
    uses: found.uses,
  };
}
