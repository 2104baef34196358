// Why a person is predicted to answer a text so.
export default {
  title: "Why this prediction for {{name}}?",
  title_before: "Why was this predicted for {{name}}?",
  about: "How the probability is composed, step by step.",
  about_before: "As before the answer to this text. How the probability is composed, step by step.",
  compare: "Compare with",
  compare_nobody: "nobody",
  logits: "Show logits",
  differences: "Why they differ here, largest part first",

  // What the odds are of. `level` and `other` are names of levels.
  odds_above: "{{level}} or above",
  odds_rather: "{{level}} rather than {{other}}",

  // The sum.
  sum: "The sum for {{name}}",
  /** Between the name of a person and the answer: "Ana answered 4". */
  answered: "answered",
  hidden: "The prediction for you is hidden until you answer this text.",
  based_on_one: "Based on {{count, number}} label.",
  based_on_other: "Based on {{count, number}} labels.",
  /** `odds` is a level, "4 or above", or "angry rather than sad". */
  leads_to_logit: "Each step leads to a logit of {{odds}}.",
  leads_to_probability: "Each step leads to a probability of {{odds}}.",
  total: "Total",
  total_logits: "Sum, the logarithm of the odds",

  // The parts of a sum, each with what it is.
  part_average: "Average annotator",
  effect_average: "The average annotator on an average text",
  part_words: "The text's words",
  effect_words: "Effect of the embedding of the text, without its own labels",
  part_others: "Others' labels",
  effect_others: "Effect of the labels of others on this text",
  part_own_label: "Own label",
  effect_own_label: "Effect of this annotator's own label of this text",
  part_severity: "Severity",
  effect_severity: "How much higher this annotator answers than the average one",
  part_preference: "Own preference",
  effect_preference: "How much more often this annotator chooses one over the other",
  part_thresholds: "Own thresholds",
  effect_thresholds: "How this annotator uses this part of the scale, beyond severity",
  part_slope: "Own reaction",
  effect_slope: "How this annotator, or the annotator's group, reacts to the content of the text",
  part_discrimination: "Own consistency",
  effect_discrimination:
    "How closely this annotator's labels follow the shared pattern, compared with the average annotator",
  part_shrinkage: "Shrinkage",
  effect_shrinkage:
    "Few labels of the text and the annotator pull the prediction towards even odds. If texts have their own scales, this includes the text's scale",

  // Lists of texts.
  influences: "Labels of {{name}} with the largest effect",
  influences_level: "What each adds to the expected level: against a fit of {{name}} without it.",
  influences_probability:
    "What each adds to the probability of {{level}}: against a fit of {{name}} without it.",
  nearest: "Most similar texts that {{name}} labelled",
  nearest_what: "Similarity of the embeddings: 1 is the same text.",
  agreed: "Most similar texts on which people agreed",
  agreed_what: "Two or more labels that hardly differ.",
  no_labels: "{{name}} has no labels yet.",
  none: "None.",
  none_yet: "None yet.",

  // The words of the text.
  words: "Words with the largest effect on the text's score",
  /** Words are left out one by one, or so many at a time. */
  left_out_one:
    "Each word left out in turn: the change of the text's score towards {{odds}}. This is an effect on the score, not a cause.",
  left_out_other:
    "Every {{count, number}} words left out in turn: the change of the text's score towards {{odds}}. This is an effect on the score, not a cause.",
  word_change: "{{change}} logits",
  strongest: "The strongest",
  leaving_out: "Leaving out words",
  leaving_out_now: "Leaving out words…",
  leave_out: "Leave out each word",
} as const;
