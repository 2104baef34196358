// Words for work in the background.
import type { JobInfo } from "$lib/bindings";

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
  export: "Exporting",
  copy: "Copying",
};

/** "Training Multilevel" */
export function jobTitle(job: JobInfo): string {
  return `${DOING[job.kind] ?? job.kind} ${job.title}`;
}
