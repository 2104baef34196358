// The first page, without a project.
export default {
  motto: "Label subjective texts, and see who would disagree.",

  doors: "Start",
  example: "See an example",
  example_what: "A tour of four steps on comments with simulated annotators",
  bring: "Bring your labels",
  bring_what: "Choose a file, or drop it anywhere here: CSV, JSON and others",
  plan: "Plan a study",
  plan_what: "From texts and a question to who answers what",
  private: "Nothing leaves this computer.",
  open: "Open a project",

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
