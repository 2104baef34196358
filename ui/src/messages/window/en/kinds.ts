// Kinds of questions, and the editor of their scales.
export default {
  // Each has a hint, which is shown next to it.
  ordinal: "Rating scale",
  ordinal_hint: "ordered levels, e.g. 1 to 5, lowest first",
  choice: "Single choice",
  choice_hint: "one of several, without an order",
  multi_label: "Multi-label",
  multi_label_hint: "any number of up to {{most, number}} options",
  spans: "Spans",
  spans_hint: "passages marked in the text, each with one of up to {{most, number}} types",
  binary: "Yes or no",
  binary_hint: "“no” first, then “yes”",

  scale_kind: "Kind of scale",

  // The levels of a rating scale or a choice, the options of multi-label, the types of spans, by number.
  number_level: "Level {{at, number}}",
  number_option: "Option {{at, number}}",
  number_type: "Type {{at, number}}",
  meaning_level: "What level {{at, number}} means",
  meaning_option: "What option {{at, number}} means",
  meaning_type: "What type {{at, number}} means",
  up_level: "Move level {{at, number}} up",
  up_option: "Move option {{at, number}} up",
  up_type: "Move type {{at, number}} up",
  down_level: "Move level {{at, number}} down",
  down_option: "Move option {{at, number}} down",
  down_type: "Move type {{at, number}} down",
  take_out_level: "Take level {{at, number}} out",
  take_out_option: "Take option {{at, number}} out",
  take_out_type: "Take type {{at, number}} out",
  add_level: "Add a level",
  add_option: "Add an option",
  add_type: "Add a type",
  /** What a new one is called until somebody names it. */
  new_level: "level {{at}}",
  new_option: "option {{at}}",
  new_type: "type {{at}}",
  /** The first two levels of a scale that has none yet. */
  new_no: "no",
  new_yes: "yes",

  means: "What it means",
  move_up: "Move up",
  move_down: "Move down",
  remove: "Remove",
  /** `uses` is what uses it: “12 answers use”. */
  in_use: "{{uses}} this level: rename it instead",
  /** “Enter” is the key. */
  how_to_add: "Enter adds the next · paste a list, one a line",

  /** A sentence of an invented text, in which the names of types are marked. */
  spans_example: "Marked passages look like this: {{types}}.",
} as const;
