// Words for work in the background.
import type { JobInfo } from "$api/bindings";
import { modelName } from "./run";

const STATES: Record<JobInfo["state"], string> = {
  running: "started",
  finished: "done",
  cancelled: "cancelled",
  failed: "failed",
  interrupted: "interrupted",
};

/** Work that goes on where it stopped; everything else is begun anew. */
const RESUMED: readonly string[] = ["encode", "train"];

/** The progress of a job that is named next to it. */
export function jobState({ kind, state }: JobInfo): string {
  const resumes = state === "interrupted" && RESUMED.includes(kind);
  return resumes ? "interrupted; will resume where it stopped" : STATES[state];
}

const DOING: Record<string, string> = {
  import: "Importing",
  encode: "Encoding",
  train: "Training",
  evaluate: "Evaluating",
  compare: "Comparing",
  correlate: "Correlating",
  panel: "Asking",
  export: "Exporting",
  report: "Reporting to",
  copy: "Copying",
  who: "Calculating",
  words: "Leaving out words",
  word_model: "Reading words of",
  plan: "Planning the study",
  encoders: "Comparing",
  "hand-out": "Writing",
  merge: "Merging",
  remove: "Removing",
  "long-texts": "Measuring texts",
};

/** "Training Multilevel, frozen" */
export function jobTitle(job: JobInfo): string {
  // "sep-heads, last-2": the model has a name for people.
  const [model = "", ...rest] = job.title.split(", ");
  const title = job.kind === "train" ? [modelName(model), ...rest].join(", ") : job.title;
  return `${DOING[job.kind] ?? job.kind} ${title}`.trim();
}
