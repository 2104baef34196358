// What a packet's page says around the desk, and why it refuses something.
export default {
  elsewhere_title: "This page is open in another tab",
  elsewhere_text: "Continue there. Once you close that tab, this one opens. Nothing is lost.",
  failed_title: "The page cannot be used here",

  language: "Language",

  // A page that opens with a passphrase.
  locked_title: "This page opens with a passphrase",
  locked_text:
    "The person who sent you the page has given it to you separately. Capital letters, spaces and hyphens do not matter.",
  locked_field: "Passphrase",
  locked_open: "Open",
  locked_opening: "Opening…",
  locked_wrong: "This is not the passphrase of this page. Check it, or ask the person who gave you the page.",

  // One page for everybody.
  join_text:
    "You are invited to judge some texts. Your answers are saved in this browser as you give them, and you can stop and come back at any time.",
  join_take_part: "Take part",
  join_begun: "You have begun in this browser.",
  join_continue: "Continue where you were",
  /** Where several people have begun: which of them continues. */
  join_began_at: "Begun {{when}}",
  join_other_person: "Take part as another person",
  join_no_entry:
    "You cannot take part with this link: its id is not valid here. Ask the person who sent you the link.",

  save_work: "Save my work",
  save_work_title: "Downloads a file with everything you did so far, as a precaution",
  saved_as: "Saved as {{name}}",
  saved_as_detail: "It has everything you did so far, and can be handed in like any other.",

  send_all_done: "Everything is sent",
  send_refused: "Not sent: {{problem}} Save your work as a file.",
  send_problem_withdrawn: "The study has no place for these answers any more.",
  send_problem_too_large: "This is more than the server takes at once.",
  send_problem_not_taken: "The server cannot use these answers ({{code}}).",
  send_server_status: "The server answered with status {{status}}.",
  send_under_way_one: "Sending {{count, number}} answer or change…",
  send_under_way_other: "Sending {{count, number}} answers and changes…",
  send_waiting_one: "{{count, number}} answer or change saved here, and sent once the server can be reached",
  send_waiting_other:
    "{{count, number}} answers and changes saved here, and sent once the server can be reached",

  storage_full:
    "The browser has no space left: the answer was not saved. Free some space, or save your work as a file, and answer again.",
  storage_setting:
    "The browser has no space left, or stores nothing here: a setting or an unfinished note was not saved. Your answers are.",
  storage_lost:
    "The browser has closed its storage. What you answered before is still there: reload the page to go on.",
  storage_refused:
    "The browser does not store answers here: nothing was saved. Open the page in a normal window, not in a private one.",

  problem_cannot_say_not_offered: "“{{question}}” does not offer “cannot say”.",
  problem_confidence: "A confidence is a whole number from 1 to 5.",
  problem_finished_today: "The study’s limit for today is reached. Continue tomorrow.",
  problem_form_not_answered: "“{{name}}” is not answered.",
  problem_consent_outdated: "You are asked to agree to another text by now. Open this page again.",
  problem_form_not_asked: "“{{name}}” is not asked.",
  problem_form_not_offered: "“{{value}}” is not offered.",
  problem_label_replaced:
    "Nothing was undone: the last answer was replaced in another copy of this page. Answer the text again to change it.",
  problem_level_not_on_scale: "This level is not on the scale.",
  problem_level_outside_scale: "This is not a passage of the text for “{{question}}”.",
  problem_level_removed: "This is not an answer to “{{question}}”.",
  problem_limit_too_small: "A limit is 1 or more.",
  problem_no_packet_here: "This page has no packet: it was saved in part, or changed. Ask for it again.",
  problem_no_question: "This question is not in the packet.",
  problem_no_such_text: "This text is not in the packet.",
  problem_not_in_a_page: "A page cannot do this.",
  problem_not_on_scale: "“{{question}}” takes another kind of answer.",
  problem_note_too_long_one: "The note has {{count, number}} character; it can have {{most, number}}.",
  problem_note_too_long_other: "The note has {{count, number}} characters; it can have {{most, number}}.",
  problem_other_person: "This page belongs to {{name}}.",
  problem_packet_not_asked: "This packet does not ask about this text again.",
  problem_practice_answered: "This text was answered in this round of practice: the first answer counts.",
  problem_practice_done: "The practice is done.",
  problem_practice_first_one: "Practise first: one text is left.",
  problem_practice_first_other: "Practise first: {{count, number}} texts are left.",
  problem_practice_not_there: "This is not a practice text of this question.",
  problem_practice_stopped: "No more texts are shown. Your answers are saved and can be handed in.",
  problem_practice_text: "This is a practice text: it takes no label.",
  problem_topic_too_long_one:
    "“{{topic}}” is too long: a word or phrase can have {{count, number}} character.",
  problem_topic_too_long_other:
    "“{{topic}}” is too long: a word or phrase can have {{count, number}} characters.",
  problem_topic_without_letters: "“{{topic}}” has no letter or digit.",
  problem_topics_over_limit_one: "{{count, number}} word: {{most, number}} at most.",
  problem_topics_over_limit_other: "{{count, number}} words: {{most, number}} at most.",
} as const;
