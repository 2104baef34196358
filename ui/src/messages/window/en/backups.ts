// The dialog of backups, and notices about them.
export default {
  title: "Backups",
  description:
    "Complete copies of the project on this computer, made automatically. Restoring one never changes the current file.",
  description_all: "Complete copies of your projects on this computer, made automatically.",
  /** For screen readers. */
  loading: "The backups on this computer",
  none_title: "No backups yet",
  none_text:
    "The first one is made by itself once there are texts or questions, when the project is opened or closed.",
  none_all_text: "Backups of your projects appear here once a project with texts or questions was closed.",
  retry: "Try again",
  /** `size` is “2.7 MB”. */
  labels_one: "{{count, number}} label · {{size}}",
  labels_other: "{{count, number}} labels · {{size}}",
  automatic: "automatic",
  by_hand: "by hand",
  /** Of a backup of a copy of the project, or of the project before it was moved. */
  other_file: "of another file: {{path}}",
  changes: "What changed since?",
  changes_hide: "Hide changes",
  restore: "Restore…",
  delete: "Delete…",
  /** For screen readers, with the time of the backup. */
  restore_named: "Restore the backup of {{time}}",
  delete_named: "Delete the backup of {{time}}",
  now: "Back up now",
  working: "Backing up…",
  made: "Backed up",
  automatically: "Back up projects automatically",
  automatically_hint:
    "At most once a day, and when a project is closed. Kept: the last of each day for 7 days, of each week for 8 weeks, of each month for a year; yours for 7 days at least; the newest always.",
  /** Before the path of a folder. */
  folder: "They contain everything in a project, and are in this folder:",

  restore_title: "Restore the backup of {{time}}?",
  restore_text:
    "The backup becomes a new file next to the project and is opened. The current file stays as it is; to bring later answers back, merge it into the restored one.",
  restore_text_all:
    "The backup becomes a new file where the project was and is opened. Existing files stay as they are.",
  restore_runs: "Files of training runs are not part of a backup.",
  restore_confirm: "Restore",
  restoring: "Restoring…",
  restored: "Opened the backup of {{time}} as a new file",
  restored_text:
    "{{path}}. The file from before is unchanged. Answers of both can be united: People, Study, Merge.",
  back: "Back",
  delete_title: "Delete the backup of {{time}}?",
  delete_text: "It cannot be restored any more. The project and other backups stay.",
  delete_confirm: "Delete",

  // What changed since a backup.
  changes_title: "Changed since then",
  changes_loading: "What changed since the backup",
  changes_nothing: "Nothing has changed since this backup.",
  column_question: "Question",
  column_annotator: "Annotator",
  /** Numbers of answers. */
  column_added: "Added",
  column_changed: "Changed",
  column_withdrawn: "Taken back",
  column_missing: "Only in the backup",
  missing_hint:
    "The current file never had these answers: it was replaced by an older one. Restore the backup, then merge.",
  marks_one: "{{count, number}} skip, flag or note",
  marks_other: "{{count, number}} skips, flags and notes",
  texts_added_one: "{{count, number}} text added",
  texts_added_other: "{{count, number}} texts added",
  texts_removed_one: "{{count, number}} text removed",
  texts_removed_other: "{{count, number}} texts removed",
  people_added_one: "{{count, number}} annotator added",
  people_added_other: "{{count, number}} annotators added",
  people_removed_one: "{{count, number}} annotator removed",
  people_removed_other: "{{count, number}} annotators removed",
  people_changed_one: "{{count, number}} annotator with a new name or attribute",
  people_changed_other: "{{count, number}} annotators with new names or attributes",
  people_withdrawn_one: "{{count, number}} annotator withdrew",
  people_withdrawn_other: "{{count, number}} annotators withdrew",
  questions_added_one: "{{count, number}} question added",
  questions_added_other: "{{count, number}} questions added",
  questions_removed_one: "{{count, number}} question removed",
  questions_removed_other: "{{count, number}} questions removed",
  questions_changed_one: "{{count, number}} question changed",
  questions_changed_other: "{{count, number}} questions changed",
  guidelines_one: "{{count, number}} new version of the guideline",
  guidelines_other: "{{count, number}} new versions of the guideline",
  packets_one: "{{count, number}} packet handed out",
  packets_other: "{{count, number}} packets handed out",
  other_one: "{{count, number}} other record: settings, decisions, checks",
  other_other: "{{count, number}} other records: settings, decisions, checks",

  failed: "The automatic backup failed",
  synced: "Backups are synchronised",
  what: "Copies made automatically; what changed since, and how to go back.",
} as const;
