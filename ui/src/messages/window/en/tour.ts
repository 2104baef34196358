// The tour on the sample project. {{field}}, {{label}}, {{findings}}, {{texts}}, {{next}}, {{finish}} and
// {{get}} are names of controls as they are on screen; {{enter}}, {{first}} and {{last}} are keys.
export default {
  title: "Tour",
  step: "Step {{step, number}} of {{of, number}}",
  next: "Next",
  skip: "Skip tour",
  finish: "Finish tour",
  /** The key as it is printed on a keyboard. */
  enter: "Enter",

  away: "The tour goes on under {{label}}: open it.",
  who: "Write a name in {{field}} and press {{enter}}: each label is stored with the person who gave it.",
  who_known: "You label as {{name}}, and each label is stored with the person who gave it. Choose {{next}}.",
  answer:
    "Answer three texts: press a key from {{first}} to {{last}} for each, and {{enter}} for the next one.",
  /** After the sentence above. */
  answered: "{{done, number}} of {{of, number}} answered",
  findings: "Open {{findings}} to see what people disagree on.",
  texts: "Open {{texts}}: there, texts are ranked by how much people would disagree.",
  ranked:
    "The texts at the top divide people most: the places follow from labels and, where there are none, from predictions. Choose {{next}}.",
  encoder: "The ranking needs the encoder: choose {{get}}.",
  encoding: "The ranking appears here once the texts are encoded.",
  to_label: "Open {{label}} and answer one more text.",
  again: "Answer one more text: press a key from {{first}} to {{last}}.",
  compare_findings: "Your answer is stored. Open {{findings}} to see what it changed.",
  compare_texts: "Your answer is stored. Open {{texts}} to see what it changed.",
  comparing: "Comparing the ranking with the one before your answer…",
  /** {{count}} texts changed their places in all. */
  moved_one:
    "The ranking has changed: “{{text}}” moved from place {{from, number}} to {{to, number}}. Choose {{finish}}.",
  moved_other:
    "The ranking has changed: “{{text}}” moved from place {{from, number}} to {{to, number}}, one of {{count, number}} texts in new places. Choose {{finish}}.",
  still: "No text has changed its place yet. Open {{label}} and answer one more text.",
  impossible: "The tour needs texts that you can label",
  impossible_text:
    "The sample project has been changed or is read-only. Delete its file and open the sample again.",
} as const;
