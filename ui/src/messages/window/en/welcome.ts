// The first page, without a project.
export default {
  motto: "Label subjective texts, and see who would disagree.",

  file: "Start with a file",
  file_drop: "Drop your texts or labels anywhere here",
  file_what: "CSV, JSON and others, or a project. Nothing leaves this computer.",
  file_choose: "Choose a file…",

  new_what: "Texts, questions and answers in one file",
  open: "Open a project",
  open_what: "A .dissensus file",
  sample_what: "Comments with simulated annotators",

  recent_projects: "Recent projects",
  recent: "Recent",
  recent_none: "No project has been opened on this computer yet.",
  recent_gone: "{{path}} no longer exists",
  recent_open_read_only: "Open {{name}} read-only",
  recent_forget: "Forget {{name}}",
  /** After the name of the sample project. */
  sample: "(sample)",
  read_only: "Open read-only…",
  read_only_hint: "View everything without writing, even while it is open elsewhere",
  read_only_hint_key: "View everything without writing, even while it is open elsewhere ({{key}})",

  /** Followed by keys of the keyboard. */
  palette: "Search and commands:",
  shortcuts: "Shortcuts",
  opening: "Opening the project",
} as const;
