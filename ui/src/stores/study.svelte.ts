// What a study exchanges with its people: packets that are written again, files that are merged, and the
// server.
import { commands } from "$bindings";
import type {
  InviteRequest,
  MergeConsent,
  MergedFile,
  MergeReport,
  PacketFormat,
  ServingInfo,
} from "$api/bindings";
import { remember, remembered } from "./local-storage";
import { fileName } from "$words/format";
import { t } from "$messages/messages.svelte";
import type { Toasts } from "./toasts.svelte";
import * as platform from "$platform";

/** What it needs of the window around it. */
interface Host {
  readonly toasts: Toasts;
  readonly project: { readonly path: string; readonly name: string } | null;
  open(path: string): Promise<boolean>;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
  readonly encryption: { readable(files: readonly string[]): Promise<string[] | null> };
}

const isFormat = (value: unknown): value is PacketFormat =>
  value === "file" || value === "page" || value === "locked_page" || value === "locked_file";

const NO_CONSENT: MergeConsent = { whole_copies: false, changes: false, seen: [] };

export class StudyStore {
  /** The report of merged files, until it is closed. */
  merged = $state.raw<MergeReport | null>(null);
  /** Whole copies that wait for confirmation. */
  unconfirmed = $state.raw<readonly MergedFile[]>([]);
  /** Files that are being merged. */
  merging = $state(0);
  /** What packets are written as, as it was chosen last. */
  format = $state<PacketFormat>(remembered("packet-format", "file", isFormat));
  #last: Promise<unknown> = Promise.resolve();
  /** The server on which people answer, or why it ended by itself. */
  serving = $state.raw<ServingInfo | null>(null);
  readonly isServing: boolean = $derived(this.serving !== null && this.serving.ended === null);
  #asked = 0;

  constructor(private readonly host: Host) {}

  setFormat(format: PacketFormat): void {
    this.format = format;
    remember("packet-format", format);
  }

  /** Another project is open. */
  forget(): void {
    this.merged = null;
    this.unconfirmed = [];
    // Closing a project ends its server; where the same one is shown again, it may still run.
    if (this.serving) void this.refreshServing();
  }

  /** Starts the server on which people answer. What it rejects with is for the form. */
  async invite(request: InviteRequest): Promise<void> {
    this.#asked += 1;
    const serving = await commands.invite(request);
    this.#asked += 1;
    this.serving = serving;
  }

  /** Asks what the server has received. If it has ended by itself, this is reported once. */
  async refreshServing(): Promise<void> {
    const mine = ++this.#asked;
    const now = await commands.serving().catch(() => undefined);
    // While projects are switched nothing is known.
    if (mine !== this.#asked || now === undefined) return;
    const ran = this.isServing;
    this.serving = now;
    if (!ran || this.isServing) return;
    if (now?.ended) this.host.toasts.problem(now.ended);
    else this.host.toasts.note(t("study.server_stopped"), t("study.server_stopped_text"), true);
  }

  /** Stops the server, or forgets one that has ended. False if that failed; it has ended nevertheless. */
  async stopServing(): Promise<boolean> {
    this.#asked += 1;
    const done = await this.host.attempt(async () => {
      await commands.stopInviting();
      return true;
    });
    this.#asked += 1;
    this.serving = null;
    return done ?? false;
  }

  /** Asks where to, then writes the links of all people. */
  async saveLinks(): Promise<void> {
    const path = await this.host.attempt(() => platform.chooseLinks(this.host.project?.name ?? "study"));
    if (!path) return;
    const links = await this.host.attempt(() => commands.saveLinks(path));
    if (links !== undefined)
      this.host.toasts.done(t("study.links_written", { count: links, file: fileName(path) }), path);
  }

  /** Merges files, after those in progress. Changes to existing data need confirmation. */
  async merge(files: readonly string[]): Promise<void> {
    await this.#whileCounted(files, async (path) => {
      const readable = await this.host.encryption.readable(files);
      if (readable) await this.#mergeAfterOthers(readable, NO_CONSENT, path);
    });
  }

  /** Confirms the shown merge. */
  async agree(): Promise<void> {
    const asked = this.unconfirmed;
    this.unconfirmed = [];
    const seen = asked.flatMap((file) => (file.asks ? [file.asks.seen] : []));
    const files = asked.map((file) => file.file);
    const consent = { whole_copies: true, changes: true, seen };
    await this.#whileCounted(files, (path) => this.#mergeAfterOthers(files, consent, path));
  }

  /** Cancels the shown merge. */
  decline(): void {
    this.unconfirmed = [];
    this.#lockFiles();
  }

  /** Removes what encrypted files were decrypted to, once nothing is asked about them any more. */
  #lockFiles(): void {
    if (this.unconfirmed.length === 0 && this.merging === 0)
      void this.host.attempt(() => commands.lockFiles());
  }

  /** Counts files as being merged into the open project, also while they are decrypted. */
  async #whileCounted(files: readonly string[], work: (path: string) => Promise<void>): Promise<void> {
    const path = this.host.project?.path;
    if (files.length === 0) return;
    if (path === undefined) {
      this.host.toasts.note(t("study.open_first"), t("study.open_first_text"));
      return;
    }
    this.merging += files.length;
    try {
      await work(path);
    } finally {
      this.merging -= files.length;
      this.#lockFiles();
    }
  }

  async #mergeAfterOthers(files: readonly string[], consent: MergeConsent, path: string): Promise<void> {
    const work = this.#last.then(() => this.#mergeNow([...files], consent, path));
    this.#last = work;
    await work;
  }

  async #mergeNow(files: string[], consent: MergeConsent, path: string): Promise<void> {
    // Never into another project than the one that was shown.
    if (this.host.project?.path !== path) return;
    const report = await this.host.attempt(() => commands.mergeFiles(files, consent));
    if (!report || this.host.project?.path !== path) return;
    // Somebody withdrew: the project was closed for it and opened again.
    if (report.files.some((file) => file.withdrawn > 0)) {
      // That has ended the server: there is nothing left to ask about.
      if (this.serving) await this.refreshServing();
      await this.host.open(path);
    }
    const asked = report.files.filter((file) => file.asks !== null);
    const done = report.files.filter((file) => file.asks === null);
    if (done.length > 0) this.merged = { files: [...done, ...(this.merged?.files ?? [])] };
    const again = new Set(asked.map((file) => file.file));
    this.unconfirmed = [...this.unconfirmed.filter((file) => !again.has(file.file)), ...asked];
  }

  /** Asks which files, then {@link merge}. */
  async chooseFilesToMerge(): Promise<void> {
    const files = await this.host.attempt(() => platform.chooseSubmissions());
    if (files) await this.merge(files);
  }

  /** Asks where to, then writes the packets of this person anew. */
  async writeAgain(person: { annotator: string; name: string }): Promise<void> {
    const folder = await this.host.attempt(() =>
      platform.chooseFolder(t("study.choose_again", { name: person.name })),
    );
    if (!folder) return;
    const files = await this.host.attempt(() =>
      commands.writePacketsAgain([person.annotator], folder, this.format, null),
    );
    if (!files) return;
    const [only] = files;
    const what =
      files.length === 1 && only
        ? t("study.written_again", { file: fileName(only) })
        : t("study.written_again_many", { count: files.length });
    this.host.toasts.done(what, files.join("\n"));
  }
}
