// The names of views, tabs and actions, as in the rail, the palette and the list of keys.
export default {
  // Names of actions. Those with an ellipsis open a dialog or a page first.
  name_palette: "Search and commands",

  // Views, and their tabs.
  name_view_findings: "Findings",
  name_view_findings_texts: "Findings: texts",
  /** The view in which texts are labelled. */
  name_view_label: "Label",
  name_view_label_list: "Label: list of texts",
  name_view_people: "People",
  name_view_people_study: "People: study",
  name_view_models: "Models",
  name_view_project: "Project",

  name_tab_next: "Next tab",
  name_tab_previous: "Previous tab",

  // Data.
  name_data_import: "Import texts or labels…",
  name_data_paste: "Paste texts or labels…",
  name_data_remove_import: "Remove the last import…",
  name_data_export: "Export labels or predictions…",
  name_data_report: "Report for a paper…",
  name_data_institution: "Papers for your institution…",

  // Questions, the guideline, and the study.
  name_question_add: "Add a question…",
  name_question_list: "Choose and change questions…",
  name_disagreement_groups: "Compare groups",
  name_disagreement_questions: "Correlate questions",
  /** Labels that may be slips. */
  name_annotators_slips: "Unusual labels…",
  name_annotators_plan: "How many labels are needed…",
  name_people_form: "Questions about annotators…",
  name_guideline_write: "Write the guideline…",
  name_study_remarks: "Notes and flags…",
  name_study_practice: "Practice…",
  name_study_checks: "Attention checks…",
  name_study_log: "Log…",
  name_study_settings: "What annotators see…",
  name_study_plan: "Plan a study…",
  name_study_invite: "Invite people…",
  name_study_take_in: "Merge submissions…",
  name_study_watch: "Watch a folder for submissions…",
  name_study_hand_in: "Hand in…",
  name_study_hand_in_encrypted: "Hand in, encrypted…",

  // The project and the application.
  name_project_new: "New project…",
  name_project_open: "Open a project…",
  name_project_open_to_read: "Open a project read-only…",
  name_project_to_write: "Open this project to write",
  name_project_sample: "Open sample project",
  name_project_copy: "Save a copy…",
  name_project_copy_encrypted: "Save an encrypted copy…",
  name_project_backups: "Backups…",
  name_project_close: "Close project",
  name_encoder_get: "Encoder…",
  name_encoder_compare: "Compare encoders…",
  /** Hides everything, for a rest: nothing is asked or lost. */
  name_app_stop: "Stop here",
  name_app_care: "Care: limits, topics, breaks…",
  name_app_settings: "Settings",
  name_app_keys: "Keyboard shortcuts",
  name_app_guide: "User guide",
  name_app_tour: "Take the tour",
  name_app_update: "Check for updates",
  name_app_diagnostics: "Copy diagnostics",
  name_theme_light: "Light theme",
  name_theme_dark: "Dark theme",
  name_theme_system: "Match system theme",

  // The size of what the window shows.
  name_zoom_in: "Larger",
  name_zoom_out: "Smaller",
  name_zoom_reset: "Actual size",

  name_app_quit: "Quit",

  // Actions of one view.
  name_label_undo: "Undo the last label",
  name_label_skip: "Skip the text",
  name_label_flag: "Flag the text",
  name_label_note: "Write a note",
  /** An answer. */
  name_label_cannot_say: "Cannot say",
  name_label_help: "Help, and what the levels mean",
  name_label_guideline: "Show or hide the guideline",
  name_label_look: "Unblur the text (hold)",
  name_texts_search: "Search texts and ids",
  name_texts_filter: "Next filter",
  name_texts_disagreement: "Show the text in Findings",
  name_texts_remove: "Remove a text added by mistake…",
  name_disagreement_refresh: "Refresh the ranking",
  name_disagreement_search: "Search the texts",
  name_models_new: "New run…",

  /** In the palette. `view` is the name of a view, such as “Findings”. */
  go_to: "Go to {{view}}",

  // Groups of actions.
  available: "Available actions",
  everywhere: "Everywhere",

  // Tabs of views.
  tab_summary: "Summary",
  tab_texts: "Texts",
  tab_annotators: "Annotators",
  tab_study: "Study",
} as const;
