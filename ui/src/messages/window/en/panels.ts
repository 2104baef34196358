// Panels: people who would decide together, their rule, and the verdicts that are predicted.
export default {
  // Rules.
  rule_majority: "Majority",
  rule_majority_what: "The level that most members give; none if two tie",
  rule_mean: "Mean level",
  rule_mean_what: "The level next to the members' mean",
  rule_median: "Median",
  rule_median_what: "The middle answer; of two, the lower",
  rule_quorum: "Quorum",
  rule_quorum_what: "A number of members at a level or above",
  rule_veto: "Veto",
  rule_veto_what: "One member at a level or above is enough",

  // How sure a verdict is.
  sure_unknown: "Too few labels",
  sure_certain: "Almost certain",
  sure_likely: "Likely",
  sure_rather: "More likely than not",
  sure_open: "Undecided",

  // Verdicts that are no level.
  verdict_no_majority: "no majority",
  verdict_passed: "passed",
  verdict_vetoed: "vetoed",
  verdict_not_reached: "not reached",
  verdict_reached: "reached",

  // Who sits on a panel, in few words. The number is of people.
  drawn_one: "{{count, number}} drawn",
  drawn_other: "{{count, number}} drawn",
  /** `shares` is a list such as "50 % woman, 50 % man". */
  drawn_shares_one: "{{count, number}} drawn: {{shares}}",
  drawn_shares_other: "{{count, number}} drawn: {{shares}}",
  share: "{{share}} {{value}}",

  // Composing a panel.
  members: "Members",
  add_person: "Add a person to the panel",
  name_people: "Name people…",
  add: "Add",
  /** After the field for names, before the fields below it. */
  or_draw: "or draw at random:",
  nobody: "Nobody here is called “{{name}}”.",
  member_remove: "Take {{name}} off the panel",
  draw_size: "Members to draw",
  draw_seed: "Seed",
  add_share: "Add a share",
  add_share_what: "Add a share of an attribute's value",
  share_remove: "Take {{attribute}} {{value}} out",

  // The form.
  saved: "Saved panel",
  saved_what: "Use a saved panel",
  choose: "Choose",
  rule: "Rule",
  rule_what: "How answers become a verdict",
  needed: "Members needed",
  at_or_above: "At or above",
  level: "Level",
  draws: "Other panels to draw",
  compare: "Compare with",
  compare_what: "Compare with a saved panel",
  compare_none: "none",
  texts: "Texts",
  order: "Order of texts",
  order_unsure: "Least sure",
  order_members: "Depends on the members",
  order_apart: "Largest difference from the other panel",
  ask: "Ask about all texts",
  asking: "Asking…",
  asking_panel: "Asking the panel",
  name_to_save: "Name, to save it",
  name: "Name of the panel",
  forget: "Delete the saved panel {{name}}",

  // Who sits on the panel that was asked.
  drawn_from_one: "Drawn from {{count, number}} person with labels: {{names}}",
  drawn_from_other: "Drawn from {{count, number}} people with labels: {{names}}",
  named: "Members: {{names}}",
  /** `members` is one of the messages above; the number is of people. */
  strangers_one: "{{members}}; {{count, number}} without labels here is predicted as the average annotator",
  strangers_other:
    "{{members}}; {{count, number}} without labels here are predicted as the average annotator",

  // The verdict on a text.
  on_text: "The panel on the chosen text",
  /** Followed by the verdict. */
  likeliest: "Most likely verdict on this text:",
  answered_one: "{{answered, number}} of {{count, number}} member answered this text; these answers count.",
  answered_other:
    "{{answered, number}} of {{count, number}} members answered this text; these answers count.",
  too_few: "Too few labels on this text: almost any probability of “{{outcome}}” is possible.",
  could_move:
    "More labels of this text could move the probability of “{{outcome}}” to anything from {{low}} to {{high}} ({{confidence}}).",
  expected_mean: "Expected mean level {{mean}}, from {{low}} to {{high}} ({{confidence}}).",
  /** `verdicts` is a list of the message below. */
  others_one: "{{count, number}} other panel drawn the same way: {{verdicts}}.",
  others_other: "{{count, number}} other panels drawn the same way: {{verdicts}}.",
  others_verdict: "“{{outcome}}” is the most likely verdict of {{share}}",
  comparison: "The other panel: {{outcome}} ({{share}}); the two are {{apart}} apart.",
  // In the list of texts.
  otherwise: "{{share}} of other panels reach another verdict",
  compared: "compared: {{outcome}}, {{apart}} apart",
} as const;
