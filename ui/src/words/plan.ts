// A plan in words: how many annotators and labels, what that costs, and what can stop.
import type { PlanReport, PlannedNumber, PlanRequest, Scale } from "$api/bindings";
import { CONFIDENCE, count, counted, decimal, duration } from "./format";
import { isBinary, isOrdinal } from "$kinds/kinds";

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
  /** "reliability 0.80 of “rude”" */
  goal: string;
}

/** The errors of a plan, by field; empty if it is valid. */
export function faults(request: PlanRequest): Partial<Record<keyof PlanRequest, string>> {
  const found: Partial<Record<keyof PlanRequest, string>> = {};
  const { reliability } = request;
  if (reliability === null || !(reliability > 0 && reliability < 1))
    found.reliability = "A number above 0 and below 1.";
  for (const field of ["interval_width", "cost_per_label", "seconds_per_label"] as const) {
    const value = request[field];
    if (value !== null && !(value > 0)) found[field] = "A number above 0, or empty.";
  }
  return found;
}

/** What a width is counted in; none where levels have no order, so that a text has no mean level. */
export function widthUnit(scale: Scale): string | null {
  if (isOrdinal(scale)) return "levels";
  return isBinary(scale) ? "share" : null;
}

/** "10 (95 %: 9 to 12)", "over 100 (95 %: 80 to over 100)". */
export function planned(number: PlannedNumber, limit: number): string {
  const one = (n: number | null) => (n === null ? `over ${count(limit)}` : count(n));
  return `${one(number.value)} (${CONFIDENCE}: ${one(number.low)} to ${one(number.high)})`;
}

/** What the labels that are there reach already. */
export function now(report: PlanReport, scale: Scale): string {
  if (report.labels_per_text_now === null) return "";
  const width =
    report.width_now === null
      ? ""
      : `, an interval ${decimal(report.width_now)} wide${isOrdinal(scale) ? " (levels)" : ""}`;
  return `Now: ${decimal(report.labels_per_text_now, 1)} labels per text, reliability ${decimal(report.reliability_now)}${width}.`;
}

/** Labels, time and cost of a study, in total and remaining; empty if unknown. */
export function effort(report: PlanReport): { what: string; all: string; missing: string }[] {
  const { labels_in_all: all, labels_missing: missing } = report;
  if (all === null || missing === null) return [];
  const rows = [{ what: "Labels", all: count(all), missing: count(missing) }];
  if (report.seconds_in_all !== null)
    rows.push({
      what: `Time at ${duration(report.seconds_per_label)} per label`,
      all: duration(report.seconds_in_all),
      missing: duration(report.seconds_missing),
    });
  if (report.cost_in_all !== null)
    rows.push({
      what: `Cost at ${decimal(report.cost_per_label)} per label`,
      all: decimal(report.cost_in_all),
      missing: decimal(report.cost_missing),
    });
  return rows;
}

/** What can stop. */
export function stops(report: PlanReport): string {
  if (report.labels_missing === null) return "";
  if (report.done) return "The study can stop: every text has reached the target.";
  const people = `${count(report.people_done)} of ${counted(report.annotators, "person", "people")}`;
  return `Enough labels already: ${count(report.texts_done)} of ${counted(report.texts, "text")}, ${people}.`;
}
