// The practice round before labelling.
export default {
  title: "Practice",
  progress: "Practice texts answered",
  place: "{{at, number}} of {{total, number}}",
  before_answer: "The right answer and the reason are shown after you have answered.",
  right: "Right",
  not_right: "Not right",
  right_answer: "Right answer",
  /** Followed by the answer. */
  right_answer_is: "Right answer:",
  no_undo_title: "Practice answers cannot be undone",
  no_undo_text: "The right answer was shown after each.",

  // Results. `count` is how many are needed.
  missed_one: "You had {{right, number}} of {{of, number}} right; {{count, number}} is needed.",
  missed_other: "You had {{right, number}} of {{of, number}} right; {{count, number}} are needed.",
  too_few_clear:
    "Some texts have a clear answer, and you answered too few of these correctly: please practise again.",

  // Before the first text. `count` of the second is how many must be right.
  texts_one: "{{count, number}} practice text. After each, you see the right answer and the reason.",
  texts_other: "{{count, number}} practice texts. After each, you see the right answer and the reason.",
  needed_one: "{{count, number}} of {{total, number}} must be right. Practice answers are not labels.",
  needed_other: "{{count, number}} of {{total, number}} must be right. Practice answers are not labels.",
  begin: "Begin",
  go_on: "Go on with the practice",

  // Between two rounds.
  again_title: "Once more, in another order",
  again_saved: "All your labels are saved.",
  again: "Practise again",

  // At the end.
  stopped_title: "Thank you: labelling has ended",
  stopped_by_checks:
    "Some texts have a clear answer, and you answered too few of these correctly. The study therefore gives you no more texts. All your answers are saved.",
  stopped_text: "The study therefore gives you no more texts. Your answers are saved.",
  done_title: "The practice is done",
  failed_text:
    "You can continue: your answers count, and the result of the practice is recorded with them. See the guideline for what was unclear.",
  passed_title: "Practice passed",
  passed_text:
    "{{right, number}} of {{of, number}} right. Labelling begins now; right answers are no longer shown.",
  done_text: "Labelling begins now.",
} as const;
