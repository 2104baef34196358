// How questions are answered, and what others answered.
export default {
  /** The answer that there is no way to say. */
  cannot_say: "cannot say",
  /** The answer that no option applies. */
  none: "none",
  /** The answer that nothing is marked. */
  nothing: "nothing",

  levels: "Levels",
  options: "Options",
  find_option: "Find an option",
  level_share: "{{level}}: {{share}}",
  bar_description: "{{label}}: {{shares}}",
  how_digit: "Press a digit or choose a level",
  how_digits: "Press 1 to {{last, number}}",
  how_options: "Choose all that apply, or press 0 if none does, then Enter",
  how_spans: "Mark something, or press 0 for “nothing to mark”, then Enter",

  reveal_hint: "You see how others judge this text after you have answered.",
  no_prediction: "Answered. There is no prediction for this text yet.",
  your_answer: "your answer",
  your_answer_meaning: "Share on the answer that you gave",
  share_meaning: "Share on your answer",
  predicted_others: "Predicted for the others ({{people, number}})",
  others_labels: "Others' labels",
  no_others_labels: "nobody else has labelled it",
  predicted_you: "Predicted for you",
  /** After a percentage. */
  differ: "probability that two of all differ",
  /** After a percentage. */
  differ_option: "mean probability that two of all differ on an option",
  differ_meaning:
    "Two of all annotators, including you: labels where there are labels, otherwise predictions",
  why: "Why?",
  why_meaning: "Why was this predicted for you?",
  predictions_by_option: "Predictions by option",
  option: "Option",

  choose_all: "Choose all that apply",
  /** Before an answer that is not submitted yet. */
  answer_label: "Answer:",
  /** Before the stored answer. */
  given_label: "Given:",
  none_applies: "None applies",
  submit: "Submit",

  types: "Types of spans",
  type_hint: "{{type}}: choose with , and . and mark with the space bar",
  snap: "Snap to words",
  marks: "Marks",
  take_out: "Take out {{type}}: {{words}}",
  mark_hint: "Drag over words, double-click one, or move with the arrow keys and press a digit",
  mark_hint_touch: "Tap a word, or its first and its last one, then a type",
  nothing_to_mark: "Nothing to mark",
  /** After “Answer:” or “Given:”. */
  nothing_to_mark_answer: "nothing to mark",
  text_to_mark: "Text to mark",
  text_keys:
    "Arrow keys move by word, with Ctrl by character; with Shift they select. A digit marks with the type of that number, Tab moves between marks, Delete removes one, 0 answers that there is nothing to mark, Enter submits, Escape leaves the text.",

  next_type: "Next: {{type}}",
  already_marked: "Already marked as {{type}}: {{words}}",
  marked: "Marked as {{type}}: {{words}}",
  removed: "Removed: {{words}}",
  selected: "Selected: {{words}}",
  undone: "Undone. Marked now: {{marks}}",
  redone: "Redone. Marked now: {{marks}}",

  span_reveal_hint: "You see what others marked after you have answered.",
  answered: "Answered.",
  answered_alone: "Answered. Nobody else has answered this text.",
  heat_types: "Type of span that the heat shows",
  any_type: "Any type",
  /** People of all people. */
  some_of_all: "{{some, number}} of {{all, number}}",
  point_hint: "Point at words, or move with the arrow keys, to see who marked them.",
  markers_one: "{{some, number}} of {{count, number}} other: {{names}}",
  markers_other: "{{some, number}} of {{count, number}} others: {{names}}",
  no_markers_one: "none of {{count, number}} other marked this",
  no_markers_other: "none of {{count, number}} others marked this",
  /** Before a scale of colours, which is followed by its ends. */
  heat_share_one: "Share of {{count, number}} other who marked a word",
  heat_share_other: "Share of {{count, number}} others who marked a word",
  heat_ends: "0 to 100 %",
} as const;
