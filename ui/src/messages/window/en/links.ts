// Links of the scheme dissensus:, from web pages and messages.
export default {
  page_title: "Open a page in your browser?",
  packet_title: "Download a packet?",
  page_what:
    "A link asks to open a page of {{host}}. Answers on that page go to its owner, not into a project here.",
  packet_what:
    "A link asks to download a packet from {{host}}. You choose where to save it, and it is then opened like any file from other people.",
  host: "Host",
  address: "Address",
  unencrypted: "This connection is not encrypted: others in your network can read and change what is sent.",
  trust: "Continue only if you know who sent the link.",
  another: "Another link was not followed",
  another_text: "It leads to {{host}}. Answer this question first, then open the link again.",
  decline: "Do nothing",
  open_page: "Open in browser",
  download: "Choose where to save…",
  cancel: "Cancel download",
  progress: "Download",
} as const;
