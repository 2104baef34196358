// The list of texts, where it shows more than a packet's, and the summary of one text.
export default {
  no_texts: "No texts yet",
  no_texts_text:
    "Import a CSV or JSONL file: texts alone or with labels. You can also paste rows of a spreadsheet.",
  import: "Import a file",

  filter_labelled: "Labelled",
  filter_labelled_what: "Texts with a label",
  filter_labelled_none: "No text has a label yet.",
  filter_not_yet_what: "Texts without a label",
  filter_skipped_what: "Texts that somebody has skipped",
  filter_flagged_what: "Texts that somebody has marked for a second look",
  filter_noted_what: "Texts with a note, a reason or a confidence of somebody",
  /** Labels of people differ. */
  filter_contested: "Contested",
  filter_contested_what: "Texts on which labels differ",
  filter_contested_none: "Labels do not differ on any text.",
  filter_contested_own_what: "Texts that you have answered and on which labels differ",
  filter_contested_own_none:
    "Labels do not differ on any text that you have answered. Other texts are shown after you answer them.",
  filter_long: "Long",
  filter_long_what: "Texts longer than the encoder reads at once",
  filter_long_none: "No text is longer than the encoder reads at once.",
  sort_contested: "Most contested",
  sort_contested_hint: "where labels differ most",

  head_answers: "Answers",
  head_differ: "Labels differ",
  /** Said before a percentage. */
  differ: "labels differ",
  answered: "answered",
  /** The name of a sign for a long text. */
  long: "long",
  long_hint: "Longer than the encoder reads at once",
  /** What is waited for. */
  waiting_long: "which texts are long",
  get_encoder: "Get the encoder…",
  /** After a key of the keyboard. */
  key_findings: "to Findings",
  remove: "Remove…",
  remove_hint: "Remove a text that was added by mistake",

  // The summary. `answers` is such as “3 × no, 1 × yes”.
  unlabelled: "Nobody has labelled this text: all figures are predictions.",
  labelled_one: "{{count, number}} person labelled it: {{answers}}.",
  labelled_other: "{{count, number}} people labelled it: {{answers}}.",
  /** “Split” is a measure from 0 to 1. */
  split: "If all {{people, number}} answered: split {{split}} (0 none, 1 half at each end).",
  split_camps:
    "If all {{people, number}} answered: split {{split}} (0 none, 1 half at each end), in two camps.",
  between: "{{share}} of the expected spread is between people.",
  /** `gaps` are some of the next message. */
  against_others: "{{gaps}} against the others.",
  gap: "{{group}} answer {{gap}} levels",
  no_group: "No group differs clearly.",
  severity_strict:
    "The strict half of the people answers {{gap}} levels against the lenient half ({{confidence}} interval {{low}} to {{high}}; {{labels, number}} and {{others, number}} labels): severity explains the answers here.",
  severity_lenient:
    "The lenient half of the people answers {{gap}} levels against the strict half ({{confidence}} interval {{low}} to {{high}}; {{labels, number}} and {{others, number}} labels): severity explains the answers here.",
  side_strict: "the strict",
  side_lenient: "the lenient",
} as const;
