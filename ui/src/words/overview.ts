// Texts of the overview: next steps, agreement, progress by person.
import type { ActionId } from "$logic/action-table";
import type { NextStep, OverviewAgreement } from "$api/bindings";
import { CONFIDENCE, counted, decimal } from "./format";

interface StepWords {
  /** On its button. */
  name: string;
  /** The reason, shown next to it. */
  why: string;
  action: ActionId;
}

/** The name and explanation of a next step. `who` is the person who labels, if any. */
export function stepWords({ kind, count: number }: NextStep, who: string | null): StepWords {
  const n = number ?? 0;
  switch (kind) {
    case "import":
      return {
        name: "Import texts…",
        why: "A CSV, JSONL or CoNLL file: texts alone or with labels.",
        action: "data.import",
      };
    case "ask_question":
      return {
        name: "Add a question…",
        why: "A sentence that is asked of every text, and a scale of answers.",
        action: "question.add",
      };
    case "label":
      return who === null
        ? { name: "Label", why: "Choose who is labelling, and answer text by text.", action: "view.label" }
        : {
            name: `Label as ${who}`,
            why: `${counted(n, "text")} left to answer.`,
            action: "view.label",
          };
    case "get_encoder":
      return {
        name: "Get the encoder…",
        why: "Without one, models use only labels, and nothing is predicted from the words of texts.",
        action: "encoder.get",
      };
    case "take_in":
      return {
        name: "Merge submissions…",
        why: `${counted(n, "packet")} handed out, none submitted yet.`,
        action: "study.take-in",
      };
    case "plan":
      return {
        name: "Plan a study…",
        why:
          n === 0
            ? "No text has labels by two people yet, so disagreement cannot be measured."
            : `${counted(n, "text")} ${n === 1 ? "has" : "have"} labels by two people; disagreement can be measured from 20.`,
        action: "study.plan",
      };
    case "see_disagreement":
      return {
        name: "See the texts",
        why: `${counted(n, "text")} with labels by two or more people.`,
        action: "view.findings-texts",
      };
  }
}

/** "95 % interval 0.36 to 0.60 for people like these, 0.46 to 0.50 for these people"; or what is missing. */
export function alphaWords(of: OverviewAgreement): string {
  const { alpha, low, high, these_low, these_high, needs } = of;
  if (alpha === null) return `Too few labels. ${needs ?? ""}`.trim();
  if (low === null || high === null) return "nobody differs";
  const interval = `${CONFIDENCE} interval ${decimal(low)} to ${decimal(high)}`;
  return of.like_these
    ? `${interval} for people like these, ${decimal(these_low)} to ${decimal(these_high)} for these people`
    : `${interval} for these people; fewer than five people are too few to generalise`;
}
