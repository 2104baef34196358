// The bundled encoder: whether it is installed, its download, and encoding the project with it or another
// one.
import { commands } from "$bindings";
import type { AppInfo, DownloadChanged, EncoderOffer, Problem, ProjectInfo } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import type { JobList } from "./job-list.svelte";
import { asProblem } from "$words/problems";
import type { Toasts } from "./toasts.svelte";

/** What it needs of the window around it. */
interface Host {
  readonly toasts: Toasts;
  readonly work: JobList;
  readonly project: ProjectInfo | null;
  info: AppInfo | null;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
  refresh(): Promise<void>;
}

export class EncoderStore {
  offer = $state.raw<EncoderOffer | null>(null);
  /** How far the download is, while one is under way. */
  download = $state.raw<DownloadChanged | null>(null);
  problem = $state.raw<Problem | null>(null);

  constructor(private readonly host: Host) {}

  async load(): Promise<void> {
    try {
      this.offer = await commands.encoderOffer();
    } catch (thrown) {
      this.problem = asProblem(thrown);
    }
  }

  receive(progress: DownloadChanged): void {
    if (this.download) this.download = progress;
  }

  /** Downloads it; true once it is here. */
  async fetch(): Promise<boolean> {
    if (this.download) return false;
    this.problem = null;
    this.download = { done: 0, total: this.offer?.bytes ?? null, file: "" };
    try {
      await commands.downloadEncoder();
      await this.load();
      return true;
    } catch (thrown) {
      const problem = asProblem(thrown);
      if (problem.code !== "cancelled") this.problem = problem;
      return false;
    } finally {
      this.download = null;
    }
  }

  async cancel(): Promise<void> {
    await commands.cancelDownload();
  }

  /** Downloads it and encodes the open project with it. */
  async fetchAndEncode(): Promise<boolean> {
    if (!(await this.fetch())) return false;
    const { host } = this;
    host.toasts.done(t("encoders.downloaded"));
    await host.attempt(async () => {
      host.info = await commands.appInfo();
    });
    if (host.project) {
      if (!host.project.read_only) await this.encode();
      await host.refresh();
    }
    return true;
  }

  /** Encodes the open project. */
  async encode(): Promise<void> {
    const job = await this.host.attempt(() => commands.startEncoding());
    if (job) this.host.work.receive(job);
  }

  /** Encodes the open project with the encoder in a folder. */
  async use(folder: string): Promise<boolean> {
    const job = await this.host.attempt(() => commands.useEncoder(folder));
    if (job) this.host.work.receive(job);
    return job !== undefined;
  }
}
