// Work in the background.
export default {
  // What is being done. The value is a file, model, encoder or question.
  importing: "Importing {{title}}",
  encoding: "Encoding {{title}}",
  training: "Training {{title}}",
  evaluating: "Evaluating {{title}}",
  evaluating_annotators: "Evaluating accuracy for each annotator",
  evaluating_unusual: "Evaluating unusual labels",
  comparing_groups: "Comparing groups",
  comparing_encoders: "Comparing {{title}}",
  correlating: "Correlating questions",
  asking_panel: "Asking a panel",
  exporting: "Exporting {{title}}",
  /** The value is the folder that a report is written to. */
  reporting: "Reporting to {{title}}",
  copying: "Copying {{title}}",
  calculating_who: "Calculating who differs",
  leaving_out_words: "Leaving out words",
  reading_words: "Reading words of {{title}}",
  planning: "Planning the study",
  writing: "Writing {{title}}",
  merging: "Merging {{title}}",
  removing: "Removing {{title}}",
  masking: "Looking for what to mask",
  measuring_texts: "Measuring texts",

  state_running: "started",
  state_finished: "done",
  state_cancelled: "cancelled",
  state_failed: "failed",
  state_interrupted: "interrupted",
  will_resume: "interrupted; will resume where it stopped",

  /** For screen readers: "Training Multilevel, frozen: done". */
  announcement: "{{job}}: {{state}}",
} as const;
