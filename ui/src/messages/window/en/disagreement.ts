// The texts of Findings: their order by disagreement, one text in detail, groups and questions compared.
export default {
  // Used in several places.
  low_to_high: "{{low}} to {{high}}",
  /** A value with its interval. */
  value_interval: "{{value}} ({{low}} to {{high}})",
  /** A value with its interval, and the level that this holds with, "95 %". */
  value_interval_level: "{{value}} ({{confidence}}: {{low}} to {{high}})",
  /** In place of a value. */
  not_defined: "not defined",
  /** In place of a prediction. */
  hidden: "hidden",
  /** The value of an attribute of a person. */
  not_known: "not known",
  /** After names: how many other people. */
  and_more_one: "{{names}} and {{count, number}} more",
  and_more_other: "{{names}} and {{count, number}} more",
  stop: "Stop",
  cancel: "Cancel",
  /** What assistive technology calls a plot. */
  plot: "plot",

  // The view and its tools.
  all_texts: "All texts",
  compare_groups: "Compare groups",
  ask_panel: "Ask a panel",
  which_texts: "Which texts",
  rank_by: "Rank by",
  cut: "Cut",
  cut_hint: "Lowest level above the cut",
  cut_level: "{{level}} and above",
  search: "Search",
  search_label: "Search the texts",
  labelled_only: "Labelled only",
  nothing_to_rank: "Nothing to rank yet",
  nothing_to_rank_hint: "Import texts and labels first: models of annotators are trained on their labels.",
  go_to_label: "Go to Label",
  no_match: "No text fits",
  no_match_hint: "Remove a filter, or search for something else.",
  ranked_texts: "Texts by predicted disagreement",
  by_labels: "Rank by labels alone",
  by_labels_hint:
    "Uses only the labels, no predictions. With few labels per text, this order is largely chance.",
  /** What is loading. */
  waiting_texts: "texts by disagreement",
  /** What is loading. */
  waiting_text: "labels and predictions of a text",
  /** Followed by a key of the keyboard. */
  order_changed: "Order changed · refresh",
  /** After the number of texts. `annotators` is "262 annotators", and may say how many have no label yet. */
  over_annotators: "over {{annotators}}",
  over_annotators_average: "over {{annotators}}, predicted as the average person",
  list_width: "Width of the list",
  chosen_text: "The chosen text",
  choose_text: "Choose a text",
  choose_text_hint: "Shows the predicted answers of every annotator next to their labels.",

  // Which annotators.
  everyone: "Everyone",
  annotators_chosen: "Annotators: {{values}}",
  only_annotators: "Only annotators with",
  any_value: "any",

  // The map of texts.
  map_dots: "What the dots show",
  map_labels: "Labels",
  map_everyone: "Predicted",
  map_caption: "split by average answer; dashed: the maximum possible",
  map_caption_labels: "dot: labels, ring: predicted; split by average answer; dashed: the maximum possible",
  map_words_one: "{{count, number}} text by mean level and split; dashed, the largest split of many people.",
  map_words_other:
    "{{count, number}} texts by mean level and split; dashed, the largest split of many people.",
  map_choose: "Drag, or press an arrow key, to select an area.",
  map_area_one: "{{count, number}} text in the selected area",
  map_area_other: "{{count, number}} texts in the selected area",
  map_show_all: "Show all",

  // The list: its heads, and a row for texts that cannot be distinguished.
  list: "Texts by disagreement",
  head_rank: "Rank",
  head_text: "Text",
  head_answers: "Answers",
  head_answers_labels: "The labels given, by level",
  head_answers_all:
    "Solid: labels. Outline: predicted for everyone. Triangle: mean of everyone, predictions replaced by labels where there are labels",
  /** A measure, with the level of its intervals: "Split, 95 %". */
  head_measure: "{{measure}}, {{confidence}}",
  head_border: "Border",
  head_border_hint: "The two levels between which answers divide most evenly",
  head_who: "Who differs",
  tie_one: "{{count, number}} text cannot be distinguished",
  tie_other: "{{count, number}} texts cannot be distinguished",
  tie_ranks: "Ranks {{first, number}} to {{last, number}}; texts whose labels form two camps come first.",
  tie_shown_one: "The first {{count, number}} is shown.",
  tie_shown_other: "The first {{count, number}} are shown.",
  tie_close: "Show {{count, number}}",
  tie_open: "Show all",

  // A row of the list.
  row_band: "Its interval reaches the ranks {{ranks}}",
  row_moved_up_one: "{{count, number}} up",
  row_moved_up_other: "{{count, number}} up",
  row_moved_down_one: "{{count, number}} down",
  row_moved_down_other: "{{count, number}} down",
  row_up: "up",
  row_down: "down",
  row_no_label: "no label",
  row_few_labels: "too few labels",
  row_two_camps: "two camps",

  // Answers of one text by level, in words. `shares` is a list of levels, each with its share.
  histogram_observed_one: "Observed, {{count, number}} label: {{shares}}.",
  histogram_observed_other: "Observed, {{count, number}} labels: {{shares}}.",
  histogram_no_labels: "No labels.",
  histogram_predicted: "Predicted: {{shares}}.",
  histogram_mean:
    "Mean level, predictions replaced by labels where there are labels: {{mean}} of {{levels, number}}.",

  // Who differs on a text. `gap` is in levels, with its sign; `against` names another group.
  who_gap: "{{attribute}}: {{value}} answers {{gap}} levels against {{against}}",
  who_gap_others: "{{attribute}}: {{value}} answers {{gap}} levels against all others",
  /** How many of the group with labels answered above the border. */
  who_above: "{{above, number}} of {{labels, number}} above",
  /** The same, and how many of the other group did. */
  who_above_both:
    "{{above, number}} of {{labels, number}} above, {{other_above, number}} of {{other_labels, number}} of {{against}}",
  who_above_both_others:
    "{{above, number}} of {{labels, number}} above, {{other_above, number}} of {{other_labels, number}} of all others",
  /** `gap` is one of the messages above that say how far a group differs, `above` one of those after it. */
  who_gap_above: "{{gap}}: {{above}}",
  who_doubt: "{{words}}; not significant after correction for all texts and groups compared",
  // Who is above the border, and who below it.
  side_above: "above: {{names}}",
  side_below: "below: {{names}}",
  /** `why` says whether it is by labels or predicted, and names the people. */
  side_above_title: "above the border, {{why}}",
  side_below_title: "below the border, {{why}}",
  side_labelled: "by their labels: {{names}}",
  side_labelled_more_one:
    "by their labels: {{names}}; {{count, number}} more is predicted there with a probability of {{confidence}} or more",
  side_labelled_more_other:
    "by their labels: {{names}}; {{count, number}} more are predicted there with a probability of {{confidence}} or more",
  side_predicted: "predicted with a probability of {{confidence}} or more: {{names}}",

  // One text.
  text_back: "Back to the previous text",
  cannot_say_one: "{{count, number}} person answers “cannot say”; figures exclude it.",
  cannot_say_other: "{{count, number}} people answer “cannot say”; figures exclude it.",
  tabs: "Show",
  tab_groups: "Who",
  tab_people: "Everyone",
  annotators: "Annotators",
  group_annotators: "Group annotators",
  ungrouped: "Ungrouped",
  group_by: "By {{attribute}}",
  blind: "The prediction for you is hidden until you answer.",
  blind_show: "Show anyway",
  near_title: "Most similar texts on which people agreed",
  near_about: "By cosine similarity of embeddings; two or more labels that hardly differ.",
  all_measures: "All measures",

  // The measures of one text. After the value: the highest that it can be.
  score_at_most: "of at most {{maximum}}",
  score_bits: "bits",
  score_split: "Split",
  score_split_hint:
    "Expected squared distance of two people, divided by its maximum, with its {{confidence}} interval",
  score_far_apart: "Far apart",
  score_far_apart_hint: "Probability that two people are at least two levels apart",
  score_pairwise: "Different answers",
  score_pairwise_hint:
    "Probability that two annotators drawn at random differ, with the model's {{confidence}} interval",
  score_divergence: "Difference between people",
  score_divergence_hint: "Jensen–Shannon divergence in bits: the part of the uncertainty between people",
  score_uncertainty: "Uncertainty about each",
  score_uncertainty_hint: "Mean entropy of one annotator's distribution in bits: uncertainty within people",
  score_variance: "Variance between people",
  score_variance_hint: "Variance between annotators' expected levels",

  // The annotators of one text: as dots, and as lines.
  dots: "People by their label: {{labelled, number}}; by their predicted level: {{predicted, number}}",
  dots_labels: "labels",
  dots_predicted: "predicted",
  dots_values: "Values of {{attribute}}",
  /** A person, and the value of an attribute. */
  dot_person: "{{name}}, {{value}}",
  dot_predicted: "{{person}}: predicted {{level}} of {{levels, number}}",
  dot_labelled: "{{person}}: labelled {{level}}",
  people: "Annotators' distributions",
  people_predicted: "Predicted",
  people_label: "Label",
  people_labelled: "Labelled this text",
  people_predicted_only: "Predicted only",
  person_model_one: "{{name}}, model of {{count, number}} label",
  person_model_other: "{{name}}, model of {{count, number}} labels",
  /** After the name of the reader. */
  person_you: "(you)",
  person_predicted: "Predicted for {{name}}",
  person_no_prediction: "no prediction",
  person_answered: "{{name}} answered “{{answer}}”",
  person_why: "Why this prediction for {{name}}?",
  group_mean: "Mean of {{group}}",
  group_mean_short: "mean",

  // Groups of people on one text.
  groups: "Groups",
  groups_differ: "Groups that differ most",
  groups_predicted: "predicted",
  groups_differ_about:
    "Levels above all others; simultaneous intervals for all groups at {{confidence}}; bold: significant after correction for all texts and groups.",
  gap_group_one: "{{group}}: {{count, number}} person",
  gap_group_other: "{{group}}: {{count, number}} people",
  gap_mean: "Predicted mean {{mean}} of {{levels, number}}",
  gap_mean_labels_one:
    "Predicted mean {{mean}} of {{levels, number}}, mean of {{count, number}} label {{observed}}",
  gap_mean_labels_other:
    "Predicted mean {{mean}} of {{levels, number}}, mean of {{count, number}} labels {{observed}}",
  gap_few: "too few people",
  gap_about:
    "Solid: mean of labels. Hollow: predicted mean. Right: how much higher each group answers than the rest, with {{confidence}} intervals. Bold: significant after correction for multiple comparisons.",

  // Words of a text as a heat map.
  heat: "Figure shown by the colour of a word",
  heat_by_marked: "Marked",
  heat_by_expected: "Expected",
  heat_by_differ: "Differ",
  heat_title_marked: "Share of answers that mark the word",
  heat_title_expected: "Share of people expected to mark the word",
  heat_title_differ: "Probability that two people differ on the word",
  heat_why_fit: "Expected marks need a model of words: choose “Read words” first.",
  heat_why_encoder: "Expected marks need encoded texts: the texts are not encoded yet.",
  heat_why_people: "Expected marks need two or more people.",
  heat_text: "Text by words; arrow keys move between words",
  heat_empty: "This text is empty.",
  heat_no_words: "This text has no words.",
  heat_point: "Point at a word, or use the arrow keys.",
  heat_nobody: "Nobody has answered this text yet.",
  heat_nobody_selected: "None of the selected people has answered this text.",
  heat_share_marked_one: "Share of {{count, number}} answer with the word marked.",
  heat_share_marked_other: "Share of {{count, number}} answers with the word marked.",
  heat_share_expected_one: "Share of {{count, number}} person expected to mark a word.",
  heat_share_expected_other: "Share of {{count, number}} people expected to mark a word.",
  heat_share_differ_one:
    "Probability that two of {{count, number}} person differ on a word; at most 50 % in a large group.",
  heat_share_differ_other:
    "Probability that two of {{count, number}} people differ on a word; at most 50 % in a large group.",
  /** A person whose name is not known. */
  annotator_id: "annotator {{id}}",
  // One word: after the word and a colon. `marked` is one of the three that follow.
  word_expected:
    "{{marked}}; expected {{expected}} of {{people, number}}; two of them differ with probability {{differ}}",
  word_unanswered: "nobody has answered yet",
  word_marked_by_none: "none of {{answers, number}} marked it",
  word_marked_one: "{{count, number}} of {{answers, number}} marked it: {{names}}",
  word_marked_other: "{{count, number}} of {{answers, number}} marked it: {{names}}",

  // What expected marks of words need.
  needs_reader: "Expected marks need two people, and you are one of them: they are hidden until you answer.",
  needs_people: "Expected marks need two or more people, and fewer are selected.",
  needs_encoder: "Expected marks need encoded texts, and the texts are not encoded yet.",
  needs_fit: "There is no model of words yet.",
  needs_again_one: "Learned from {{count, number}} answer; there are {{now, number}} now.",
  needs_again_other: "Learned from {{count, number}} answers; there are {{now, number}} now.",
  read_words: "Read words",
  read_words_again: "Read again",
  read_words_hint: "Encodes the words of all texts and fits a model of who marks which.",

  // A decision about a text. An outcome is a phrase within a sentence: "a slip".
  decided: "Decided: {{outcome}}",
  decided_on: "{{day}}: {{outcome}}",
  decided_on_answer: "{{day}}: {{outcome}}, {{answer}}",
  notes_written_one: "{{count, number}} person wrote a note",
  notes_written_other: "{{count, number}} people wrote notes",
  no_decision: "No decision about this text.",
  review_decision: "Review…",
  make_decision: "Decide…",

  // The dialog of the decision.
  decide_title: "Decide about this text",
  decide_text: "The decision is saved with the text. No label is changed.",
  names: "Names",
  nobody_answered: "Nobody has answered this text yet.",
  /** A person whose name is not shown. */
  person_number: "Person {{number, number}}",
  table_person: "Person",
  table_answer: "Answer",
  table_later: "Later round",
  table_sure: "Sure",
  table_notes: "Reasons and note",
  table_guideline: "Guideline",
  answers_before: "before: {{answers}}",
  notes_later: "later round: {{notes}}",
  guideline_none: "none",
  guideline_version: "version {{version, number}}",
  outcome: "Outcome",
  decided_answer: "Decided answer",
  decided_answer_none: "No decided answer",
  decided_answer_level: "Decided: {{level}}",
  decided_by: "Decided by",
  decided_why: "Why",
  reopen: "Reopen",
  decide: "Decide",

  // Two groups of people, called A and B, compared. `letter` is one of them.
  picker_group: "Group {{letter}}",
  picker_take_value: "Take {{attribute}} {{value}} out of group {{letter}}",
  picker_take_person: "Take {{name}} out of group {{letter}}",
  picker_take_unknown: "Take this person out of group {{letter}}",
  picker_add_value: "Add a value",
  picker_add_value_to: "Add a value to group {{letter}}",
  picker_add_person: "Add a person",
  picker_add_person_to: "Add a person to group {{letter}}",
  picker_unknown: "Nobody has that name.",
  compare: "Compare",
  compare_running: "Comparing…",
  compare_again: "New data · compare again",
  compare_swap: "Swap",
  compare_progress: "Comparing groups",
  compare_stopped: "Stopped. Nothing was compared.",
  /** How much higher A answers than B. */
  compare_levels: "Levels, A less B",
  compare_p: "p {{p}}",
  compare_p_uncorrected: "p {{p}}, without correction",
  compare_severity: "Severity, A less B: {{value}}, on the model's scale.",
  compare_severity_interval: "Severity, A less B: {{value}} ({{low}} to {{high}}), on the model's scale.",
  compare_empty: "Not compared yet",
  compare_empty_hint:
    "Compare shows how much higher one group answers over all texts, how far each group agrees, and on which texts they differ.",
  compare_choose: "Choose two groups",
  compare_choose_hint: "It needs five people in each group and ten texts that both labelled.",
  gap_words: "A less B {{gap}}",
  gap_words_interval: "A less B {{gap}}, {{confidence}} interval {{low}} to {{high}}",
  gap_texts: "Texts on which {{letter}} is higher",
  gap_higher: "{{letter}} higher",
  gap_no_text: "None that both groups labelled.",
  gap_labels: "Labels of A and of B; by these labels alone A is higher by {{gap}}",
  gap_p: "p {{p}}: difference after correction for each person's severity",
  gap_shown: "shown",
  gap_contradicted: "labels say the opposite",
  gap_not_shown: "not shown",
  agreement_pairs: "Pairs of people",
  agreement_within_a: "Within A",
  agreement_within_b: "Within B",
  agreement_between: "Between A and B",
  agreement_equal: "equal labels",
  agreement_alpha: "alpha",
  agreement_alpha_ordinal:
    "Krippendorff's alpha, ordinal differences; between the groups cross-replication reliability",
  agreement_alpha_nominal:
    "Krippendorff's alpha, nominal differences; between the groups cross-replication reliability",

  // Questions correlated.
  questions: "Questions",
  correlate: "Correlate",
  correlate_running: "Correlating…",
  correlate_again: "New labels · correlate again",
  correlate_progress: "Correlating questions",
  correlate_stopped: "Stopped. Nothing was correlated.",
  /** `annotators` is "8 annotators". */
  correlate_scores_one: "Scores are mean predictions over {{annotators}}, of {{count, number}} text.",
  correlate_scores_other: "Scores are mean predictions over {{annotators}}, of {{count, number}} texts.",
  correlate_scores_copies_one:
    "Scores are mean predictions over {{annotators}}, of {{count, number}} text (copies count once).",
  correlate_scores_copies_other:
    "Scores are mean predictions over {{annotators}}, of {{count, number}} texts (copies count once).",
  correlate_folds_one:
    "Labelled texts are scored in {{count, number}} fold by models that were not trained on their labels.",
  correlate_folds_other:
    "Labelled texts are scored in {{count, number}} folds by models that were not trained on their labels.",
  correlate_kind: "Correlation",
  correlate_empty: "Not correlated yet",
  correlate_empty_hint:
    "Correlate shows how the predicted scores of two questions are related over all texts, including texts with labels of only one question or of none.",
  matrix_spearman: "Spearman's rank correlation of predicted scores, held out",
  matrix_pearson: "Pearson's correlation of predicted scores, held out",
  matrix_cell: "{{a}} and {{b}}: {{value}}",
  /** The names of two questions. */
  pair_title: "{{a}} and {{b}}",
  pair_held_out_one: "Held out, {{count, number}} text",
  pair_held_out_other: "Held out, {{count, number}} texts",
  pair_unlabelled_one: "Without labels of either, {{count, number}} text",
  pair_unlabelled_other: "Without labels of either, {{count, number}} texts",
  pair_in_use_one: "With the models in use, {{count, number}} text",
  pair_in_use_other: "With the models in use, {{count, number}} texts",
  pair_few: "too few texts",
  pair_learned_one:
    "the models learned from labels of {{count, number}} of these texts: report the held-out value",
  pair_learned_other:
    "the models learned from labels of {{count, number}} of these texts: report the held-out value",
  // `a` and `b` are names of questions, each with the kind of its score.
  scatter_caption: "Upwards {{b}}, {{b_score}}; across {{a}}, {{a_score}}",
  scatter_words_one:
    "{{count, number}} text: {{a_score}} of {{a}} across, {{b_score}} of {{b}} upwards. Arrow keys move between texts.",
  scatter_words_other:
    "{{count, number}} texts: {{a_score}} of {{a}} across, {{b_score}} of {{b}} upwards. Arrow keys move between texts.",
  // After a dot of their colour.
  scatter_labelled: "with labels, scored by models that were not trained on them",
  scatter_unlabelled: "without labels",
  scatter_drawn_one: "{{drawn, number}} of {{count, number}} text is drawn",
  scatter_drawn_other: "{{drawn, number}} of {{count, number}} texts are drawn",
} as const;
