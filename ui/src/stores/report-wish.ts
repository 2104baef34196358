// What was chosen last of a report for a paper.
import type { PaperWish } from "$api/bindings";

const KEY = "dissensus-report";

/** Chosen last on this computer; names are never, they are asked for each time. */
export function lastReportWish(): PaperWish {
  const wish: PaperWish = { evaluate: false, quote_texts: false, with_ids: false, replace: true };
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof kept !== "object" || kept === null) return wish;
    const last = kept as Partial<PaperWish>;
    return { ...wish, evaluate: last.evaluate === true, quote_texts: last.quote_texts === true };
  } catch {
    return wish;
  }
}

/** Keeps what was chosen. */
export function rememberReportWish({ evaluate, quote_texts }: PaperWish): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ evaluate, quote_texts }));
  } catch {
    // A window without storage forgets it.
  }
}
