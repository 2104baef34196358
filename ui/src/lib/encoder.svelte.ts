// The encoder that the application comes with: whether it is here, and its download.
import { commands } from "$bindings";
import type { DownloadChanged, EncoderOffer, Problem } from "$lib/bindings";
import { asProblem } from "$lib/problems";

export class EncoderStore {
  offer = $state.raw<EncoderOffer | null>(null);
  /** How far the download is, while one is under way. */
  download = $state.raw<DownloadChanged | null>(null);
  problem = $state.raw<Problem | null>(null);

  async load(): Promise<void> {
    try {
      this.offer = await commands.encoderOffer();
    } catch (thrown) {
      this.problem = asProblem(thrown);
    }
  }

  hear(progress: DownloadChanged): void {
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
}
