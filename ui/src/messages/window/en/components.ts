// Parts of the window that several views share.
export default {
  /** The name of the navigation, for screen readers. */
  views: "Views",
  splitter_hint: "Drag to resize; double-click to reset",

  broken_title: "This view cannot be shown",
  broken_text: "Your labels are safe: each is written to the project file as soon as you give it.",

  encoder_missing: "No encoder is installed.",
  encoder_missing_text: "Without one, models learn how strict each annotator is, but not what a text says.",
  get_encoder: "Get the encoder…",

  // To show all of a notice, or one line of it.
  more: "More",
  less: "Less",

  // Work that takes a while.
  stop: "Stop",
  stopped: "Stopped.",
  /** Of work in the background. */
  work_done: "{{done, number}} of {{total, number}}",

  // The status line. `count` is the number of all texts.
  encoded_some_one: "{{done, number}} of {{count, number}} text encoded",
  encoded_some_other: "{{done, number}} of {{count, number}} texts encoded",
  encoded_all: "All texts encoded",
  /** A button: encodes the texts. */
  encode: "Encode",
  /** A button: shows all about a problem. */
  details: "Details",

  // The text alternative of a mark on a line.
  interval: "predicted {{value}}, {{confidence}} interval {{interval}}",
  interval_observed: "predicted {{value}}, {{confidence}} interval {{interval}}, observed {{observed}}",
} as const;
