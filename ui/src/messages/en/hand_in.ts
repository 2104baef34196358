// The dialog that explains a submission before it is written, and the notices after it.
export default {
  title: "Hand in",
  description: "This writes one file that you send to the person who gave you this packet.",
  contents: "It contains your answers, notes and reasons, and their times.",
  leaves_computer: "It leaves this computer only when you send it, for example by e-mail.",
  again: "You can continue labelling afterwards and hand in again: nothing is counted twice.",
  /** Of a page: browsers do not show whether a window is private. */
  kept_here: "Your answers also stay in this browser; a private window forgets them when it is closed.",
  not_now: "Not now",
  download: "Download the file",
  /** Instead of a download, on a phone. */
  share: "Share the file",
  choose_place: "Choose where to save it…",

  made_all_one: "Now send {{file}}: all {{count, number}} text is in it",
  made_all_other: "Now send {{file}}: all {{count, number}} texts are in it",
  made_some_one: "Now send {{file}}: {{given, number}} of {{count, number}} text is in it",
  made_some_other: "Now send {{file}}: {{given, number}} of {{count, number}} texts are in it",
  submitted_all_one: "All {{count, number}} text submitted as {{file}}",
  submitted_all_other: "All {{count, number}} texts submitted as {{file}}",
  submitted_some_one: "{{given, number}} of {{count, number}} text submitted as {{file}}",
  submitted_some_other: "{{given, number}} of {{count, number}} texts submitted as {{file}}",
  send_all: "Send {{file}} to the person who gave you this packet.",
  send_some:
    "Send {{file}} to the person who gave you this packet. You can continue labelling and submit again.",
  shared: "If you only saved the file, send it to the person who gave you this packet.",

  // A page that sends answers to an address that the study has set.
  send_description: "This sends your answers to {{host}}, the address that the study has set.",
  send_again: "You can continue labelling afterwards and send again: nothing is counted twice.",
  send: "Send",
  sending: "Sending…",
  sent: "Your answers are sent.",
  send_failed: "Your answers could not be sent to {{host}}.",
  send_forwarded:
    "{{host}} forwards to another address, which this page may not use. It is not certain that your answers have arrived.",
  send_failed_text:
    "They are saved here. Try again later, or download the file and send it to the person who gave you this page.",
} as const;
