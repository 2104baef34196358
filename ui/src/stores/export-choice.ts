// What labels were exported for last. Whether people are named is never remembered: it is chosen each time.
import { remember, remembered } from "./local-storage";

const USES = ["share", "import", "program", "summary", "predictions"] as const;
type ExportUse = (typeof USES)[number];

interface ExportChoice {
  use: ExportUse;
  /** The format of another program, by name. */
  format: string | null;
}

const NAME = "export";

function isChoice(value: unknown): value is ExportChoice {
  if (typeof value !== "object" || value === null) return false;
  const { use, format } = value as Partial<ExportChoice>;
  return USES.some((one) => one === use) && (format === null || typeof format === "string");
}

/** Chosen last on this computer. */
export function lastExport(): ExportChoice {
  return remembered<ExportChoice>(NAME, { use: "share", format: null }, isChoice);
}

/** Stores the choice. */
export function rememberExport({ use, format }: ExportChoice): void {
  remember(NAME, { use, format });
}
