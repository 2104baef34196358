// People, Annotators: the table, the map, one person, unusual labels, and editing people.
export default {
  // Buttons that several views share.
  cancel: "Cancel",
  save: "Save",
  stop: "Stop",
  remove: "Remove",

  // The header.
  alpha: "Agreement (α)",
  alpha_what_ordinal: "Krippendorff’s alpha over everyone, ordinal differences: 1 is perfect, 0 is chance",
  alpha_what_nominal: "Krippendorff’s alpha over everyone, nominal differences: 1 is perfect, 0 is chance",
  /** The level of measurement, after alpha. */
  metric_ordinal: "ordinal",
  metric_nominal: "nominal",
  unusual_labels: "Unusual labels",
  unusual_labels_what: "Labels that are improbable for the person and for everybody else",
  calculating: "Calculating…",
  refresh: "Refresh",
  refresh_new: "New labels · refresh",

  // Nothing to show.
  no_question: "No question yet",
  no_question_hint: "Import texts and labels first: annotators are described by their labels.",
  no_annotators: "No annotators yet",
  no_annotators_hint: "Import labels, or label as yourself.",
  go_to_label: "Go to Label",
  /** What is loading. */
  waiting_table: "labels, levels and agreement of each person",
  waiting_map: "the similarity map",

  // Under the table. The first words of the notes are followed by a sentence.
  measuring: "Measuring how well each person is predicted on texts held out",
  measuring_accuracy: "Measuring accuracy",
  /** “Refresh” is the button. */
  not_measured: "Accuracy was not measured: choose Refresh.",
  note_accuracy: "Accuracy:",
  note_severity: "Severity:",
  group_slopes: "Do groups react differently to the content of texts?",
  /** Findings, Summary: where in the window. */
  group_slopes_elsewhere: "For the mean level of each group over all texts, see Findings, Summary.",
  width: "Width of the table",

  // The map.
  map_and_person: "Map and person",
  map: "Similarity map",
  map_annotators: "Map of annotators",
  map_values: "Values of {{attribute}}",
  colour_by: "Colour by",
  colour_none: "None",
  map_too_few: "Too few labels in common for a map.",
  map_waits: "The map appears when the models are fitted.",
  /** `right` and `up` are what the axes show, such as "gives higher levels". */
  map_read:
    "Near: similar predicted answers. Further right: {{right}}; further up: {{up}}. The two axes show {{share}} of the differences.",
  choose_person: "Choose a person in the table or on the map.",

  // The table.
  annotators: "Annotators",
  people: "People",
  you: "(you)",
  head_name: "Annotator",
  head_name_what: "Name",
  head_labels: "Labels",
  head_labels_what: "Labels given for this question",
  head_levels: "Levels",
  head_levels_what: "How often each level was given; sorts by the mean level",
  /** How high the levels are that a person gives. */
  head_severity: "Severity",
  head_severity_what: "To the right: gives higher levels than others (with its uncertainty)",
  head_alpha: "α change",
  head_alpha_what:
    "How much Krippendorff's alpha changes if this person is left out: above zero where this person disagrees with the others",
  head_accuracy: "Accuracy",
  head_accuracy_what:
    "How often the model predicts this person's label on held-out texts, compared with a baseline: always the answer that this person gave most often on the other texts",
  being_measured: "being measured",
  /** The accuracy of a baseline, after that of the model. */
  guess: "guess {{share}}",
  severity_unknown: "severity not known",
  severity_words: "severity {{severity}} ± {{deviation}}",
  /** `answers` is a list such as "yes: 3, no: 5". */
  answers_given: "Answers given: {{answers}}",

  // One person.
  seconds_one: "{{duration}} a label, the median of {{count, number}} timed label.",
  seconds_other: "{{duration}} a label, the median of {{count, number}} timed labels.",
  given_one: "Answers given, {{count, number}} label",
  given_other: "Answers given, {{count, number}} labels",
  given_cannot_say_one: "Answers given, {{count, number}} label; cannot say: {{cannot_say, number}}",
  given_cannot_say_other: "Answers given, {{count, number}} labels; cannot say: {{cannot_say, number}}",
  severity: "Severity",
  interval: "{{low}} to {{high}}",
  interval_confidence: "{{low}} to {{high}} ({{confidence}})",
  consistency: "Consistency",
  consistency_what:
    "How closely the answers follow the pattern that annotators share: 1 for the average annotator, less for answers that vary by chance or follow a view of their own",
  alpha_everyone: "Alpha, everyone",
  alpha_everyone_what: "Krippendorff’s alpha",
  alpha_change: "Alpha change",
  alpha_change_what: "Change of Krippendorff’s alpha if this person is left out",
  agrees: "Agrees with others",
  agrees_what: "Share of pairs of this person's and another person's labels on a text that are equal",
  agrees_on_one: "On {{count, number}} text that others labelled too, with the {{confidence}} interval",
  agrees_on_other: "On {{count, number}} texts that others labelled too, with the {{confidence}} interval",
  held_out_one: "On {{count, number}} label of texts held out",
  held_out_other: "On {{count, number}} labels of texts held out",
  // The model and two baselines. `on` is the message above.
  model_accuracy: "Model accuracy",
  own_level: "Own usual level",
  own_level_what: "{{on}}: always the level that this person gave most often on the other texts",
  common_level: "Everybody's usual level",
  common_level_what: "{{on}}: always the level given most often by everybody on the other texts",
  /** How many levels the model is off on average. */
  model_distance: "Model, levels off",
  model_distance_what: "{{on}}: mean distance of the predicted median",
  own_distance: "Own median, levels off",
  own_distance_what: "{{on}}: always this person's median on the other texts",
  common_distance: "Everybody's median, levels off",
  common_distance_what: "{{on}}: always everybody's median on the other texts",
  change: "Change",
  change_what: "Correct the name or an attribute",
  remove_what: "Remove a person who was added by mistake",
  withdraw: "Withdraw",
  withdraw_what: "Erase a person who withdraws",

  // Changing a person.
  details: "Details of {{name}}",
  details_what: "Labels are unchanged. In files the person is still “{{id}}”.",
  name: "Name",
  attributes: "Attributes",
  attribute_name: "Name of attribute {{number, number}}",
  attribute_value: "Value of attribute {{number, number}}",
  attribute_remove: "Remove attribute {{number, number}}",
  /** On a button with a plus sign, and before a field. */
  attribute: "Attribute",
  /** An example of an attribute. */
  example_name: "gender",
  /** An example of a value. */
  example_value: "prefer not to say",
  enter_name: "Enter a name.",
  attribute_incomplete: "Give every attribute a name and a value, or remove it.",
  attribute_twice: "“{{name}}” is listed twice.",

  // Questions about people.
  form: "Questions about annotators",
  /** `choice` is "Prefer not to say". */
  form_what:
    "Asked once, before the first text. “{{choice}}” is always offered; the attribute of the person is then unknown.",
  /** What is loading. */
  form_waiting: "the form",
  form_attribute: "Attribute {{number, number}}",
  form_prompt: "Question shown to people",
  example_prompt: "Which gender are you?",
  form_values: "Values, separated by commas",
  example_values: "woman, man, non-binary",
  form_optional: "Optional",
  form_empty: "Nothing is asked.",
  form_add_what: "Add a question about it, with the values in use",
  form_emptied: "People are no longer asked about themselves",
  form_saved: "The form was saved",
  form_saved_what:
    "People are asked when they are added, or when they begin their packet. Packets that were handed out before are unchanged.",

  // Unusual labels: slips, and labels on which people are divided.
  slips_of: "Unusual labels of {{name}}",
  slips_what:
    "Labels that are improbable for the person and for everybody else. The model that judges a label was not trained on it.",
  slips_doing: "Checking every label",
  slips_too_few: "Too few labels yet",
  slips_heading: "Improbable for the person and for everybody else",
  contested_heading: "Contested, not slips",
  contested_what: "They are likely for the person but not for others, or the others are divided.",
  rest_slips_one: "Show {{count, number}} unusual label that chance can explain",
  rest_slips_other: "Show {{count, number}} unusual labels that chance can explain",
  rest_contested_one: "Show {{count, number}} contested label that chance can explain",
  rest_contested_other: "Show {{count, number}} contested labels that chance can explain",
  least_slips_one:
    "Show the {{shown, number}} least likely of {{count, number}} unusual label that chance can explain",
  least_slips_other:
    "Show the {{shown, number}} least likely of {{count, number}} unusual labels that chance can explain",
  least_contested_one:
    "Show the {{shown, number}} least likely of {{count, number}} contested label that chance can explain",
  least_contested_other:
    "Show the {{shown, number}} least likely of {{count, number}} contested labels that chance can explain",
  // One of them, in phrases of a row.
  slip_given: "given {{level}}",
  slip_usual: "usual for this person {{level}}",
  slip_own: "chance {{chance}} own",
  slip_own_what: "Probability of a label at least as unlikely as this under the person's own model",
  slip_others: "{{chance}} others",
  slip_others_what: "The same probability among everybody else, as predicted for this text",
  slip_same_one: "{{same, number}} of {{count, number}} other gave this text the same label.",
  slip_same_other: "{{same, number}} of {{count, number}} others gave this text the same label.",
  slip_own_view: "Likely for this person.",
  slip_divided: "Likely for others.",
  open_text: "Open text",
  /** Chances in percent: small ones with tenths. */
  chance_tenths: "{{percent, number(minimumFractionDigits: 1; maximumFractionDigits: 1)}} %",
  chance_below: "< {{percent, number}} %",

  // Erasing a person who withdraws.
  erase_title: "Erase {{name}}?",
  erase_what: "For a person who withdraws. This cannot be undone.",
  erase_deleted: "Deleted here, and in every copy that is merged with this project",
  erase_answers_one:
    "{{count, number}} answer, with notes, skips, flags and answers of later annotation rounds",
  erase_answers_other:
    "{{count, number}} answers, with notes, skips, flags and answers of later annotation rounds",
  erase_packets_one: "Names, attributes, and {{count, number}} packet with its submissions",
  erase_packets_other: "Names, attributes, and {{count, number}} packets with their submissions",
  erase_runs_one:
    "{{count, number}} training run trained while the person took part, with files and encoders: a trained model cannot unlearn",
  erase_runs_other:
    "{{count, number}} training runs trained while the person took part, with files and encoders: a trained model cannot unlearn",
  erase_models: "The models in use; they are fitted again without this person",
  /** Study: the name of a view. */
  erase_lacks_one:
    "{{count, number}} text handed out to them will have one person fewer than planned: plan more in Study with the same number of people per text to give them to others.",
  erase_lacks_other:
    "{{count, number}} texts handed out to them will have one person fewer than planned: plan more in Study with the same number of people per text to give them to others.",
  erase_kept: "Not deleted",
  erase_nameless: "Decisions and guideline versions by the person ({{number, number}}), without the name",
  erase_notes: "Notes by others about the person, and columns of imported files",
  erase_exports: "Exports, bundles, packets and backups outside of this project: delete these yourself",
  erase_copy: "{{path}}: delete it",
  /** Followed by the id of the person, and a field for it. */
  erase_type: "To erase permanently, type",
  erase_reading: "Reading…",
  erase_keep: "Keep",
  erase: "Erase",
  erasing: "Erasing…",
  // The report afterwards.
  erased: "Erased",
  /** Each value is a phrase with a number, such as "3 answers". */
  erased_what: "{{answers}}, {{packets}} and {{runs}} were deleted.",
  training_runs_one: "{{count, number}} training run",
  training_runs_other: "{{count, number}} training runs",
  erased_encoder: "The encoder in use was trained on their labels and has been replaced.",
  erased_traces: "Traces may remain in the file until it is next opened while nobody else has it open.",
  erased_copies: "Not deleted: {{paths}}",
} as const;
