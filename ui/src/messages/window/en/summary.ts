// Findings, Summary: next steps, figures of each question, and who differs.
export default {
  next_steps: "Next steps",
  other_questions: "Other questions",
  /** What is loading. */
  waiting: "the summary",

  // One question.
  /** Phrases with numbers: "30 labels on 12 texts". */
  labels_on_texts: "{{labels}} on {{texts}}",
  no_answer: "No answer yet.",
  all_answers: "All answers",
  answers: "Answers",
  level_count: "{{level}}: {{given, number}} of {{all, number}}",
  agreement: "Agreement (α)",
  alpha_ordinal: "Krippendorff’s alpha for ordered levels",
  alpha_nominal: "Krippendorff’s alpha for nominal levels",
  alpha_MASI: "Krippendorff’s alpha of whole sets of options (MASI distance)",
  alpha_words: "Krippendorff’s alpha of the words that are marked",
  /** What is being calculated. */
  agreement_waiting: "agreement",
  shared: "Texts with two or more annotators",
  /** After a number of texts. Both values are phrases with numbers: "of 12 texts, 3 people". */
  shared_of: "of {{texts}}, {{people}}",

  // Who differs.
  who: "Who differs, and why",
  who_doing: "Finding who differs",
  who_equal: "Two people give the same answer to a text {{share}} of the time.",
  text_or_person: "Text or person",
  head_what: "What",
  head_share: "Share",
  head_interval: "{{confidence}} interval",
  // What makes labels differ.
  share_text: "the text",
  share_person: "the person",
  share_neither: "neither",
  intervals: "{{confidence}} intervals, for other people and texts like these.",
  groups: "Which groups",
  /** A difference between groups. */
  shown: "shown",
  not_shown: "not shown",
  bars: "Bars: share of the differences between people that an attribute explains; light: upper bound ({{confidence}}, all attributes together).",
  too_few: "Too few labels: {{attributes}}.",
  /** `words` is a sentence. */
  pair_reason:
    "Of the values of {{attribute}}, these two have the strongest evidence of a difference. After correction for all possible comparisons: {{words}} The figures below are for these two only, without that correction.",
  people: "Which people",
  lowest: "Lowest levels",
  highest: "Highest levels",
  strip_one:
    "{{count, number}} person from the lowest levels to the highest, the average person in the middle",
  strip_other:
    "{{count, number}} people from the lowest levels to the highest, the average person in the middle",
  strip_legend: "Bold and tall: differs significantly from the average person.",
} as const;
