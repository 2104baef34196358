// Words for work in the background.
import type { JobInfo } from "$lib/bindings";
import { modelName } from "$lib/run-words";

/** How far it is, for a job that is named beside it. */
export const JOB_STATES: Record<JobInfo["state"], string> = {
  running: "started",
  finished: "done",
  cancelled: "cancelled",
  failed: "failed",
  interrupted: "interrupted; resumes where it stopped",
};

const DOING: Record<string, string> = {
  import: "Importing",
  encode: "Encoding",
  train: "Training",
  evaluate: "Evaluating",
  compare: "Comparing",
  export: "Exporting",
  copy: "Copying",
  words: "Leaving out words",
};

/** "Training Multilevel, frozen" */
export function jobTitle(job: JobInfo): string {
  // "sep-heads, last-2": the model has a name for people.
  const [model = "", ...rest] = job.title.split(", ");
  const title = job.kind === "train" ? [modelName(model), ...rest].join(", ") : job.title;
  return `${DOING[job.kind] ?? job.kind} ${title}`.trim();
}
