// Adding and changing questions, and choosing those on the screen.
export default {
  // Used in several dialogs.
  cancel: "Cancel",
  asked: "Asked",
  answers: "Answers",
  prompt: "Question text",

  // A new question.
  new_title: "New question",
  prompt_example: "How offensive is this comment?",
  column: "Column name",
  /** The name of a column in files. */
  column_example: "offensiveness",
  /** Followed by the template that the levels begin with. */
  template: "Begin with",
  template_own: "Own levels",
  template_own_hint: "named below",
  add: "Add",

  // A question that is there.
  change_title: "Change “{{question}}”",
  change_text: "Labels are unchanged; each has the level that was given.",
  rearranged:
    "When levels are added, removed or moved, models are fitted again and earlier runs can no longer predict.",
  ends_training: "A training of this question that is in progress will end.",
  cannot_say: "Offer “cannot say”",
  cannot_say_hint: "An additional answer: the text counts as answered, and figures exclude it.",
  notes: "Notes",
  remove: "Remove…",
  remove_hint: "Remove a question that was added by mistake",
  save: "Save",

  // How it was changed before. `parts` are some of the five below.
  edited_one: "Edited {{count, number}} time, last {{parts}} on {{day}}.",
  edited_other: "Edited {{count, number}} times, last {{parts}} on {{day}}.",
  part_text: "its text",
  part_help: "its help",
  part_level_names: "names or meanings of its levels",
  part_levels: "its levels",
  part_cannot_say: 'whether "cannot say" is offered',
  /** How many of the labels that there are now were given before the last change. */
  labels_before_one: "{{count, number}} label of now is from before the change.",
  labels_before_other: "{{count, number}} labels of now are from before the change.",

  // When it is asked.
  always: "About every text",
  only_after: "Only after {{question}}",
  /** Followed by the levels of another question, to choose from. */
  condition_one_of: "was answered with one of",
  /** The same, where an answer can have several options or marks. */
  condition_some_of: "was answered with at least one of",
  asked_everywhere: "Asked everywhere",
  /** Of a question with one level as its answer. */
  asked_only_if_is: "Asked only if {{question}} is {{answers}}",
  /** Of a question with options, or marks, as its answer. */
  asked_only_if_has: "Asked only if {{question}} has {{answers}}",

  // Help for annotators, and words at the ends of a rating scale.
  low: "At the low end",
  low_example: "not at all",
  high: "At the high end",
  high_example: "extremely",
  help: "Help (optional)",
  help_example: "Hints, shown next to the question",

  // What annotators can add to an answer. The example is followed by two reasons.
  reasons: "Reasons to choose from, one per line",
  reasons_example: "Reasons to choose from, one per line\nslang\nquotes somebody",
  ask_confidence: "Ask how sure people are",

  preview: "As annotators see it",

  // The questions on the screen.
  screen_title: "Questions on the screen",
  screen_text:
    "Two or more are shown below each other for each text; the first one determines the next text. With one, one question is shown at a time.",
  up: "Move {{question}} up",
  down: "Move {{question}} down",
  change: "Change {{question}}",

  // What is wrong with the questions about people. Each is about an attribute, such as age.
  form_unnamed: "Give every attribute a name, or remove it.",
  form_twice: "“{{name}}” is listed twice.",
  form_too_few: "“{{name}}” needs at least two values, separated by commas.",
  form_value_twice: "“{{value}}” is listed twice in “{{name}}”.",
  /** `value` is “Prefer not to say”. */
  form_always: "“{{value}}” is always offered: leave it out.",
} as const;
