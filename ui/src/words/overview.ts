// Texts of the overview: next steps, agreement, progress by person.
import type { ActionId } from "$logic/action-table";
import type { NextStep, OverviewAgreement } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { confidence, decimal } from "./format";

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
        name: t("importing.next_import"),
        why: t("importing.next_import_why"),
        action: "data.import",
      };
    case "ask_question":
      return {
        name: t("importing.next_question"),
        why: t("importing.next_question_why"),
        action: "question.add",
      };
    case "label":
      return who === null
        ? { name: t("importing.next_label"), why: t("importing.next_label_why"), action: "view.label" }
        : {
            name: t("importing.next_label_as", { name: who }),
            why: t("importing.next_label_as_why", { count: n }),
            action: "view.label",
          };
    case "get_encoder":
      return {
        name: t("importing.next_encoder"),
        why: t("importing.next_encoder_why"),
        action: "encoder.get",
      };
    case "take_in":
      return {
        name: t("importing.next_merge"),
        why: t("importing.next_merge_why", { count: n }),
        action: "study.take-in",
      };
    case "plan":
      return {
        name: t("importing.next_plan"),
        why: n === 0 ? t("importing.next_plan_why_none") : t("importing.next_plan_why", { count: n }),
        action: "study.plan",
      };
    case "see_disagreement":
      return {
        name: t("importing.next_texts"),
        why: t("importing.next_texts_why", { count: n }),
        action: "view.findings-texts",
      };
  }
}

/** "95 % interval 0.36 to 0.60 for people like these, 0.46 to 0.50 for these people"; or what is missing. */
export function alphaWords(of: OverviewAgreement): string {
  const { alpha, low, high, these_low, these_high, needs } = of;
  if (alpha === null) return `${t("importing.alpha_few_labels")} ${needs ?? ""}`.trim();
  if (low === null || high === null) return t("importing.alpha_nobody_differs");
  const interval = { confidence: confidence(), low: decimal(low), high: decimal(high) };
  if (!of.like_these) return t("importing.alpha_interval_these", interval);
  const these = { these_low: decimal(these_low), these_high: decimal(these_high) };
  return t("importing.alpha_interval", { ...interval, ...these });
}
