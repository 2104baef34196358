// Inviting people to answer in their browsers: the form, and the server while it runs.
export default {
  title: "Invite people",
  text: "People answer in their browsers, each by a link of their own. Their answers are merged within seconds, as long as this project is open here.",

  // How people reach it.
  reach: "Who can reach it",
  reach_here: "This computer",
  reach_here_hint: "others through a reverse proxy or a tunnel",
  reach_network: "My network",
  reach_network_hint: "without encryption: only where you trust it",
  /** The number of a port of the computer. */
  port: "Port",
  port_fault: "A whole number from {{from, number}} to {{to, number}}.",
  port_refused: "This port cannot be used: choose another.",
  address: "Address for the links",
  address_hint_here:
    "Empty for this computer alone. Others need one that they can reach, such as that of a reverse proxy.",
  address_hint_network:
    "Empty for the address of this computer in its network. Others need one that they can reach.",
  address_fault: "An address that begins with https or http, without ? and #; or empty.",
  proxy: "A reverse proxy passes requests on",
  /** `X-Forwarded-For` is the name of a header. */
  proxy_hint: "It names their sender in X-Forwarded-For, by which guessed links are refused.",

  // Joining by one link.
  joins: "Let anybody join with one link",
  joins_hint: "Who accepts gets the texts that fewest people have, and counts as a new person.",
  joins_fault_no_packets: "Nobody has a packet yet: let anybody join, or close this and plan a study first.",
  joins_fault_empty: "People can join a project with texts and a question: add them first.",
  per_person: "Texts per person",
  per_text: "People per text",
  per_text_hint: "then nobody else is asked about it",
  anchors_fault: "A whole number, or 0.",
  anchors_fault_per_person: "Fewer than texts per person: everybody needs other texts too.",
  anchors_fault_texts: "Fewer than the texts of the project: everybody needs other texts too.",
  /** Texts go back after this time if the person does not answer them. */
  give_back: "Give back after",
  /** The unit of the field. */
  give_back_unit: "minutes",
  give_back_hint: "then others get the texts that are not answered",

  completion: "Completion code or address",
  completion_hint: "Shown to people who have answered everything; may be empty.",
  start: "Start",
  starting: "Starting…",

  // The server.
  serving_title: "People can answer",
  serving_text:
    "Anybody with a link can answer as that person. You can close this: the server goes on until you stop it, or close the project.",
  ended_title: "Nobody can answer any more",
  ended_text: "The links stay the same when you start again.",
  /** Each is followed by an address. */
  serving_at: "Serving at",
  was_at: "Was at",
  received_one: "{{count, number}} new answer",
  received_other: "{{count, number}} new answers",
  join_link: "Link for everybody",
  column_answers: "New answers",
  column_answers_hint: "Answers, changes and marks since the start",
  column_link: "Link",
  nobody: "Nobody has a link of their own yet. Who joins gets one.",
  copy: "Copy",
  copied: "Copied",
  copy_join_link: "Copy the link for everybody",
  copy_link_of: "Copy the link of {{name}}",
  problems: "Problems and notes",
  save_links: "Save links…",
  save_links_hint: "A table, or a page with QR codes",
  stop: "Stop",
  stopping: "Stopping…",
  start_again: "Start again…",
} as const;
