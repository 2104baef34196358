// Exporting labels, predictions and summaries; the report for a paper; other files that the window writes.
export default {
  // The dialog.
  title: "Export",
  purpose: "Purpose",
  share: "For sharing",
  share_what:
    "Pseudonyms (A1, A2, …) instead of people; no names, times or imported columns of texts; only attribute values that at least five people of the file share. Texts are unchanged.",
  include_notes: "Include notes: they are free text and may name people",
  import: "To import again",
  import_what: "With ids, attributes, times and notes, so that another project gets the same labels.",
  program: "For another program",
  program_what: "In the format of an annotation tool, a shared task or a library.",
  format: "Format",
  question: "Question",
  all_questions: "All questions",
  people: "People",
  program_pseudonyms: "Pseudonyms instead of people, and nothing besides labels that could identify them",
  program_ids: "Ids of people, with everything that the format can store about them",
  summary: "Summary, for analysis",
  summary_what:
    "One row per text with soft labels and disagreement, or one row per person; it cannot be imported.",
  summary_no_question: "There is no question with labels to summarise yet.",
  predictions: "Predicted answers",
  predictions_what:
    "Predictions without labels: a row for each text and person, with probabilities, the most likely answer and the expected disagreement. People by their ids.",
  /** The values are phrases such as "2,000 texts", "12 people" and "24,000 rows". */
  predictions_rows: "{{texts}} and {{people}}: {{rows}}.",
  predictions_no_question: "There is no question to predict answers to yet.",
  decisions: "Include decisions about texts",
  decisions_what: "In additional columns; labels are unchanged.",
  /** Followed by `report_title`, which opens it. */
  see_report: "Agreement, figures and tables:",
  stop: "Stop",
  cancel: "Cancel",
  choose_file: "Choose a file…",
  writing: "Writing…",

  // A summary of labels.
  rows_of: "A row for each",
  row_per_text: "One row per text",
  row_per_person: "One row per person",
  columns_of_texts: "Number of labels, share of each level (soft labels), mean, and disagreement.",
  columns_of_people: "Attributes, use of levels, agreement with others and time per label.",
  /** One label made from the labels of several people. */
  aggregated_label: "Aggregated label",
  aggregate_none: "none",
  aggregate_majority: "Majority",
  predicted_texts: "Include predictions for everybody, and their disagreement",
  predicted_people: "Include severity, consistency, and how well each person is predicted",
  masked_texts: "For others: omit the group of a text, such as a thread or its author",
  masked_people: "For others: pseudonyms, and only attribute values that at least five people share",

  // The contents of the file, before it is written.
  contents: "Contents of the file",
  checking: "Checking the contents…",
  /** The values are phrases such as "13,036 labels", "1,500 texts" and "262 people". */
  held: "{{labels}} on {{texts}} by {{people}}",
  held_question: "{{labels}} on {{texts}} by {{people}}, question {{question}}",
  /** Heads a list of what a format cannot store. */
  not_in_format: "Not in {{format}}",
  not_in_file: "Not in the file",
  nothing_lost: "Nothing is lost.",
  no_labels_in_format: "{{format}} cannot represent any of the labels.",
  no_labels: "There are no labels yet.",
  identifiable_one: "{{count, number}} person could still be identified by their combination of attributes.",
  identifiable_other:
    "{{count, number}} people could still be identified by their combination of attributes.",

  // After a file was written. The values of some are phrases such as "1,500 texts".
  rows_written_one: "{{count, number}} row written to {{file}}",
  rows_written_other: "{{count, number}} rows written to {{file}}",
  labels_written: "{{labels}} on {{texts}} by {{people}} written to {{file}}",
  /** Heads a list of what a format cannot store. */
  lost: "Not in the file:",
  /** The title of the system's dialog. */
  choose_predictions: "Export predictions",
  predictions_written: "Predictions of {{texts}} by {{people}} written to {{file}}",
  predicted_as_average_one: "{{count, number}} person without labels: predicted as the average annotator.",
  predicted_as_average_other: "{{count, number}} people without labels: predicted as the average annotator.",
  /** `rows` is "1,500 texts" or "262 people". */
  summary_written: "{{rows}} with {{labels}} written to {{file}}",
  not_converged: "Aggregation not converged for {{names}}.",
  stopped: "The export was stopped",
  nothing_written: "Nothing was written.",
  runs_written_one: "{{count, number}} run written to {{file}}",
  runs_written_other: "{{count, number}} runs written to {{file}}",

  // The report for a paper.
  report_title: "Report for a paper",
  report_what:
    "A folder with a page of figures and tables (each also as SVG, LaTeX and CSV), a data statement and CrowdWorkSheets with all counts filled in, soft labels, all individual labels, and how to reproduce it.",
  report_evaluate: "Evaluate all models",
  report_evaluate_what: "Takes minutes. If off, the evaluations that you already ran are used.",
  report_quote: "Quote the most contested texts",
  report_quote_what: "The report shows their first words; otherwise only their ids.",
  report_ids: "Name people by their ids",
  report_ids_what:
    "Groups of fewer than five people are reported too. Otherwise people have pseudonyms (A1, A2, …).",
  report_progress: "How far the report is",
  choose_folder: "Choose a folder…",
  report_stopped: "The report was stopped",
  /** `figures` and `tables` are phrases such as "12 figures". */
  report_written: "{{figures}} and {{tables}} written to {{file}}",
  report_open: "Open report.html in {{folder}}",
  papers_written_one: "{{count, number}} paper for your institution written to {{file}}",
  papers_written_other: "{{count, number}} papers for your institution written to {{file}}",
  papers_open_one: "Open papers.html in {{folder}}. {{count, number}} place is marked [to fill in].",
  papers_open_other: "Open papers.html in {{folder}}. {{count, number}} places are marked [to fill in].",
  papers_stopped: "The papers were stopped",
  figures_one: "{{count, number}} figure",
  figures_other: "{{count, number}} figures",
  tables_one: "{{count, number}} table",
  tables_other: "{{count, number}} tables",

  // A copy of the project.
  copy_stopped: "Saving a copy was stopped",
  copy_saved: "A copy was saved as {{file}}",
  copy_runs_left: "The files of its runs are still in {{folder}}.",

  // Diagnostics of the program.
  diagnostics_copied: "Diagnostics copied",
  diagnostics_hint: "They contain no text, label or name of a project.",
} as const;
