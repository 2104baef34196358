// The desk on which texts are labelled.
export default {
  // Used in several places; some are followed by a key of the keyboard.
  go_on: "Go on",
  go_back: "Go back",
  open_list: "Open the list",
  start_labelling: "Start labelling",

  // The text that people agree to, before anything else.
  consent_title: "Before you begin",
  consent_text:
    "Please read this. The study stores that you agreed to it (version {{version, number}}), and when.",
  consent_otherwise: "If you do not agree, close this without answering.",
  consent_agree: "I agree",

  // Questions about the person, before the first text. The title is followed by the name.
  about_title: "About you:",
  about_text: "The study asks this once and stores it with your answers. You do not have to answer.",
  about_missing: "Not answered yet. “{{choice}}” is an answer too.",
  about_optional: "can be passed over",
  about_decline_all: "Prefer not to say anything",

  // Breaks.
  break: "Break",
  break_title: "A break",
  break_text: "All labels are saved. The text is hidden until you continue.",
  break_due_one: "You have been labelling for {{count, number}} minute.",
  break_due_other: "You have been labelling for {{count, number}} minutes.",
  break_take: "Take a break",
  break_not_now: "Not now",

  // What a study gives at the end. The code follows.
  completion_link: "Finish",
  completion_code: "Your code:",

  // Tools of the desk.
  flag: "Flag",
  note: "Note",
  note_hint: "Write a note about the answer",
  stop: "Stop here",
  stop_hint: "Stop here: everything is saved",
  stop_hint_key: "Stop here ({{key}}): everything is saved",

  // The daily limit of hard texts.
  finished_title: "Finished for today",
  finished_limit: "You have reached today's limit of hard texts.",
  finished_labelled_one: "You labelled {{count, number}} text today, and everything is saved.",
  finished_labelled_other: "You labelled {{count, number}} texts today, and everything is saved.",
  finished_saved: "Everything is saved.",
  finished_tomorrow: "You can continue tomorrow.",
  finished_go_on: "Go on anyway",

  // The guideline.
  guideline: "Guideline",
  guideline_toggle_hint: "Show or hide the guideline",
  guideline_new: "New",
  guideline_write: "Write a guideline",
  guideline_write_short: "Guideline…",
  guideline_write_hint: "Write a guideline for annotators, shown next to the text",
  guideline_width: "Width of the guideline",
  guideline_version: "Version {{version}}",
  guideline_edit: "Change the guideline",
  guideline_edit_hint: "Edit the guideline and see its versions",
  guideline_close: "Close the guideline",
  guideline_close_hint: "Close (G or Esc)",
  guideline_changed_title: "What changed",

  // Who labels. `label_as` is followed by the name.
  label_as: "Label as",
  label_as_name: "Label as: {{name}}",
  who_title: "Who is labelling?",
  who_text: "Labels and models are separate for each person.",
  who_name: "Your name",
  who_add: "Add “{{name}}” and start",
  who_ask_new: "New person “{{name}}”?",
  who_ask_answer: "That looks like an answer, not a name.",
  who_another_name: "Another name",
  who_add_confirmed: "Add and start",
  who_added: "“{{name}}” was added",
  who_remove_again: "Remove again",
  who_imported: "{{name}} was imported from a file: you would label as that person.",
  who_or_somebody: "Or label as someone in the project:",
  who_found: "In the project:",
  who_more_one: "{{count, number}} more: type to narrow",
  who_more_other: "{{count, number}} more: type to narrow",
  who_nobody: "Nobody has that name yet.",
  who_show_imported: "Show imported people ({{count, number}})",
  who_show_imported_hint: "People who were imported from a file and have not labelled here",

  // The order of texts, each with a hint.
  order: "Order",
  order_file: "As in the file",
  order_file_hint: "one after the other",
  order_random: "Random",
  order_random_hint: "the same order each time",
  order_informative: "Most informative",
  order_informative_hint: "what your model would learn most from",
  order_disagreement: "Most disagreement",
  order_disagreement_hint: "where people should differ most",

  // Which question, or questions, are asked.
  question: "Question",
  questions: "Questions",
  questions_hint: "Choose the questions on the screen, and change them",
  questions_on_screen_one: "{{count, number}} on one screen",
  questions_on_screen_other: "{{count, number}} on one screen",

  // A project that is open to read.
  read_only_title: "Open read-only",
  read_only_text:
    "You cannot label. The other views show the project, including changes that others make to it.",
  read_only_look: "Look at the texts",
  read_only_write: "Open to write",

  /** What is loading. */
  next_text: "the next text",

  // No text is left.
  all_answered: "All texts are answered",
  all_answered_text: "Change an answer, undo the last one with U, or see where people disagree.",
  all_answered_packet: "You have answered everything",
  no_other_text: "No other text to label",
  texts_left_one: "{{count, number}} text without your answer.",
  texts_left_other: "{{count, number}} texts without your answer.",
  answers_are_sent:
    "Your answers are sent as you give them. You can still change them, also if you come back later.",
  answers_to_send: "Nothing is sent yet: hand in to send your answers to {{host}}.",
  answers_to_hand_in:
    "Hand in writes one file that you send to the person who gave you this packet. Until then you can change your answers.",
  file_made:
    "The file with your answers was made {{when}}. Send it to the person who gave you this packet, if you have not yet. You can still change your answers and hand in again.",
  answers_sent: "Your answers were sent {{when}}. You can still change them, and send them again.",
  see_findings: "See the findings",
  load_failed_title: "The next text could not be loaded",
  load_failed_text: "The notice below describes what went wrong.",

  // What happened.
  back_at_skipped: "Back at the skipped text",
  undone: "Label “{{answer}}” undone",
  undone_again: "The label is “{{answer}}” again.",
  nothing_to_undo: "Nothing to undo",
  labelled: "Labelled {{answer}}",
  kept: "Kept: {{answer}}",
  /** Announced in place of the text itself, which can be long. */
  text_next: "Next: text {{at, number}} of {{total, number}}",
  not_answered_title: "Not answered yet.",
  /** How an answer is given: "Press 1 to 5". */
  not_answered_how: "{{how}}.",
  /** `key` is a key of the keyboard, or the name of the button. */
  not_answered_skip: "{{key}} moves the text to the end.",

  // Notes: reasons, confidence, text.
  note_reasons: "Reasons",
  note_sure: "How sure are you?",
  note_sure_short: "How sure?",
  note_placeholder: "A note about this text",
  // Each is followed by keys of the keyboard.
  note_save: "Save and return to the answer:",
  note_new_line: "New line:",

  // The header of a packet. `packet_person` is followed by the name.
  packet_person: "Annotator:",
  packet_saved: "Answers are saved as you give them",
  packet_sent: "Answers are saved and sent as you give them",
  packet_hand_in_hint: "Write your answers to one file. You can continue afterwards and hand in again",

  // Progress. Each of the short words follows a number, which is not in the message.
  progress: "Texts labelled",
  progress_of: "of {{total, number}}",
  progress_today: "today",
  progress_skipped_one: "skipped",
  progress_skipped_other: "skipped",
  progress_skipped_hint: "List the skipped texts",
  progress_flagged_one: "flagged",
  progress_flagged_other: "flagged",
  progress_flagged_hint: "List the flagged texts",
  progress_left_out_one: "left out",
  progress_left_out_other: "left out",
  progress_left_out_hint: "Texts on topics that you exclude",

  // The question and its answer.
  answer: "Answer",
  answer_to: "Answer: {{question}}",
  cannot_say: "Cannot say",
  cannot_say_hint: "The text counts as answered; figures exclude the answer",
  help: "Help",
  help_levels: "What the levels mean",
  not_asked: "Not asked about this text.",
  /** Of a question with one level as its answer. */
  not_asked_unless_is: "Not asked about this text: it is asked only if {{question}} is {{answers}}.",
  /** Of a question with options, or marks, as its answer. */
  not_asked_unless_has: "Not asked about this text: it is asked only if {{question}} has {{answers}}.",
  answer_stored: "Your answer “{{answer}}” is stored.",
  row_not_submitted: "not submitted: {{answer}}",
  row_not_answered: "not answered",
  row_not_asked: "not asked here; “{{answer}}” is stored",

  // The text.
  text: "Text to label",
  undrawn_title: "Part of this text cannot be displayed:",
  undrawn_text: "{{scripts}}. Skip the text, and install a font for the script.",
  undrawn_emoji: "emoji",
  undrawn_other: "other signs",
  undrawn_script_one: "{{script}} ({{count, number}} sign)",
  undrawn_script_other: "{{script}} ({{count, number}} signs)",
  /** Followed by a key of the keyboard. */
  text_hold: "Hold to read",
  text_more: "more below",
  text_random: "random",
  text_random_hint: "Drawn at random instead of by the chosen order, so that figures stay unbiased.",
  text_skipped: "skipped before",
} as const;
