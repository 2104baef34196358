// Words for work in the background.
import type { JobInfo } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { modelName } from "./run";

/** Work that goes on where it stopped; everything else is begun anew. */
const RESUMED: readonly string[] = ["encode", "train"];

/** The progress of a job that is named next to it. */
export function jobState({ kind, state }: JobInfo): string {
  const resumes = state === "interrupted" && RESUMED.includes(kind);
  return resumes ? t("jobs.will_resume") : t(`jobs.state_${state}`);
}

/** The messages of jobs that do something to what their title names. */
const TITLED = {
  import: "jobs.importing",
  encode: "jobs.encoding",
  train: "jobs.training",
  evaluate: "jobs.evaluating",
  export: "jobs.exporting",
  report: "jobs.reporting",
  copy: "jobs.copying",
  word_model: "jobs.reading_words",
  encoders: "jobs.comparing_encoders",
  "hand-out": "jobs.writing",
  merge: "jobs.merging",
  remove: "jobs.removing",
} as const;

/** The messages of jobs that always do the same. */
const UNTITLED = {
  compare: "jobs.comparing_groups",
  correlate: "jobs.correlating",
  panel: "jobs.asking_panel",
  who: "jobs.calculating_who",
  words: "jobs.leaving_out_words",
  plan: "jobs.planning",
  "long-texts": "jobs.measuring_texts",
  mask: "jobs.masking",
} as const;

/** What `evaluate` evaluates, as it is stored. */
const EVALUATED = {
  "accuracy for each annotator": "jobs.evaluating_annotators",
  "unusual labels": "jobs.evaluating_unusual",
} as const;

const has = <T extends object>(table: T, key: PropertyKey): key is keyof T => Object.hasOwn(table, key);

/** "Training Multilevel, frozen" */
export function jobTitle({ kind, title: given }: JobInfo): string {
  if (has(UNTITLED, kind)) return t(UNTITLED[kind]);
  if (kind === "evaluate" && has(EVALUATED, given)) return t(EVALUATED[given]);
  // "sep-heads, last-2": the model has a name for people.
  const [model = "", ...rest] = given.split(", ");
  const title = kind === "train" ? [modelName(model), ...rest].join(t("format.list_separator")) : given;
  return has(TITLED, kind) ? t(TITLED[kind], { title }).trim() : `${kind} ${title}`.trim();
}
