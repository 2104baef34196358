// The settings of the application, and the dialog with its keys.
export default {
  /** Of the language or the appearance: as the operating system has it. */
  like_system: "Like the system",
  appearance: "Appearance",
  light: "Light",
  dark: "Dark",
  text_size: "Size of the text being labelled",
  text_size_short: "Text size",
  zoom: "Size of the window’s contents",
  zoom_short: "Zoom",
  keys: "Keys",
  keys_change: "Change keys…",
  letters: "Shortcuts of a single letter",
  letters_hint:
    "If off, single letters and symbols do nothing; buttons, Ctrl shortcuts and the digits of levels still work.",
  random: "Share of random texts in smart ordering",
  random_hint: "Texts drawn at random keep figures about the models unbiased.",
  encoder: "Encoder",
  encoder_none: "none on this computer",
  encoder_details: "Details…",
  encoder_compare: "Compare…",
  /** On which models are computed: CPU or GPU. */
  device: "Device",
  version: "Version",
  typeface: "Typeface",

  // One key. “key” is a key of the keyboard.
  key_change: "{{action}}: {{key}}. Change",
  key_change_none: "{{action}}: no key. Change",
  key_press: "Press a key…",
  /** Instead of a key. */
  key_none: "none",
  /** A button: the action gets back the key that it had at first. */
  key_default: "Default",
  key_how: "Esc cancels, Backspace removes the key.",
  key_taken: "{{key}} is “{{action}}”.",
  key_reassign: "Reassign it",
  key_keep: "Cancel",
  refused_fixed: "{{key}} is used for answers, movement or editing and cannot be changed.",
  refused_unsuitable: "{{key}} cannot be a shortcut.",
  /** `mod` is the key Ctrl, or ⌘ on a Mac. */
  refused_needs_mod: "Hold {{mod}} with it: single letters are for actions of the view.",
  /** `mod` is the key Ctrl, or ⌘ on a Mac. */
  refused_without_mod: "Press it without {{mod}}.",

  // The list of keys.
  keys_text:
    "To change a key, press its button, then the new key. Single letters can be switched off in Settings.",
  keys_close: "Close what is open",
  keys_all: "Show all shortcuts",
  keys_reset: "Reset all shortcuts",
  keys_in_packet: "In this packet",
  keys_without: "Without a default key",

  // The groups of the list, by view, and what keys do there. Names of keys are as printed on the keyboard.
  keys_answer: "Label: answer, then Enter",
  keys_answer_level: "Answers with a level; 0 is the tenth; the same digit again goes on",
  keys_answer_enter:
    "Submits selected options and marks. If already answered, goes to the next unanswered question, then to the next text. Without an answer, it stays and shows a message",

  keys_label_next: "Next text, without answering",
  keys_label_previous: "Previous text",
  keys_label_none: "Several options: none applies",
  keys_label_option: "Several options: next, previous; the space bar selects it",
  keys_label_find: "More than twelve options: finds one by name; Enter selects it",
  keys_label_letter: "Several options: next option that begins with the letter",
  keys_label_undo: "Undo your last label",
  keys_label_skip: "Skip: the text comes again at the end",
  keys_label_flag: "Flag for a second look",
  keys_label_note: "Write a note; Esc ends it",
  keys_label_reason: "Choose a reason, if the question offers some",
  keys_label_sure: "Answer how sure you are, if the question asks",
  keys_label_look: "Hold to unblur the text",
  keys_label_scroll: "Scroll a long text",

  keys_several: "Label: several questions on one screen",
  keys_several_tab: "Next or previous unanswered question; in a text with marks, first from mark to mark",
  keys_several_undo: "Undo your last label, whichever question it answers",
  keys_several_skip: "Skip the unanswered questions of the text",

  keys_spans: "Label: spans in a text",
  keys_spans_word:
    "In the text: previous word, next word; with Ctrl by character (reversed without “Snap to words”)",
  keys_spans_line: "Line above, below; ↓ also enters the text",
  keys_spans_ends: "Start and end of the line; with Ctrl of the text",
  keys_spans_select: "With these keys or a click: extends the selection",
  keys_spans_mark:
    "Marks the selection or the word at the caret with this type; changes a selected mark; otherwise sets the type of the next mark",
  keys_spans_space: "The same with the selected type",
  keys_spans_type: "Previous type, next type",
  keys_spans_tab: "Next mark, previous mark",
  keys_spans_remove: "Removes the selected mark or the one at the caret",
  keys_spans_undo: "Undoes or redoes a change to the marks; U also undoes marks first",
  keys_spans_escape:
    "Deselects the mark, then the selection, then leaves the text; the arrows then move between texts",
  keys_spans_drag: "While dragging: marks characters instead of words",

  keys_texts: "Text above, below",
  keys_texts_search: "Search",
  keys_texts_back: "Back to all texts from groups, a panel or a correlation",

  keys_people: "People: annotators",
  keys_people_table: "Person above, below in the table",
  keys_people_map: "On the map: nearest person in that direction",

  keys_runs: "Run above, below",
  keys_runs_choose: "Choose the run for a comparison",
  keys_runs_new: "New run",
  keys_runs_curve: "On a curve: previous, next evaluation",
} as const;
