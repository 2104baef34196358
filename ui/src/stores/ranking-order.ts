// What the texts of Findings are ranked by, as chosen last for a project on this computer.
import type { DisagreementMeasure } from "$api/bindings";
import { remember, remembered } from "./local-storage";

const STORE = "ranking-order:";
const USUAL: DisagreementMeasure = "combined";

/** Any name will do: of one that a scale does not have the view takes its default. */
const isMeasure = (value: unknown): value is DisagreementMeasure => typeof value === "string";

/** Chosen last for the project at this path. */
export function lastMeasure(project: string): DisagreementMeasure {
  return remembered(STORE + project, USUAL, isMeasure);
}

/** Stores the choice; the default is stored as nothing. */
export function rememberMeasure(project: string, by: DisagreementMeasure): void {
  remember(STORE + project, by === USUAL ? null : by);
}
