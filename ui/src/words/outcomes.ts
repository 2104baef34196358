// What can come of talking about a text, in words.
import type { Outcome } from "$api/bindings";

export const OUTCOMES: readonly { value: Exclude<Outcome, "reopened">; name: string; hint: string }[] = [
  {
    value: "real-difference",
    name: "A real difference",
    hint: "People see it differently: all labels stay valid.",
  },
  { value: "ambiguous", name: "The text is ambiguous", hint: "It can be read in several ways." },
  { value: "guideline-gap", name: "The guideline has a gap", hint: "It does not say what to answer here." },
  { value: "slip", name: "A slip", hint: "A label is not what its author intended." },
];

export function outcomeName(outcome: Outcome): string {
  return OUTCOMES.find(({ value }) => value === outcome)?.name ?? "Open again";
}
