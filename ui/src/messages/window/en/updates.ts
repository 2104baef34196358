// Newer versions of the application: the check for updates in Settings and in a dialog.
export default {
  title: "Updates",
  /** Also a button of a notice. */
  check: "Check for updates",
  cancel: "Cancel",
  checking: "Checking for updates…",
  weekly: "Check once a week",
  weekly_hint:
    "At the start of Dissensus. The request says nothing about you or this computer, and nothing is installed.",
  newest: "Version {{version}} is the newest.",
  /** `date` is the day of the release. */
  newer: "Version {{version}} of {{date}} is available.",
  /** Heading of the list of changes. */
  whats_new: "What is new in version {{version}}",
  download: "Open the download page",
  show: "Show what is new",
  /** `when` is a day and a time. */
  last: "Last check: {{when}}",
  never: "Not checked so far.",
  /** Title of a notice: what of the settings could not be read. */
  settings_unread: "Some settings could not be read",
  /** Title of a notice: the project is on another computer. */
  on_network: "This project is on a network share",
} as const;
