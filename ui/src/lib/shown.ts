// What the window can show: its views, its dialogs, and what it asks about before it leaves.
import type { GroupsChoice, QuestionId } from "$lib/bindings";

export type View = "label" | "disagreement" | "annotators" | "models" | "study";
export const VIEWS: readonly View[] = ["label", "disagreement", "annotators", "models", "study"];

export type OpenDialog =
  | "palette"
  | "settings"
  | "export"
  | "keys"
  | "question"
  | "questions"
  | "question-edit"
  | "run"
  | "run-delete"
  | "encoder"
  | "encoders"
  | "guideline"
  | "why"
  | null;

/** Something that ends the work under way: it is asked about first. */
export interface Leaving {
  /** What is done then, for the button: "Stop and …". */
  verb: "close" | "open the other project" | "quit";
  go: () => Promise<unknown>;
}

/** Groups that are being compared. */
export interface ComparisonAtWork {
  job: number;
  question: QuestionId;
  groups: GroupsChoice;
}
