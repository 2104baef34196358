// Masking of names and addresses in texts that are handed out.
export default {
  // In the plan of a study.
  section: "Names and addresses in texts",
  open: "Mask names and addresses…",
  state_off: "Nothing is masked in texts that are handed out.",
  state_on_one: "{{count, number}} rule masks parts of the texts that are handed out.",
  state_on_other: "{{count, number}} rules mask parts of the texts that are handed out.",

  // The dialog.
  title: "Mask names and addresses",
  text: "Annotators see █ in place of each character that a rule finds. The project keeps the texts, and labels come back to them.",
  rules: "Rules",
  found: "What is found",
  email: "E-mail addresses",
  web: "Web addresses",
  user: "Names of users",
  user_hint: "@name and u/name",
  phone: "Phone numbers",
  account: "Account and card numbers",
  account_hint: "IBAN and payment cards, by their check digits",
  words: "Words of your own list",
  words_hint: "One word or name in each line.",
  exact: "Only with the same capitals",
  column: "Add the values of a column",
  pattern: "A regular expression",
  pattern_hint: "In the syntax of Rust's regex, such as \\bCase \\d+\\b",
  propose: "Propose names…",
  proposing: "Looking for names",
  proposed_text:
    "Words that have a capital inside of sentences and are never in small letters. Choose those that are names.",
  proposed_none: "No word looks like a name.",
  proposed_no_capitals:
    "Most letters of these texts are of a script without capitals, in which names cannot be proposed. Write a list.",
  add_one: "Add {{count, number}} word to the list",
  add_other: "Add {{count, number}} words to the list",
  not_masked:
    "What no rule finds is not masked: look at texts before you hand them out. Ids of texts, the guideline and reasons are handed out as they are.",
  handed_out_one: "{{count, number}} packet was handed out before and stays as it is.",
  handed_out_other: "{{count, number}} packets were handed out before and stay as they are.",

  // What is found.
  looking: "Looking through the texts",
  nothing_on: "No rule is on, so nothing is masked.",
  nothing_found: "These rules find nothing in {{texts, number}} texts.",
  nothing_matches: "No finding contains this.",
  counted_one: "{{count, number}} finding in {{texts, number}} of {{all, number}} texts is masked.",
  counted_other: "{{count, number}} findings in {{texts, number}} of {{all, number}} texts are masked.",
  excepted_one: "{{count, number}} finding stays as it is.",
  excepted_other: "{{count, number}} findings stay as they are.",
  whole_one: "{{count, number}} text is masked as a whole, such as {{ids}}.",
  whole_other: "{{count, number}} texts are masked as a whole, such as {{ids}}.",
  search: "Search the findings",
  /** How often something was found. */
  times: "{{count, number}} ×",
  leave: "Leave as it is",
  leave_name: "Leave “{{found}}” as it is",
  leave_here: "Only in {{id}}",
  leave_here_name: "Leave “{{found}}” as it is only in {{id}}",
  mask_again: "Mask again",
  mask_again_name: "Mask “{{found}}” again",
  more_one: "{{count, number}} more is not listed: search for it.",
  more_other: "{{count, number}} more are not listed: search for them.",
  /** Next to an answer of a person who saw the text with masks. */
  shown_masked: "saw the text masked",
  save: "Save",
  saved: "Saved. Texts are masked in what you hand out from now on.",
  saved_off: "Saved. Nothing is masked in what you hand out from now on.",
} as const;
