// What the window can show: its views, its dialogs, and what it asks about before it leaves.
import type { GroupsChoice, QuestionId } from "$lib/bindings";

export type View = "overview" | "label" | "texts" | "disagreement" | "annotators" | "models" | "study";
export const VIEWS: readonly View[] = [
  "overview",
  "label",
  "texts",
  "disagreement",
  "annotators",
  "models",
  "study",
];
/** What whoever has a packet can see: figures are the study's. */
export const PACKET_VIEWS: readonly View[] = ["label", "texts"];

export type OpenDialog =
  | "palette"
  | "new-project"
  | "hand-in"
  | "settings"
  | "care"
  | "export"
  | "report"
  | "keys"
  | "question"
  | "questions"
  | "question-edit"
  | "remove"
  | "run"
  | "run-delete"
  | "encoder"
  | "encoders"
  | "guideline"
  | "people-form"
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

/** What a plan found: how many people a text needs, and what for. */
export interface PlannedStudy {
  question: QuestionId;
  perText: number;
  /** "reliability 0.80 of “rude”" */
  goal: string;
}
