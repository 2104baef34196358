// Care for the person who labels: its settings, and the page after “Stop here”.
export default {
  title: "Care",

  blur: "Blur each text until {{key}} is held",
  blur_without_key: "Blur each text until its key is held",
  blur_hint: "For texts that you do not want on screen all the time.",
  grey: "Texts and pictures without colour",
  grey_hint: "Reduces the impact of colours, emoji and pictures.",
  grey_by_study: "The study asks for it.",

  break: "Break reminder",
  break_never: "Never",
  break_after_one: "After {{count, number}} minute",
  break_after_other: "After {{count, number}} minutes",

  loading: "Reading…",
  limit: "Hard texts per day, at most",
  limit_fault: "A whole number, 1 or more, or empty",
  limit_hint: "Labelling then ends for the day; you can continue anyway.",
  limit_hint_of_study: "The study sets {{limit, number}} and you can continue.",
  limit_hint_strict: "The study sets {{limit, number}} and labelling then ends for the day.",
  limit_hint_strict_above:
    "The study sets {{limit, number}} and labelling then ends for the day. Yours can be lower, not higher.",

  harmful: "A text is hard from",
  harmful_flagged_only: "Only texts that I flag",
  harmful_level: "{{question}}: {{level}}",
  harmful_level_or_above: "{{question}}: {{level}} or above",
  harmful_by_study:
    "The study defines hard texts: {{levels, list(type: disjunction)}}. Texts that you flag count too.",

  words: "Exclude texts with these words",
  words_example: "war, suicid*, hate speech",
  words_hint: "Whole words and phrases, separated by commas; * matches any ending.",
  words_stored: "The words are stored only on this computer.",
  words_left_out: "The study sees only how many texts you exclude:",

  groups: "Exclude groups of texts",
  group: "Exclude a group",
  group_choose: "Choose a group…",
  group_texts_one: "{{count, number}} text",
  group_texts_other: "{{count, number}} texts",
  group_include: "Include its texts again",

  exposure_today_one: "You read {{count, number}} hard text today.",
  exposure_today_other: "You read {{count, number}} hard texts today.",
  exposure_in_all: "In total on this computer: {{texts, number}}.",
  exposure_private: "Only you see this; it is never submitted.",
  exposure_delay: "It is updated after every fifth text, so that it reveals nothing about a single text.",

  choose_person: "Limits and topics belong to one person: choose who is labelling first.",
  open_project: "Open a project to choose limits and topics.",
  stop_hint: "{{key}} hides everything at any time, without a question.",
  stop_hint_without_key: "Stop here hides everything at any time, without a question.",

  stopped: "Labelling stopped",
  stopped_saved: "All your answers are saved.",
  stopped_unnotified: "Nobody is notified.",
  stopped_unsubmitted: "Nothing was submitted, and nobody is notified.",
  stopped_tab: "You can close this tab or come back at any time.",
  stopped_window: "You can close the window or come back at any time.",
  stopped_come_back: "Come back",
  stopped_close: "Close the window",
} as const;
