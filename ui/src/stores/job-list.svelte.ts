// Background jobs: running ones, ones that just ended, and announcements for screen readers.
import type { JobInfo } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { jobState, jobTitle } from "$words/jobs";
import type { Toasts } from "./toasts.svelte";

/** Kinds of jobs whose failure is reported by the view that started them. */
const REPORTED_BY_VIEW: readonly string[] = ["import", "words", "hand-out", "merge"];
/**
 * Jobs that closing would interrupt. Encoding and fitting resume by themselves when the project is opened
 * again.
 */
const INTERRUPTED_BY_CLOSING: readonly string[] = [
  "train",
  "import",
  "export",
  "report",
  "copy",
  "hand-out",
  "merge",
];
/** How long finished work stays on the status line. */
const FINISHED_MS = 6000;

export class JobList {
  all = $state.raw<JobInfo[]>([]);
  /** For screen readers: what began or ended last. */
  announcement = $state("");
  /** What would be broken off by closing the project. */
  readonly lost: JobInfo[] = $derived(
    this.all.filter((job) => job.state === "running" && INTERRUPTED_BY_CLOSING.includes(job.kind)),
  );

  constructor(
    private readonly toasts: Toasts,
    private readonly onend: (job: JobInfo) => void,
  ) {}

  /** Another project is open, with these. */
  begin(jobs: readonly JobInfo[]): void {
    this.all = jobs.filter((job) => job.state === "running");
  }

  receive(job: JobInfo): void {
    const known = this.all.some((j) => j.id === job.id);
    // Beginning and end only: a screen reader must not read out every step.
    if (!known || job.state !== "running")
      this.announcement = t("jobs.announcement", { job: jobTitle(job), state: jobState(job) });
    this.all = known ? this.all.map((j) => (j.id === job.id ? job : j)) : [...this.all, job];
    if (job.state === "running") return;
    if (job.state === "failed" && job.problem && !REPORTED_BY_VIEW.includes(job.kind))
      this.toasts.problem(job.problem);
    this.onend(job);
    setTimeout(
      () => (this.all = this.all.filter((j) => j.id !== job.id || j.state === "running")),
      FINISHED_MS,
    );
  }
}
