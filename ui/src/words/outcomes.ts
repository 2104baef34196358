// What can come of talking about a text, in words.
import type { Outcome } from "$api/bindings";
import { t } from "$messages/messages.svelte";

/** What can be decided, each with its meaning. */
export const outcomes = (): { value: Exclude<Outcome, "reopened">; name: string; hint: string }[] => [
  {
    value: "real-difference",
    name: t("study.outcome_real_difference"),
    hint: t("study.outcome_real_difference_hint"),
  },
  {
    value: "ambiguous",
    name: t("study.outcome_ambiguous"),
    hint: t("study.outcome_ambiguous_hint"),
  },
  {
    value: "guideline-gap",
    name: t("study.outcome_guideline_gap"),
    hint: t("study.outcome_guideline_gap_hint"),
  },
  { value: "slip", name: t("study.outcome_slip"), hint: t("study.outcome_slip_hint") },
];

const DECIDED = {
  "real-difference": "study.decided_real_difference",
  ambiguous: "study.decided_ambiguous",
  "guideline-gap": "study.decided_guideline_gap",
  slip: "study.decided_slip",
  reopened: "study.decided_reopened",
} as const satisfies Record<Outcome, string>;

/** What was decided, within a sentence: "a slip". */
export function outcomeName(outcome: Outcome): string {
  return t(DECIDED[outcome]);
}
