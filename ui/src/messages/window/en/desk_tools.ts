// The desk of a project that has no texts or no question yet.
export default {
  no_texts: "No texts yet",
  no_texts_text:
    "Import a CSV or JSONL file: texts alone or with labels. You see a preview before anything is written. You can also paste rows of a spreadsheet.",
  import: "Import a file",
  no_question: "Add a question",
  no_question_text: "A question consists of a sentence that annotators read and a scale of answers.",
  add_question: "Add a question",
} as const;
