// Planning a study: how many labels, who is asked, and what annotators see.
export default {
  // Shared by the dialogs.
  cancel: "Cancel",
  stop: "Stop",
  result: "Result",

  // What is wrong with a number in a field.
  fault_share: "A number above 0 and below 1.",
  fault_positive_or_empty: "A number above 0, or empty.",
  fault_range: "A number from {{from, number}} to {{to, number}}.",
  fault_whole: "A whole number.",
  fault_whole_or_empty: "A whole number, or empty.",
  fault_whole_positive: "A whole number, 1 or more.",
  fault_whole_positive_or_empty: "A whole number, 1 or more, or empty.",
  fault_whole_up_to: "A whole number up to {{to, number}}.",
  fault_whole_up_to_or_empty: "A whole number up to {{to, number}}, or empty.",

  // How many labels: what is wanted.
  labels_title: "Plan a study: how many labels",
  labels_text:
    "How many labels texts and people like these need, estimated from the labels of “{{question}}” as a pilot.",
  reliability: "Target reliability",
  reliability_hint: "of a text's mean and of a person's severity, 0 to 1",
  interval: "Target interval",
  /** `confidence` is a percentage. */
  interval_hint: "width of the {{confidence}} interval of a text's mean; empty for none",
  /** The unit of an interval: levels of a scale. */
  unit_levels: "levels",
  /** The unit of an interval: a share of 1. */
  unit_share: "share",
  time: "Time per label",
  /** The unit of a field. */
  time_unit: "seconds",
  time_measured_one: "empty: {{duration}}, the median of {{count, number}} label in this project",
  time_measured_other: "empty: {{duration}}, the median of {{count, number}} labels in this project",
  time_not_measured: "empty: measured once there are {{labels, number}} labels",
  cost: "Cost per label",
  cost_hint: "in any currency; empty for none",

  // How many labels: what was found. Values such as `reliability` are numbers with their decimals.
  planning: "Planning",
  simulating: "Simulating pilots like this one…",
  stopped: "Stopped.",
  plan_again: "Plan again",
  needs_pilot: "A plan needs a pilot",
  per_text_found: "Annotators per text",
  per_person_found: "Labels per person",
  /** A number that is larger than what is searched: "over 100". */
  over: "over {{limit, number}}",
  /** A number and its interval: "10 (95 %: 9 to 12)"; each of the three can be "over 100". */
  estimate: "{{value}} ({{confidence}}: {{low}} to {{high}})",
  /** Follows the number of annotators per text. `estimate` is "10 (95 %: 9 to 12)". */
  for_reliability: "for reliability {{reliability}}: {{estimate}}",
  for_reliability_and_interval:
    "for reliability {{reliability}}: {{estimate}}; for an interval {{width}} wide: {{estimate_width}}",
  /** Follows the number of labels per person. */
  for_severity: "for reliability {{reliability}} of each person's severity: {{estimate}}",
  now: "Now: {{labels}} labels per text, reliability {{reliability}}.",
  now_interval: "Now: {{labels}} labels per text, reliability {{reliability}}, an interval {{width}} wide.",
  now_interval_levels:
    "Now: {{labels}} labels per text, reliability {{reliability}}, an interval {{width}} wide (levels).",
  /** Each value is a percentage. */
  why_labels_differ: "Why labels differ: {{text}} the text, {{person}} the person, {{rest}} the rest.",
  total: "Total",
  remaining: "Remaining",
  effort_labels: "Labels",
  effort_time: "Time at {{duration}} per label",
  effort_cost: "Cost at {{cost}} per label",
  stops_all: "The study can stop: every text has reached the target.",
  /** `texts` and `people` are the two messages below. */
  stops_some: "Enough labels already: {{texts}}, {{people}}.",
  stops_texts_one: "{{done, number}} of {{count, number}} text",
  stops_texts_other: "{{done, number}} of {{count, number}} texts",
  stops_people_one: "{{done, number}} of {{count, number}} person",
  stops_people_other: "{{done, number}} of {{count, number}} people",
  open_texts: "Texts that need the fewest more labels",
  open_interval: "interval {{width}}",
  /** Labels that a text still needs. */
  open_missing: "{{missing, number}} more",
  go_on: "Plan who is asked…",

  // Who is asked.
  who_title: "Plan a study: who is asked",
  who_text: "Choose who labels the texts of this project; each person gets a packet.",
  who_text_running:
    "Existing packets are unchanged: a plan adds what is missing, in one more packet for each person who gets texts.",
  questions: "Questions",
  format: "Packets as",
  format_file: "Files for Dissensus",
  format_file_hint: "for people who have this program",
  format_page: "Web pages",
  format_page_hint: "for any browser, without a network",
  format_locked_page: "Web pages with passphrases",
  format_locked_page_hint: "a list of them is written too",
  format_locked_file: "Encrypted files for Dissensus",
  format_locked_file_hint: "for people who have this program, with a passphrase",
  how_many: "How many labels does a text need?",
  per_text: "Labels per text",
  per_text_hint: "number of people who label each text",
  per_text_found_hint: "from your labels: for reliability {{reliability}} of “{{question}}”",
  per_text_found_hint_interval:
    "from your labels: for reliability {{reliability}} and an interval {{width}} wide of “{{question}}”",
  /** `count` is the number of labels per text in the end, with those that exist. */
  per_text_found_hint_reach_one:
    "from your labels: for reliability {{reliability}} of “{{question}}”, to reach {{count, number}} label per text",
  per_text_found_hint_reach_other:
    "from your labels: for reliability {{reliability}} of “{{question}}”, to reach {{count, number}} labels per text",
  per_text_found_hint_interval_reach_one:
    "from your labels: for reliability {{reliability}} and an interval {{width}} wide of “{{question}}”, to reach {{count, number}} label per text",
  per_text_found_hint_interval_reach_other:
    "from your labels: for reliability {{reliability}} and an interval {{width}} wide of “{{question}}”, to reach {{count, number}} labels per text",
  per_person: "Maximum texts per person",
  per_person_hint: "empty for no limit",
  anchors: "Texts for everybody",
  /** Anchors are texts that every person of the study labels. */
  anchors_hint: "anchors: they measure how far people agree",
  again: "Repeated texts",
  again_hint: "of each person’s texts: measures agreement with oneself",
  again_after: "Repeat after",
  /** The unit of the field “Repeat after”, with its hint below it. */
  again_after_unit: "other texts",
  again_after_hint: "at least",
  balance: "Balance by",
  /** Balance by no attribute of the people. */
  balance_nothing: "Nothing",
  balance_hint: "Give each text to people who differ in this",
  /** Opens more fields. */
  more: "More",
  seed: "Seed",
  seed_hint: "another number gives other texts and orders",
  correct_numbers: "Correct the numbers that are out of range.",
  nobody: "Enter names, or a number of unnamed people.",
  calculating: "Calculating…",
  /** A checkbox; `count` is the number of new people whose names are similar to existing ones. */
  confirm_others_one: "This is another person, although the name looks like an existing one",
  confirm_others_other: "These are other people, although their names look like an existing one",
  hand_out: "Hand out…",
  handing_out: "Handing out…",
  writing_packets: "Writing packets",
  choose_folder: "Folder for the packets",
  not_all_written:
    "The packets are in the project, but not every file was written: close this dialog and write the missing packets again from the table.",
  handed_out_one: "{{count, number}} packet handed out",
  handed_out_other: "{{count, number}} packets handed out",
  /** Followed by the path of a folder. */
  written_to: "Written to",
  give_files:
    "Give each person their file. They open it in Dissensus, and “Hand in” there writes the file that they return. Merge that file with “Merge submissions…”, or drop it on the window.",
  give_pages:
    "Give each person their file. They open it in a browser, without a network, and “Hand in” there writes the file that they return. Merge that file with “Merge submissions…”, or drop it on the window.",

  // The people of a plan.
  people: "People",
  people_selected_one: "{{chosen, number}} of {{count, number}} person of this study selected",
  people_selected_other: "{{chosen, number}} of {{count, number}} people of this study selected",
  /** Buttons that select all people, or those whose names match a search, or nobody of them. */
  people_all: "All",
  people_none: "None",
  people_all_found: "All found",
  people_none_found: "None found",
  people_search: "Search",
  people_search_name: "Search people",
  people_no_match: "No one in this study has a matching name.",
  names: "Names, one a line or separated by commas",
  names_further: "Further names, one a line or separated by commas",
  names_entered_one: "{{count, number}} name",
  names_entered_other: "{{count, number}} names",
  unnamed: "Unnamed people",
  /** The names are not translated. */
  unnamed_hint: "They are called person-1, person-2, …",

  // The result of a plan.
  /** Follows the number of answers: "30 answers" "about 10 texts". */
  answers_about_one: "about {{count, number}} text",
  answers_about_other: "about {{count, number}} texts",
  answers_about_anchors_one: "about {{count, number}} text, {{anchors, number}} of them for everybody",
  answers_about_anchors_other: "about {{count, number}} texts, {{anchors, number}} of them for everybody",
  nothing_to_hand_out: "Everybody already has the texts of this plan: there is nothing to hand out.",
  work_unknown: "The time cannot be estimated yet: too few answers have a time.",
  /** `time` is "3.5 hours" or "40 minutes". */
  work: "About {{time}} of work in total, at the speed so far.",
  column_person: "Person",
  column_texts: "Texts",
  column_texts_hint: "Texts for the first round",
  /** Texts for everybody. */
  column_anchors: "Everybody",
  column_anchors_hint: "Of these, texts for everybody",
  /** Texts that are asked again. */
  column_again: "Again",
  column_again_hint: "Texts for a second round",
  column_file: "File",
  /** Texts from before. */
  column_before: "Before",
  column_before_hint: "Texts that the person received or answered before",
  /** A person who is new in the study. */
  person_new: "new",
  /** Instead of a file, where the person gets no new texts. */
  no_file: "nothing new",

  // A pass mark: a sentence with two controls in it, in the places of its values.
  /** `share` is a choice among percentages, `then` a choice of what happens. */
  pass_mark_checks: "At least {{share}} of a person’s checks must be right; else {{then}}",
  pass_mark_practice: "At least {{share}} of the answers must be right; else {{then}}",
  pass_mark_share: "Required share of right answers",
  pass_mark_then: "If the pass mark is missed",
  /** Followed by "exactly" or "within 1 level". */
  pass_mark_ordered: "Ordered levels",
  pass_mark_ordered_name: "When an ordered level counts as right",
  pass_mark_exactly: "exactly",
  pass_mark_within_one: "within {{count, number}} level",
  pass_mark_within_other: "within {{count, number}} levels",

  // What annotators see.
  settings_title: "What annotators see",
  settings_text:
    "For everybody in this study. New packets have the limits too; packets never show others’ answers.",
  settings_reveal: "After an answer, show predictions and answers of others",
  settings_reveal_hint:
    "If off, the next text comes at once. Exports mark labels that were given after others' answers were shown.",
  settings_language: "Language of the desk",
  settings_language_own: "Each person's own",
  settings_language_own_hint: "of the system or the browser",
  settings_after_shown_one:
    "{{count, number}} label given after the person had seen others' answers about the text.",
  settings_after_shown_other:
    "{{count, number}} labels given after the person had seen others' answers about the text.",
  settings_consent: "Text that people agree to before they answer",
  settings_consent_hint:
    "Markdown. Everybody agrees once, and again after a change, which is a new version. New packets and pages have it, and exports name the version of each label.",
  settings_consent_version:
    "Version {{version, number}} is asked for; people who agreed to it: {{people, number}}",
  settings_consent_none: "Nobody is asked to agree to a text.",
  settings_consent_save: "Save as a new version",
  settings_consent_stop: "Ask nobody any more",
  settings_limit: "Hard texts per day and person, at most",
  settings_limit_hint:
    "After that many, labelling ends for the day. A text counts as hard by the prediction for the person, by their own answer, or by their flag; the person does not see which ones.",
  settings_strict: "Nobody can continue beyond the limit that day",
  settings_strict_hint: "If off, people can continue anyway and may choose their own limit.",
  /** The answers to a question from which on a text counts as hard. */
  settings_hard_by: "Hard by {{question}}",
  settings_hard_by_none: "Not by this question",
} as const;
