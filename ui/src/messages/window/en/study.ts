// The study: packets, submissions, agreement, right answers, and notes of people.
export default {
  // The view and its buttons.
  notes: "Notes…",
  plan: "Plan a study…",
  plan_more: "Plan more…",
  plan_hint: "Choose who labels what, and hand out packets",
  merge: "Merge submissions…",
  merge_hint: "Submissions, packets and copies of this project. You can also drop them here",
  merging: "Merging…",
  watch: "Watch a folder…",
  watch_hint: "Merge submissions as they appear in a folder",
  watch_hint_synchronised: "Merge what appears in a folder, such as one that a service synchronises",
  invite: "Invite people…",
  invite_hint: "Let people answer in their browsers, over a network",
  prepare: "Guideline, practice and checks",
  /** “Project” is the view of that name. */
  prepare_hint: "In Project, before you hand out",
  empty_title: "No packets yet",
  empty_text:
    "In a study, several people label the same texts, each on their own computer. Give each person a packet; they label it and hand in a file that you merge here. Nobody sees the answers of others.",
  /** What is loading. */
  waiting: "packets and submissions",
  progress_answers_one: "{{given, number}} of {{count, number}} answer in",
  progress_answers_other: "{{given, number}} of {{count, number}} answers in",
  progress_texts_one: "{{done, number}} of {{count, number}} text complete",
  progress_texts_other: "{{done, number}} of {{count, number}} texts complete",

  // The server on which people answer.
  serving_at: "Serving at {{address}}",
  serving_hint: "The links, and how to stop it",
  serving_ended: "Nobody can answer any more",
  new_answers_one: "{{count, number}} new answer",
  new_answers_other: "{{count, number}} new answers",
  server_stopped: "The server was stopped",
  server_stopped_text: "Nobody can answer by a link until you start it again.",
  links_written_one: "{{count, number}} link written to {{file}}",
  links_written_other: "{{count, number}} links written to {{file}}",

  // A watched folder. `watching` is followed by its path.
  watching: "Watching",
  watched_files_hint: "Each file",
  stop_watching: "Stop watching",
  choose_watched: "Folder with submissions",
  folder_merged_one: "{{count, number}} file merged",
  folder_merged_other: "{{count, number}} files merged",
  folder_refused_one: "{{count, number}} not merged",
  folder_refused_other: "{{count, number}} not merged",
  folder_waiting_one: "{{count, number}} not complete yet",
  folder_waiting_other: "{{count, number}} not complete yet",
  refused_file: "{{file}} was not merged",
  refused_files_one: "{{count, number}} file was not merged",
  refused_files_other: "{{count, number}} files were not merged",
  refused_because: "{{file}}: {{problem}}",

  // Packets that are written again.
  write_again: "Write the packet again",
  write_again_hint: "Write the packet again if it was lost: without answers; submitted answers are stored",
  write_again_of: "Write the packet of {{name}} again",
  choose_again: "Save the packet of {{name}}",
  written_again: "The packet was written again as {{file}}",
  written_again_many_one: "{{count, number}} packet was written again",
  written_again_many_other: "{{count, number}} packets were written again",

  // Agreement.
  too_few: "Too few labels",
  too_few_sentence: "Too few labels.",
  anchors: "Agreement on texts for everybody",
  anchors_hint: "How often two people gave the same answer to the same text",
  anchors_missing: "No text is for everybody: plan some to measure agreement.",
  anchors_few_one: "{{count, number}} text for everybody must have answers by two or more people.",
  anchors_few_other: "{{count, number}} texts for everybody must have answers by two or more people.",
  again: "Agreement with oneself",
  again_hint: "How often the answer was the same when a text was repeated, over all people",
  again_missing: "No text was answered twice yet: a plan sets the number of repeated texts.",
  again_few_one: "{{needed, number}} texts must be answered twice, {{count, number}} is so far.",
  again_few_other: "{{needed, number}} texts must be answered twice, {{count, number}} are so far.",
  /** `confidence` is "95 %", `interval` is "62–79 %". */
  figure_anchors_one: "{{confidence}} interval {{interval}}, over {{count, number}} text",
  figure_anchors_other: "{{confidence}} interval {{interval}}, over {{count, number}} texts",
  figure_again_one: "{{confidence}} interval {{interval}}, over {{count, number}} answer asked again",
  figure_again_other: "{{confidence}} interval {{interval}}, over {{count, number}} answers asked again",
  /** "Agreement with others: 71 %, 95 % interval 62–79 %, over 12 texts" */
  figure_in_words: "{{figure}}: {{share}}, {{interval}}",

  // What to look after. `texts` is "4 texts"; `count` is for how many people a text was planned.
  short_texts_one:
    "{{texts}} handed out to fewer than {{count, number}} person, for example because somebody withdrew.",
  short_texts_other:
    "{{texts}} handed out to fewer than {{count, number}} people, for example because somebody withdrew.",
  /** `button` is what the button for planning says; `people` is how many people a text is given to. */
  short_texts_remedy: "“{{button}}” with {{people, number}} per text assigns them to others.",
  earlier_one: "{{count, number}} packet is handed out before later changes: {{names}}",
  earlier_other: "{{count, number}} packets are handed out before later changes: {{names}}",
  earlier_text:
    "To update a person's packet, write it again (in the row of the person below); answers in both are merged. Checks are added by the next plan.",
  after_shown_one: "{{count, number}} label given after the person had seen others' answers about the text.",
  after_shown_other:
    "{{count, number}} labels given after the person had seen others' answers about the text.",

  // The table of people: each column, and what it means.
  table: "People of the study",
  people: "People",
  column_name: "Person",
  column_name_hint: "Name",
  column_done: "Progress",
  column_done_hint: "Answered share of the texts handed out, including repeated texts",
  column_packets: "Packets",
  column_packets_hint: "Packets handed out to this person",
  column_handed_in: "Submitted",
  column_handed_in_hint: "Last time a submission of this person was merged",
  column_seconds: "Time",
  column_seconds_hint: "Median time that an answer took",
  column_others: "With others",
  column_others_hint: "On texts for everybody: how often others gave the same answer as this person",
  column_self: "With self",
  column_self_hint: "On repeated texts: how often the answer was the same",
  column_checks: "Checks",
  column_checks_hint: "How often attention checks were answered right",
  column_practice: "Practice",
  column_practice_hint: "Result of the practice before the texts",
  /** Texts that a person has answered, of all that were handed out to them. */
  given_of_wanted: "{{given, number}} of {{wanted, number}}",
  /** A number of texts that a person excludes by their topic. */
  left_out_one: "{{count, number}} left out",
  left_out_other: "{{count, number}} left out",
  left_out_hint_one: "{{name}} excludes {{count, number}} text by topic",
  left_out_hint_other: "{{name}} excludes {{count, number}} texts by topic",
  not_handed_in: "not yet",
  with_others: "Agreement with others",
  with_self: "Agreement with self",
  checks_right: "Attention checks right",
  checks_below: "Below the pass mark",
  /** A person's result of the attention checks. */
  check_status_unfinished: "not yet",
  check_status_passed: "passed",
  check_status_failed: "failed",
  /** A person's result of the practice. */
  practice_status_unfinished: "unfinished",
  practice_status_passed: "passed",
  practice_status_failed: "not passed",
  practice_not_begun: "not begun",
  practice_result: "{{status}}, {{right, number}} of {{of, number}} right",
  practice_result_round: "{{status}}, {{right, number}} of {{of, number}} right, round {{round, number}}",
  /** The same in a narrow cell: "passed 4/5" */
  practice_result_short: "{{status}} {{right, number}}/{{of, number}}",

  // Right answers, of attention checks and of practice texts.
  right_answer_text: "Text, by its id",
  right_answer_why: "Why",
  right_answer_add: "Add",
  right_answer_other: "No question has single-level answers: set right answers with the command {{command}}.",
  right_of: "{{right, number}} of {{of, number}} right",
  // What happens to those who miss a pass mark. Before it: “At least 75 % of the answers must be right; else”
  after_go_on: "they continue",
  after_go_on_hint: "their labels are stored and marked",
  after_practise: "they practise again",
  after_practise_hint: "in another order, until it is reached",
  after_practise_checks_hint: "where there is a practice round",
  after_stop: "they get no more texts",
  after_stop_hint: "their answers are stored",

  // Attention checks.
  checks_title: "Attention checks",
  checks_text:
    "Texts with a right answer that you know. Every packet contains them, mixed with its other texts. The right answers are stored only in this project, and every label is stored.",
  checks_why: "Reason (only for you)",
  /** What is loading. */
  checks_waiting: "the attention checks",
  checks_none:
    "No attention checks yet. A few per person show who still reads the texts; the table of the study then shows how often each person was right.",
  checks_counted: "How many people gave the right answer",
  checks_doubted: "Most people gave another answer: the check itself may be wrong",
  checks_remove_hint: "Remove the check; labels are stored",
  checks_remove: "{{id}} is no longer a check",
  checks_mark: "A pass mark",

  // Practice.
  practice_text:
    "Texts that everybody answers first, each followed by the right answer and the reason. Practice answers are not labels, and these texts are not asked again.",
  practice_why: "Reason (shown after the answer)",
  /** What is loading. */
  practice_waiting: "what is practised on",
  practice_none:
    "No practice texts yet. Five to ten borderline texts of the guideline are enough. They are no longer asked as ordinary texts.",
  practice_counted: "How many people were right at the first attempt",
  practice_doubted: "Most people gave another answer: the right answer itself may be wrong",
  practice_remove_hint: "Remove from practice",
  practice_remove: "Remove {{id}} from practice",
  practised_one: "{{count, number}} person practised",
  practised_other: "{{count, number}} people practised",

  // Notes and flags.
  remarks_title: "Notes and flags",
  remarks_search: "Search notes, reasons and texts",
  remarks_flagged: "Flagged only",
  remarks_found_one: "{{count, number}} entry, each by one person on one text",
  remarks_found_other: "{{count, number}} entries, each by one person on one text",
  remarks_no_match: "No matching entries.",
  /** N and F are keys of the keyboard; “Questions, Change” is where to find it. */
  remarks_none:
    "No notes yet. While labelling, N writes a note and F flags a text; a question can offer reasons and ask how sure people are (Questions, Change).",
  remark_again: "asked again",
  remark_no_answer: "no answer",
  /** The number of the guideline's version that was on screen. */
  remark_guideline: "guideline {{version, number}}",

  // Merging files: what came of it. `what` is one of the next messages.
  merged_title: "Merged",
  nothing_new: "no new data",
  new_data_one: "{{count, number}} answer or change new",
  new_data_other: "{{count, number}} answers and changes new",
  merged_file: "The file was merged: {{what}}.",
  merged_all_one: "All {{count, number}} file was merged: {{what}}.",
  merged_all_other: "All {{count, number}} files were merged: {{what}}.",
  /** `count` of `all` files; `all` is at least 2. */
  merged_some_one: "{{count, number}} of {{all, number}} files was merged: {{what}}.",
  merged_some_other: "{{count, number}} of {{all, number}} files were merged: {{what}}.",
  merged_no_file: "The file was not merged.",
  merged_no_files: "None of the files was merged.",
  // One file.
  file_refused: "not merged",
  file_nothing_new: "nothing new",
  /** Answers and changes. */
  file_new_one: "{{count, number}} new",
  file_new_other: "{{count, number}} new",
  /** Whose file it is. */
  file_of: "of {{name}}",
  file_packet: "packet",
  file_hand_in: "handed in",
  /** `when` is "2 days ago", or a date. */
  file_hand_in_when: "handed in {{when}}",
  file_copy: "copy of the project",
  file_withdrawn_one: "{{count, number}} person had withdrawn there: all their data was erased here too.",
  file_withdrawn_other: "{{count, number}} people had withdrawn there: all their data was erased here too.",
  contradictions_one:
    "{{count, number}} pair of different answers by one person in two copies. Both are stored, and the later one counts:",
  contradictions_other:
    "{{count, number}} pairs of different answers by one person in two copies. Both are stored, and the later one counts:",
  contradiction: "{{person}}, {{text}}, {{question}}: {{answers}}",
  contradiction_answer: "{{answer}} ({{time}})",
  contradiction_answer_counts: "{{answer}} ({{time}}, counts)",
  texts_changed_one: "{{count, number}} text with another group, split or metadata, set later in the copy.",
  texts_changed_other:
    "{{count, number}} texts with another group, split or metadata, set later in the copy.",
  splits_changed: "Moved to another part of the split:",
  split_changed: "{{text}}: {{now}}, previously {{was}}",
  /** No part of the split. */
  split_none: "none",
  /** Followed by the path of a file. */
  backup: "The project before the merge:",
  backup_withdrawn:
    "It still contains the data of those who withdrew: delete it once you have confirmed the withdrawal.",
  /** Between names or answers that may have commas in them. */
  separator: "; ",
  open_first: "Open the project first",
  open_first_text: "Submissions are merged in the project that created the packets.",

  // Before whole copies of the project are merged.
  ask_changes: "This changes the project",
  ask_copy: "Merge a whole copy?",
  ask_copies: "Merge whole copies?",
  ask_unknown: "A whole copy can contain answers by anybody. Merge it only if you know who worked in it.",
  ask_nothing_merged: "Nothing was merged yet.",
  ask_backup:
    "The project is first copied to a file next to it. That file lets you go back; it also contains everything that is erased here until you delete it.",
  ask_no: "Do not merge",
  ask_merge: "Merge",
  ask_copy_then_merge: "Copy the project, then merge",
  added: "Added",
  added_answers_one: "{{count, number}} answer of {{people}}",
  added_answers_other: "{{count, number}} answers of {{people}}",
  /** A person and the number of their answers. */
  added_person: "{{name}} ({{answers, number}})",
  added_people_one: "{{count, number}} person who is new here: {{names}}",
  added_people_other: "{{count, number}} people who are new here: {{names}}",
  added_texts_one: "{{count, number}} text new here",
  added_texts_other: "{{count, number}} texts new here",
  added_questions_one: "{{count, number}} question new here: {{names}}",
  added_questions_other: "{{count, number}} questions new here: {{names}}",
  // What changes; “there” is the copy, “here” is the project.
  changed: "Changed",
  change_named: "{{change}}: {{names}}",
  /** There are more than these names. */
  change_named_more: "{{change}}: {{names}}, …",
  change_erased_one: "{{count, number}} person withdrew there: all their data is erased here too",
  change_erased_other: "{{count, number}} people withdrew there: all their data is erased here too",
  change_withdrawn_one: "{{count, number}} person withdrew there and cannot be added here any more",
  change_withdrawn_other: "{{count, number}} people withdrew there and cannot be added here any more",
  change_withdrawn_traces_one: "{{count, number}} name or packet here belongs to people who withdrew",
  change_withdrawn_traces_other: "{{count, number}} names and packets here belong to people who withdrew",
  change_answers_one: "{{count, number}} answer that counts now is replaced or undone",
  change_answers_other: "{{count, number}} answers that count now are replaced or undone",
  change_repeated_answers_one:
    "{{count, number}} answer of later annotation rounds undone, counted again or given a note",
  change_repeated_answers_other:
    "{{count, number}} answers of later annotation rounds undone, counted again or given a note",
  change_people_one: "Other name or attributes of {{count, number}} person",
  change_people_other: "Other name or attributes of {{count, number}} people",
  change_questions_one: "Other text, help, levels or condition of {{count, number}} question",
  change_questions_other: "Other text, help, levels or condition of {{count, number}} questions",
  change_texts_one: "{{count, number}} text with another group, split or metadata",
  change_texts_other: "{{count, number}} texts with another group, split or metadata",
  change_guideline_one: "{{count, number}} version of the guideline: the newest is current",
  change_guideline_other: "{{count, number}} versions of the guideline: the newest is current",
  change_decisions_one: "{{count, number}} decision about texts: the latest is current",
  change_decisions_other: "{{count, number}} decisions about texts: the latest is current",
  change_attention_checks_one: "{{count, number}} attention check with a right answer from there",
  change_attention_checks_other: "{{count, number}} attention checks with a right answer from there",
  change_study_settings_one: "{{count, number}} setting of the study from there",
  change_study_settings_other: "{{count, number}} settings of the study from there",
  change_panels_one: "{{count, number}} saved panel from there",
  change_panels_other: "{{count, number}} saved panels from there",

  // What a plan comes to.
  looks_like: "looks like “{{name}}”",
  looks_withdrawn: "looks like somebody who has withdrawn",
  hours_one: "{{count, number}} hour",
  hours_other: "{{count, number}} hours",
  margin_none: "No text goes to two people of this study, so disagreement cannot be measured.",
  /** `points` is a number such as 4.2; `confidence` is "95 %". */
  margin:
    "The share of pairs of people who differ will be known to within {{points}} percentage points at worst ({{confidence}}).",
  margin_self:
    "How often one person repeats an answer will be known to within {{points}} percentage points at worst ({{confidence}}).",

  // What can come of talking about a text on which people disagree.
  outcome_real_difference: "A real difference",
  outcome_real_difference_hint: "People see it differently: all labels stay valid.",
  outcome_ambiguous: "The text is ambiguous",
  outcome_ambiguous_hint: "It can be read in several ways.",
  outcome_guideline_gap: "The guideline has a gap",
  outcome_guideline_gap_hint: "It does not say what to answer here.",
  outcome_slip: "A slip",
  outcome_slip_hint: "A label is not what its author intended.",
  // The same after a colon: “Decided: a slip”
  decided_real_difference: "a real difference",
  decided_ambiguous: "the text is ambiguous",
  decided_guideline_gap: "the guideline has a gap",
  decided_slip: "a slip",
  decided_reopened: "open again",
} as const;
