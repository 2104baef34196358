// Why the page refuses something. The codes are those of the program (crates/labelling/src/error.rs).
import type { Problem } from "$api/bindings";

const SENTENCES = {
  "no-such-text": () => "This text is not in the packet.",
  "no-question": () => "This question is not in the packet.",
  "other-person": (name: string) => `This page belongs to ${name}.`,
  "level-removed": (name: string) => `This is not an answer to “${name}”.`,
  "not-on-scale": (name: string) => `“${name}” takes another kind of answer.`,
  "level-outside-scale": (name: string) => `This is not a passage of the text for “${name}”.`,
  "cannot-say-not-offered": (name: string) => `“${name}” does not offer “cannot say”.`,
  "label-replaced": () =>
    "Nothing was undone: the last answer was replaced in another copy of this page. Answer the text again to change it.",
  "packet-not-asked": () => "This packet does not ask about this text again.",
  "practice-first": (left: string) => `Practise first: ${left} left.`,
  "practice-stopped": () => "No more texts are shown. Your answers are saved and can be handed in.",
  "practice-text": () => "This is a practice text: it takes no label.",
  "practice-not-there": () => "This is not a practice text of this question.",
  "practice-done": () => "The practice is done.",
  "practice-answered": () => "This text was answered in this round of practice: the first answer counts.",
  "finished-today": () => "The study’s limit for today is reached. Continue tomorrow.",
  setting: (why: string) => why,
  form: (why: string) => why,
  note: (why: string) => why,
  "no-packet-here": () => "This page has no packet: it was saved in part, or changed. Ask for it again.",
  "not-in-a-page": () => "A page cannot do this.",
  "page-storage": (why: string) => why,
} satisfies Record<string, (word: string) => string>;

export function problem(code: keyof typeof SENTENCES, word = "", detail: string | null = null): Problem {
  return { code, message: SENTENCES[code](word), detail };
}

/** Refuses with a {@link problem}. */
export function refuse(...why: Parameters<typeof problem>): never {
  throw problem(...why);
}
