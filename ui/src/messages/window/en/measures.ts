// Measures of disagreement, the order of texts by one of them, and the axes of the map of annotators.
export default {
  // Each measure: its name, an explanation, and the head of its column.
  split_short: "Split",
  combined: "Split, combined",
  combined_hint: "predicted split; the text's own labels count as far as they improve the prediction",
  split: "Split, predicted",
  split_hint: "probability of different answers, divided by its maximum",
  split_hint_levels: "squared distance of two people: 0 all equal, 1 half at each end",
  labels: "Split, labels alone",
  labels_hint: "of the labels, without predictions; two or more labels",
  far_apart: "Far apart",
  far_apart_hint: "probability that two people are at least two levels apart",
  opposite_sides: "Opposite sides",
  opposite_sides_short: "Opposite",
  opposite_sides_hint:
    "probability that two people are on opposite sides of a cut; at most 50 % in a large group",
  surprising: "Surprising for its mean",
  surprising_short: "Surplus",
  surprising_hint: "labels more split than usual for texts with the same mean",
  group_gap: "Group gap",
  group_gap_short: "Gap",
  group_gap_hint: "the widest difference between groups of people, in levels",
  between: "People, not chance",
  between_short: "Between",
  between_hint: "share of the predicted variance that is between people",
  pairwise: "Different answers",
  pairwise_short: "Differ",
  pairwise_hint: "chance that two people give different answers",
  divergence: "Difference between people",
  divergence_hint: "Jensen-Shannon divergence of their predictions, in bits",
  uncertainty: "Uncertainty about each person",
  uncertainty_hint: "mean entropy of each prediction, in bits",
  bits_short: "Bits",

  // Notes on an order of texts.
  note_labels: "Ranked by labels, without predictions. With few labels per text, differences can be chance.",
  note_ties_one: "The first {{count, number}} text cannot be distinguished: their intervals overlap.",
  note_ties_other: "The first {{count, number}} texts cannot be distinguished: their intervals overlap.",
  note_follows: "The prediction follows from the average answer (rank correlation {{correlation}}).",
  note_prediction_no_text:
    "Ranked by the prediction alone. A text’s own labels would count only if they helped to predict how other people answer it: no text has the required four labels. More labels on the same texts can change this.",
  note_prediction_one:
    "Ranked by the prediction alone. A text’s own labels would count only if they helped to predict how other people answer it: {{count, number}} text with at least four labels does not show that. More labels on the same texts can change this.",
  note_prediction_other:
    "Ranked by the prediction alone. A text’s own labels would count only if they helped to predict how other people answer it: {{count, number}} texts with at least four labels do not show that. More labels on the same texts can change this.",

  // A border: the two levels between which answers divide most evenly.
  border: "between {{lower}} and {{upper}}",
  /** `share` is the percentage of people who answer above the border. */
  above: "{{share}} above",
  /** With the ends of its interval, in percent. */
  above_interval: "{{share}} above ({{low, number}}–{{high, number}})",

  // What an axis of the map of annotators shows: who is further along it.
  axis_higher: "gives higher levels",
  axis_lower: "gives lower levels",
  axis_largest: "the largest difference between people",
  axis_next: "the next largest difference",
} as const;
