// The Project view, dialogs about the whole project, and notices about it.
export default {
  cancel: "Cancel",

  // The Project view: groups of actions, and what each action is.
  annotators: "Annotators",
  file: "File",
  packet: "Packet",
  data: "Data",
  application: "Application",
  what_guideline: "The instructions that annotators follow, in versions.",
  what_practice: "Texts that everybody answers first, with feedback after each and a pass mark.",
  what_checks: "Texts with a known right answer, mixed with the others.",
  what_study_settings: "Whether annotators see others' answers after their own, and limits for hard texts.",
  what_form: "Attributes such as age or gender, asked before the first text.",
  what_import: "From a file: CSV, JSONL, Excel and more, with a preview.",
  what_paste: "Rows copied from a spreadsheet, or lines of text.",
  what_export: "For sharing, for another program, or as summary tables.",
  what_report: "Figures, tables and a data statement, written to a folder.",
  what_institution: "Data flow, storage, data protection, ethics, consent, licences.",
  what_remove_import: "Removes what the last imported file added.",
  what_log: "Every change: by whom, when, and in which copy.",
  what_hand_in: "Writes your answers to one file that you send back. You can continue afterwards.",
  what_to_write: "Reopens it, to change it.",
  what_copy: "A complete copy of the current project.",
  what_close: "Everything is already saved.",
  what_encoder: "The language model that turns texts into embeddings.",
  what_encoders: "Which encoder predicts these labels best.",
  what_settings: "Appearance, text size, and single-letter keys.",
  what_keys: "Every key, and how to change it.",
  what_care: "Your own daily limit, blurring and breaks.",

  questions: "Questions",
  questions_none: "None yet. A question consists of a sentence that annotators read and a scale of answers.",
  question_change: "Change {{name}}",

  // A new project.
  new_title: "New project",
  new_description:
    "A project is one file with texts, the questions asked about them, and the answers of every person.",
  new_name: "Name",
  /** An example of a name. */
  new_name_example: "Offensive comments, pilot",
  new_begin: "Start with",
  new_begin_file: "A file of texts or labels",
  new_begin_file_what: "CSV, JSON and others, with a preview before anything is written",
  new_begin_paste: "Copied rows",
  new_begin_paste_what: "From a spreadsheet or a document",
  new_begin_question: "A question",
  new_begin_question_what: "A question about every text; add texts later",

  // Before work that goes on is stopped.
  leave_serving_title: "People can still answer",
  leave_training_one: "{{count, number}} run is still training",
  leave_training_other: "{{count, number}} runs are still training",
  leave_working: "Work is still in progress",
  leave_serving:
    "People answer at {{address}}. The server stops, and nobody can answer until you start it again. What was sent is in the project; links stay the same.",
  leave_resume:
    "A stopped run can be resumed later from its last checkpoint. A stopped import, export or copy leaves nothing behind.",
  leave_keep: "Keep running",
  leave_wait: "Wait",
  leave_stop_close: "Stop and close",
  leave_stop_open: "Stop and open the other project",
  leave_stop_quit: "Stop and quit",

  // Removing something that was added by mistake.
  remove_import_title: "Remove the last import?",
  remove_title: "Remove?",
  remove_import_named: "Remove the import of {{name}}?",
  remove_named: "Remove “{{name}}”?",
  /** It is not removed. */
  import_stays: "The import of {{name}} stays",
  /** It is not removed. */
  stays: "“{{name}}” stays",
  removed: "“{{name}}” was removed",
  remove_import_description: "For a file that was imported by mistake.",
  remove_description: "For additions by mistake.",
  /** What is loading. */
  remove_preview: "the preview",
  remove_only_unused: "Only unused items can be removed: answers are never lost.",
  /** `day` is a date, or “today”, “3 days ago”; `counts` is a list such as “40 texts, 2 annotators”. */
  remove_counts: "Imported {{day}}: {{counts}}.",
  remove_later_work:
    "Later work is not removed: answers that were changed or undone, and every text, person and question that was used. The same file can be imported again.",
  remove_unused: "Nothing uses it: no answer, no packet, no decision.",
  remove_restore: "Merging a copy of this project that still has it restores it.",
  remove_keep: "Keep",
  remove: "Remove",
  removing: "Removing…",

  // A project of an earlier format is being opened.
  upgrade_title: "This project has an earlier format.",
  upgrade_text: "A copy is made, then the file is upgraded.",
  /** What is being done, and its share. */
  upgrade_step: "{{doing}}: {{share}}",
  upgrade_progress: "Upgrade",
  upgrade_cancel_hint: "The file stays as it was",
  upgrade_cancelling: "Cancelling…",

  // Files that are dropped on the window.
  drop_picture: "Drop a picture to add it to the guideline",
  drop_submissions: "Only the submissions are merged",
  drop_submissions_text: "Drop the other files separately.",
  drop_single: "One file at a time",
  drop_single_text: "Only the first of the dropped files is opened.",
  import_read_only: "Open it to write, then import the file.",

  // Notices, and what they offer.
  save_copy: "Save a copy of the open project",
  open_read_only: "Open read-only",
  not_opened: "The project was not opened",
  journal_moved: "A journal file of another project was moved aside",
  folder_synced: "This folder is synchronised with other computers",
  readable_by_others: "Other users of this computer can read this project",
  /** A button: the notice is not shown again. */
  readable_dismiss: "Do not show again for this project",
  /** A button: the name is similar to that of somebody in the project, but it is not the same person. */
  another_person: "“{{name}}” is another person",
  run_finished: "{{model}} has finished training",
} as const;
