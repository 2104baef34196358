// What the window can show: its views, its dialogs, and what it asks about before it leaves.
import { t } from "$messages/messages.svelte";
import type { GroupsChoice, QuestionId } from "$api/bindings";

/** Where the rail leads. */
export type Destination = "findings" | "label" | "people" | "models" | "project";
/** What is on screen: a destination, which is also the name of its first tab, or another tab of it. */
export type View = Destination | "findings-texts" | "label-list" | "people-study";

/** The tabs of each destination, in their order. */
export const TABS: Readonly<Record<Destination, readonly View[]>> = {
  findings: ["findings", "findings-texts"],
  label: ["label", "label-list"],
  people: ["people", "people-study"],
  models: ["models"],
  project: ["project"],
};
const TAB_NAMES: Readonly<Record<View, () => string>> = {
  findings: () => t("actions.tab_summary"),
  "findings-texts": () => t("actions.tab_texts"),
  label: () => t("shell.tab_answer"),
  "label-list": () => t("shell.tab_list"),
  people: () => t("actions.tab_annotators"),
  "people-study": () => t("actions.tab_study"),
  models: () => t("actions.name_view_models"),
  project: () => t("actions.name_view_project"),
};
export const tabName = (view: View): string => TAB_NAMES[view]();
export const DESTINATIONS = Object.keys(TABS) as Destination[];
/** The views of a packet: figures belong to the study. */
export const PACKET_VIEWS: readonly View[] = ["label", "label-list", "project"];

/** Names of views in earlier versions: stored ones still work. */
export const FORMER_VIEWS: ReadonlyMap<string, View> = new Map([
  ["overview", "findings"],
  ["disagreement", "findings-texts"],
  ["texts", "label-list"],
  ["annotators", "people"],
  ["study", "people-study"],
]);

export function destinationOf(view: View): Destination {
  return DESTINATIONS.find((one) => TABS[one].includes(view)) ?? "findings";
}

/** The view that was remembered by this name, of this version or an earlier one. */
export function viewNamed(name: string | null): View | null {
  if (name === null) return null;
  const known = DESTINATIONS.flatMap((one) => TABS[one]).find((view) => view === name);
  return known ?? FORMER_VIEWS.get(name) ?? null;
}

export type OpenDialog =
  | "palette"
  | "new-project"
  | "hand-in"
  | "hand-in-encrypted"
  | "copy-encrypted"
  | "settings"
  | "care"
  | "export"
  | "report"
  | "backups"
  | "keys"
  | "question"
  | "questions"
  | "question-edit"
  | "remove"
  | "run"
  | "run-delete"
  | "encoder"
  | "encoders"
  | "updates"
  | "guideline"
  | "practice"
  | "checks"
  | "log"
  | "study-settings"
  | "people-form"
  | "why"
  | null;

/** Actions that end the running work and need confirmation. */
export interface Leaving {
  /** What is done then: the project is closed, another one is opened, or the application ends. */
  verb: "close" | "open" | "quit";
  go: () => Promise<unknown>;
}

/** Groups that are being compared. */
export interface ComparisonAtWork {
  job: number;
  question: QuestionId;
  groups: GroupsChoice;
}
