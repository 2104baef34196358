// A link of the scheme `dissensus:`: read, confirmed by the person at the window, and only then followed.
import { commands } from "$bindings";
import type { LinkTarget, PacketDownloadChanged, Problem } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { isolatedPath } from "$words/isolated";
import { asProblem } from "$words/problems";
import * as platform from "$platform";
import type { Toasts } from "./toasts.svelte";

/** What it needs of the window around it. */
interface Host {
  readonly toasts: Toasts;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
  open(path: string): Promise<boolean>;
}

export class LinkStore {
  /** What waits for confirmation. */
  asked = $state.raw<LinkTarget | null>(null);
  /** How far the download is, while one is under way. */
  download = $state.raw<PacketDownloadChanged | null>(null);
  problem = $state.raw<Problem | null>(null);

  #busy = false;

  constructor(private readonly host: Host) {}

  /**
   * Shows where a link leads. Another one never takes the place of one that is asked about or followed, nor
   * comes right after it, where a second click would follow it: a notice says that it came.
   */
  async receive(link: string): Promise<void> {
    const target = await this.host.attempt(() => commands.readLink(link));
    if (!target) return;
    if (this.asked || this.#busy) {
      this.host.toasts.note(
        t("links.another"),
        t("links.another_text", { host: isolatedPath(target.host) }),
        true,
      );
      return;
    }
    this.problem = null;
    this.asked = target;
  }

  progress(progress: PacketDownloadChanged): void {
    if (this.download) this.download = progress;
  }

  /** Does what was asked about. */
  async follow(): Promise<void> {
    const target = this.asked;
    if (!target || this.#busy) return;
    this.problem = null;
    this.#busy = true;
    try {
      if (target.kind === "page") await this.#try(() => commands.openPage(target.address));
      else await this.#fetch(target);
    } finally {
      this.#busy = false;
    }
  }

  async #fetch({ address, file }: LinkTarget): Promise<void> {
    const path = await this.host.attempt(() => platform.chooseNewProject(file.replace(/\.dissensus$/, "")));
    if (!path) return;
    this.download = { done: 0, total: null };
    const done = await this.#try(() => commands.downloadPacket(address, path));
    this.download = null;
    if (done) await this.host.open(path);
  }

  async #try(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      this.asked = null;
      return true;
    } catch (thrown) {
      const problem = asProblem(thrown);
      if (problem.code !== "cancelled") this.problem = problem;
      return false;
    }
  }

  async cancel(): Promise<void> {
    await this.host.attempt(() => commands.cancelPacket());
  }

  /** Does nothing with it. */
  decline(): void {
    if (!this.#busy) this.asked = null;
  }
}
