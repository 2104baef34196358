// What was chosen last of a report for a paper.
import type { PaperRequest } from "$api/bindings";

const KEY = "dissensus-report";

/** The last choices on this computer; names are never stored and always asked for. */
export function lastReportChoices(): PaperRequest {
  const request: PaperRequest = { evaluate: false, quote_texts: false, with_ids: false, replace: true };
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof stored !== "object" || stored === null) return request;
    const last = stored as Partial<PaperRequest>;
    return { ...request, evaluate: last.evaluate === true, quote_texts: last.quote_texts === true };
  } catch {
    return request;
  }
}

/** Stores the choices. */
export function rememberReportChoices({ evaluate, quote_texts }: PaperRequest): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ evaluate, quote_texts }));
  } catch {
    // A window without storage forgets it.
  }
}
