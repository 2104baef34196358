// Why the page refuses something. The codes are those of the program (crates/labelling/src/error.rs).
import type { Problem } from "$api/bindings";
import { t } from "$messages/messages.svelte";

const DESK = {
  "no-such-text": () => t("page.problem_no_such_text"),
  "no-question": () => t("page.problem_no_question"),
  // A text or a question that is not there, where something is to be recorded about it.
  unknown: () => t("page.problem_no_such_text"),
  "packet-of-other": (name: string) => t("page.problem_other_person", { name }),
  "level-removed": (question: string) =>
    question === "" ? t("page.problem_level_not_on_scale") : t("page.problem_level_removed", { question }),
  "not-on-scale": (question: string) => t("page.problem_not_on_scale", { question }),
  "level-outside-scale": (question: string) => t("page.problem_level_outside_scale", { question }),
  "cannot-say-not-offered": (question: string) => t("page.problem_cannot_say_not_offered", { question }),
  "label-replaced": () => t("page.problem_label_replaced"),
  "packet-not-asked": () => t("page.problem_packet_not_asked"),
  "practice-first": (why: string) => why,
  "practice-stopped": () => t("page.problem_practice_stopped"),
  "practice-text": () => t("page.problem_practice_text"),
  "practice-not-there": () => t("page.problem_practice_not_there"),
  "practice-done": () => t("page.problem_practice_done"),
  "practice-answered": () => t("page.problem_practice_answered"),
  "finished-today": () => t("page.problem_finished_today"),
  setting: (why: string) => why,
  "consent-outdated": () => t("page.problem_consent_outdated"),
  form: (why: string) => why,
  remark: (why: string) => why,
  "in-packet": () => t("page.problem_not_in_a_page"),
  "guideline-picture": () => t("page.problem_not_in_a_page"),
} satisfies Record<string, (word: string) => string>;

/** What the desk refuses; every code is in a recorded case. */
export const DESK_CODES: readonly string[] = Object.keys(DESK);

const SENTENCES = {
  ...DESK,
  "no-packet-here": () => t("page.problem_no_packet_here"),
  "not-in-a-page": () => t("page.problem_not_in_a_page"),
  "join-no-entry": () => t("page.join_no_entry"),
  "page-target-forwards": (host: string) => t("hand_in.send_forwarded", { host }),
  "page-target": (host: string) => t("hand_in.send_failed", { host }),
  "page-storage": (why: string) => why,
} satisfies Record<string, (word: string) => string>;

export function problem(code: keyof typeof SENTENCES, word = "", detail: string | null = null): Problem {
  return { code, message: SENTENCES[code](word), detail };
}

/** Refuses with a {@link problem}. */
export function refuse(...why: Parameters<typeof problem>): never {
  throw problem(...why);
}
