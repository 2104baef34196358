// Tables that could be imported, each with the ways to read it.
import type * as view from "$api/bindings";

export const NO_COLUMNS: view.ColumnChoices = {
  text_id: null,
  text: null,
  annotator: null,
  label: null,
  span_start: null,
  span_end: null,
  span_type: null,
  offsets: "characters",
  split: null,
  group: null,
  time: null,
  occasion: null,
  note: null,
  attributes: [],
  answers: [],
  lists: [],
  separator: null,
  ignored: [],
  missing: [],
  fold_case: false,
  option_separator: null,
  decimal_comma: false,
  time_format: null,
  attribute_conflicts: "refuse",
  join: null,
};

export interface Table {
  header: string[];
  row: (body: string, at: number) => string[];
  /** Best first. */
  readings: view.ImportReading[];
  /** The first one is no better than the next. */
  tied: boolean;
}

const answer = (column: string, part: Partial<view.AnswerColumn>): view.AnswerColumn => ({
  column,
  question: null,
  option: null,
  annotator: null,
  text: null,
  occasion: null,
  attributes: {},
  ...part,
});
const person = (column: string) => answer(column, { annotator: `=${column}` });
const question = (column: string) => answer(column, { question: column });

/** Three columns of numbers: of three people, or of three questions. */
function severalWays(): Table {
  const base = { ...NO_COLUMNS, text_id: "id", text: "comment" };
  const names = ["anna", "ben", "carla"];
  return {
    header: ["id", "comment", ...names],
    row: (body, at) => [`k${at + 1}`, body, ...names.map((_, n) => String(((at + n) % 5) + 1))],
    readings: [
      {
        title: "One column a person",
        reasons: ["The names of 3 columns look like names of people.", "All 3 have the values 1 to 5."],
        confidence: 0.5,
        columns: { ...base, answers: names.map(person) },
        options: "--text comment --text-id id --annotator-columns anna,ben,carla",
      },
      {
        title: "One column a question",
        reasons: ["Each text has one row.", "3 columns have few values."],
        confidence: 0.45,
        columns: { ...base, annotator: "=nobody", answers: names.map(question) },
        options: "--text comment --text-id id --labels anna,ben,carla",
      },
      {
        title: "One column of labels",
        reasons: ["“anna” is the first column with few values; the others are stored with the text."],
        confidence: 0.1,
        columns: { ...base, annotator: "=nobody", label: "anna" },
        options: "--text comment --text-id id --label anna",
      },
    ],
    tied: true,
  };
}

/** Questions in columns, topics as options, and an age. */
function severalQuestions(): Table {
  const topics = ["topic_politics", "topic_sport", "topic_weather"];
  const options = topics.map((column) => answer(column, { question: "topic", option: column.slice(6) }));
  return {
    header: ["id", "comment", "rater", "Q1_harm", "Q2_harm", "Q3_harm", ...topics, "rater_age", "rated_at"],
    row: (body, at) => [
      `k${at + 1}`,
      body,
      `r${(at % 3) + 1}`,
      ["no", "Yes", "NA"][at % 3]!,
      ["no", "yes"][at % 2]!,
      ["mild", "severe", "none"][at % 3]!,
      ...topics.map((_, n) => String(Number(at % 3 === n))),
      "30–44",
      `2026-11-0${at + 1} 10:30`,
    ],
    readings: [
      {
        title: "One column a question",
        reasons: ["Three columns have answers, three mark options of “topic”."],
        confidence: 0.9,
        columns: {
          ...NO_COLUMNS,
          text_id: "id",
          text: "comment",
          annotator: "rater",
          time: "rated_at",
          attributes: ["rater_age"],
          answers: [question("Q1_harm"), question("Q2_harm"), question("Q3_harm"), ...options],
        },
        options:
          "--text comment --text-id id --annotator rater --answers Q1_harm,Q2_harm,Q3_harm --options topic=topic_politics,topic_sport,topic_weather --time rated_at",
      },
    ],
    tied: false,
  };
}

/** 5,000 columns, most of them of one person each. */
function wide(): Table {
  const people = Array.from({ length: 4998 }, (_, at) => `rater_${String(at + 1).padStart(4, "0")}`);
  return {
    header: ["id", "comment", ...people],
    row: (body, at) => [
      `k${at + 1}`,
      body,
      ...people.map((_, n) => ((at + n) % 7 ? "" : String((n % 5) + 1))),
    ],
    readings: [
      {
        title: "One column a person",
        reasons: ["4,998 columns have the values 1 to 5."],
        confidence: 0.95,
        columns: { ...NO_COLUMNS, text_id: "id", text: "comment", answers: people.map(person) },
        options: "--text comment --text-id id --people rater_*",
      },
    ],
    tied: false,
  };
}

/** One row a label; the kind of which the invented project is. */
function long(path: string): Table {
  const ofTool = path.endsWith(".json");
  const last = ofTool ? "question" : "source";
  const columns: view.ColumnChoices = {
    ...NO_COLUMNS,
    text_id: "comment_id",
    text: path.includes("no texts") ? null : "comment",
    annotator: path.includes("nobody") ? null : "rater",
    label: "score",
    attributes: ["rater_age"],
  };
  return {
    header: ["comment_id", "comment", "rater", "score", "rater_age", last],
    row: (body, at) => [
      `k${at + 1}`,
      body,
      `r${(at % 3) + 1}`,
      path.includes("comma") ? `${(at % 5) + 1},5` : String((at % 5) + 1),
      "30–44",
      ofTool ? "score" : "town forum",
    ],
    readings: ofTool
      ? []
      : [
          {
            title: "One row a label",
            reasons: ["“comment_id” repeats with another “rater”."],
            confidence: 0.99,
            columns,
            options: "--text comment --text-id comment_id --annotator rater --label score",
          },
        ],
    tied: false,
  };
}

/** The table of a file, by words in its path. */
export function tableOf(path: string): Table {
  if (path.includes("several ways")) return severalWays();
  if (path.includes("several questions")) return severalQuestions();
  return path.includes("wide") ? wide() : long(path);
}

/** What is read where columns are not named. */
export function guessOf(path: string): view.ColumnChoices {
  const [best] = tableOf(path).readings;
  return best?.columns ?? { ...long("").readings[0]!.columns };
}
