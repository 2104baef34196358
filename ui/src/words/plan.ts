// A plan in words: how many annotators and labels, what that costs, and what can stop.
import type { PlanReport, PlannedNumber, PlanRequest, Scale } from "$api/bindings";
import { confidence, count, decimal, duration } from "./format";
import { isBinary, isOrdinal } from "$kinds/kinds";
import { t } from "$messages/messages.svelte";

/** The defaults of a plan. */
export const USUAL: PlanRequest = {
  reliability: 0.8,
  interval_width: null,
  cost_per_label: null,
  seconds_per_label: null,
};

/** What was found of how many labels are needed: so many people a text, and what for. */
export interface PlannedLabels {
  perText: number;
  /** How many of them the texts still lack, where labels that are there count. */
  missing: number;
  /** The name of the question, and what is to be reached of it. */
  question: string;
  reliability: number | null;
  width: number | null;
}

/** The errors of a plan, by field; empty if it is valid. */
export function faults(request: PlanRequest): Partial<Record<keyof PlanRequest, string>> {
  const found: Partial<Record<keyof PlanRequest, string>> = {};
  const { reliability } = request;
  if (reliability === null || !(reliability > 0 && reliability < 1))
    found.reliability = t("study_plan.fault_share");
  for (const field of ["interval_width", "cost_per_label", "seconds_per_label"] as const) {
    const value = request[field];
    if (value !== null && !(value > 0)) found[field] = t("study_plan.fault_positive_or_empty");
  }
  return found;
}

/** What a width is counted in; none where levels have no order, so that a text has no mean level. */
export function widthUnit(scale: Scale): string | null {
  if (isOrdinal(scale)) return t("study_plan.unit_levels");
  return isBinary(scale) ? t("study_plan.unit_share") : null;
}

/** "10", "over 100" where there is no number up to the limit. */
export function upTo(n: number | null, limit: number): string {
  return n === null ? t("study_plan.over", { limit }) : count(n);
}

/** "10 (95 %: 9 to 12)", "over 100 (95 %: 80 to over 100)". */
export function planned(number: PlannedNumber, limit: number): string {
  const value = upTo(number.value, limit);
  const [low, high] = [upTo(number.low, limit), upTo(number.high, limit)];
  return t("study_plan.estimate", { value, confidence: confidence(), low, high });
}

/** What the labels that are there reach already. */
export function now(report: PlanReport, scale: Scale): string {
  if (report.labels_per_text_now === null) return "";
  const labels = decimal(report.labels_per_text_now, 1);
  const reached = { labels, reliability: decimal(report.reliability_now) };
  if (report.width_now === null) return t("study_plan.now", reached);
  const width = decimal(report.width_now);
  return isOrdinal(scale)
    ? t("study_plan.now_interval_levels", { ...reached, width })
    : t("study_plan.now_interval", { ...reached, width });
}

interface Effort {
  what: string;
  all: string;
  missing: string;
}

/** Labels, time and cost of a study, in total and remaining; empty if unknown. */
export function effort(report: PlanReport): Effort[] {
  const { labels_in_all: all, labels_missing: missing } = report;
  if (all === null || missing === null) return [];
  const rows: Effort[] = [{ what: t("study_plan.effort_labels"), all: count(all), missing: count(missing) }];
  if (report.seconds_in_all !== null)
    rows.push({
      what: t("study_plan.effort_time", { duration: duration(report.seconds_per_label) }),
      all: duration(report.seconds_in_all),
      missing: duration(report.seconds_missing),
    });
  if (report.cost_in_all !== null)
    rows.push({
      what: t("study_plan.effort_cost", { cost: decimal(report.cost_per_label) }),
      all: decimal(report.cost_in_all),
      missing: decimal(report.cost_missing),
    });
  return rows;
}

/** What can stop. */
export function stops(report: PlanReport): string {
  if (report.labels_missing === null) return "";
  if (report.done) return t("study_plan.stops_all");
  const texts = t("study_plan.stops_texts", { count: report.texts, done: report.texts_done });
  const people = t("study_plan.stops_people", { count: report.annotators, done: report.people_done });
  return t("study_plan.stops_some", { texts, people });
}
