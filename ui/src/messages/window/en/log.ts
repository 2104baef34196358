// The log: who did what, and when.
export default {
  title: "Log",
  search: "Search notes, names and text ids",
  hide_names: "Hide names",
  everybody: "Everybody",
  what: "What",
  who: "Who",
  when: "When",
  newest_one: "The newest entry; scroll for more",
  newest_other: "The newest {{count, number}} entries; scroll for more",
  entries_one: "{{count, number}} entry",
  entries_other: "{{count, number}} entries",
  no_match: "No matching entries.",
  none: "No entries yet.",
  times:
    "Times are in the time zone of this computer, by the clock of the computer where the change was made.",
  hidden: "Answers and notes by others on texts that {{name}} has not answered are hidden.",

  // What is shown.
  kind_all: "Everything",
  kind_answers: "Answers",
  kind_imported: "Answers from files",
  kind_remarks: "Skips, flags and notes",
  kind_decisions: "Decisions",
  kind_study: "The study",
  kind_people: "People",
  /** Other work of the program, such as an export. */
  kind_work: "Imports, runs and other work",

  // Since when.
  since_ever: "Any time",
  since_day: "Last 24 hours",
  since_week: "Last 7 days",
  since_month: "Last 30 days",
} as const;
