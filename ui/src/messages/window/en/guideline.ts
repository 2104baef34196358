// The guideline for annotators: writing it, its versions, and agreement under each.
export default {
  text: "The instructions for annotators. They are shown next to the text, and every label records the version that was on screen.",
  tab_write: "Write",
  tab_versions: "Versions",
  tab_agreement: "Agreement",
  cancel: "Cancel",
  save: "Save as version {{version}}",
  saving: "Saving…",
  saved: "Version {{version}} of the guideline is now current",

  // What is missing before it can be saved.
  missing_text: "Nothing has been written yet",
  missing_room_one: "{{count, number}} character too many",
  missing_room_other: "{{count, number}} characters too many",
  missing_difference: "Version {{version}} has the same text",
  missing_change: "Describe what changed",

  // Writing it.
  body: "Guideline, in Markdown",
  /** An example in Markdown: keep its signs and line breaks. */
  body_example:
    "# What to look for\n\nWrite the rules for annotators. **Bold**, *italic*, lists and tables are written in Markdown.",
  add_picture: "Add a picture…",
  add_picture_hint: "PNG, JPEG, GIF or WebP, stored in the project. You can also drop pictures here",
  no_picture: "Only pictures can be added: PNG, JPEG, GIF or WebP",
  from_file: "Start from a file…",
  from_file_hint: "A text file in Markdown",
  file_too_large: "“{{file}}” is larger than 1 MiB, the limit of a guideline.",
  file_not_text: "“{{file}}” is not UTF-8 text: save it as UTF-8 and try again.",
  pane_second: "Second pane",
  pane_text: "Text",
  pane_preview: "Preview",
  preview_empty: "The preview appears here.",
  since_version: "Since version {{version}}",
  change_hint: "What changed, in one line; everybody sees it",
  by: "Written by",

  // Somebody else has saved a version meanwhile. `change` is what they say about it.
  outdated: "Version {{version}} was saved in the meantime.",
  outdated_change: "Version {{version}} was saved in the meantime: {{change}}.",
  outdated_by: "Version {{version}} was saved in the meantime by {{name}}.",
  outdated_by_change: "Version {{version}} was saved in the meantime by {{name}}: {{change}}.",
  outdated_kept: "Your text is still here, and not saved yet.",
  outdated_show: "Show the other version",
  outdated_copy:
    "Copy what you need from version {{version}}: once saved, your version replaces it as the current one.",

  // Versions.
  versions_loading: "Reading…",
  shown_as: "How it is shown",
  shown_whole: "Whole",
  start_from: "Start a new version from this one",
  discard: "Discard your text?",
  discard_no: "Keep it",
  diff_same: "Nothing changed.",
  diff_unchanged_one: "{{count, number}} line unchanged",
  diff_unchanged_other: "{{count, number}} lines unchanged",

  // Agreement under each version, of each question.
  agreement_loading: "Counting…",
  agreement_none: "There are no labels yet.",
  agreement_care:
    "Versions were used on different texts and often by different people, so a difference between two versions need not be due to the guideline. Intervals generalise to people like these; with fewer than five people, they are for these people only.",
  agreement_version: "Version",
  /** The version of labels that were given without a guideline. */
  agreement_no_version: "None on screen",
  agreement_labels: "Labels",
  agreement_texts: "Texts with two labels or more",
  agreement_alpha: "Agreement (alpha)",
  agreement_alpha_hint: "Krippendorff’s alpha: 1 is full agreement, 0 is what chance would give",
  agreement_interval: "{{confidence}} interval",
  agreement_too_few: "too few labels",
  agreement_people_like:
    "{{version}}: alpha {{alpha}}, {{confidence}} interval {{low}} to {{high}}, for people like these",
  agreement_people_these:
    "{{version}}: alpha {{alpha}}, {{confidence}} interval {{low}} to {{high}}, for these people",
} as const;
