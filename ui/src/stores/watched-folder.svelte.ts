// A folder into which people put their submissions, such as one that a service synchronises: what appears
// there is merged as long as the project is open.
import { commands } from "$bindings";
import type { MergedFile, Problem } from "$api/bindings";
import { remember, remembered } from "./local-storage";
import { asProblem } from "$words/problems";
import { refusedWords } from "$words/study";
import { t } from "$messages/messages.svelte";
import type { EncryptionStore } from "./encryption.svelte";
import type { Toasts } from "./toasts.svelte";
import * as platform from "$platform";

interface Host {
  readonly toasts: Toasts;
  readonly encryption: EncryptionStore;
  readonly project: { readonly path: string } | null;
  readonly readOnly: boolean;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

const STORE = "watched-folder:";
/** How long to wait between two looks. */
const PAUSE_MS = 5000;

/** Codes of encrypted files that no passphrase opened yet. */
const LOCKED = new Set(["encrypted", "passphrase-wrong"]);
const isLocked = ({ problems }: MergedFile) =>
  problems.some(({ refused, problem }) => refused && LOCKED.has(problem.code));

const isPath = (value: unknown): value is string => typeof value === "string";

export class WatchedFolder {
  /** Its path; null where none is watched. */
  path = $state.raw<string | null>(null);
  /** What was merged or refused since the project was opened, the newest first. */
  files = $state.raw<readonly MergedFile[]>([]);
  /** Paths of files that are not complete yet. */
  waiting = $state.raw<readonly string[]>([]);
  /** Why it could not be read the last time. */
  problem = $state.raw<Problem | null>(null);
  /** Paths of encrypted submissions whose passphrase is not known. */
  readonly locked = $derived(this.files.filter(isLocked).map(({ file }) => file));
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts what is watched: a look at what was watched before is not shown. */
  #turn = 0;
  #project: string | null = null;

  constructor(private readonly host: Host) {}

  /** Goes on with the folder of the project that is open now. */
  follow(): void {
    const project = this.host.readOnly ? null : (this.host.project?.path ?? null);
    if (project === this.#project && this.path !== null) return;
    this.#project = project;
    this.#watch(project === null ? null : remembered(STORE + project, null, isPath));
  }

  /** Asks which folder, and watches it from then on, also when the project is opened again. */
  async choose(): Promise<void> {
    const path = await this.host.attempt(() => platform.chooseFolder(t("study.choose_watched")));
    if (path) this.watch(path);
  }

  watch(path: string): void {
    if (this.#project === null) return;
    remember(STORE + this.#project, path);
    this.#watch(path);
  }

  /** Watches no folder any more. What was merged stays. */
  stop(): void {
    if (this.#project !== null) remember(STORE + this.#project, null);
    this.#watch(null);
  }

  /** Asks for the passphrase of encrypted submissions, and merges those that it opens. */
  async unlock(): Promise<void> {
    const [project, turn] = [this.#project, this.#turn];
    if (project === null || this.locked.length === 0) return;
    const news = await this.host.encryption.with(this.locked, (passphrase) =>
      commands.unlockFolder(project, passphrase),
    );
    if (!news || turn !== this.#turn) return;
    this.files = [...news.files.toReversed(), ...this.files.filter((file) => !isLocked(file))];
    this.waiting = news.waiting;
  }

  #watch(path: string | null): void {
    this.#turn += 1;
    clearTimeout(this.#timer);
    this.path = path;
    this.files = [];
    this.waiting = [];
    this.problem = null;
    if (path !== null && this.#project !== null) void this.#look(this.#project, path, this.#turn, true);
  }

  async #look(project: string, path: string, turn: number, begins: boolean): Promise<void> {
    const isOver = () => turn !== this.#turn;
    try {
      const news = await commands.collectFolder(project, path, begins);
      if (isOver()) return;
      this.problem = null;
      begins = false;
      if (news) {
        this.files = [...news.files.toReversed(), ...this.files];
        this.waiting = news.waiting;
        const refused = news.files.filter((file) => file.refused);
        const decrypt = { label: t("encryption.decrypt"), run: () => this.unlock() };
        if (refused.length > 0)
          this.host.toasts.note(...refusedWords(refused), true, refused.some(isLocked) ? decrypt : undefined);
      }
    } catch (thrown) {
      if (isOver()) return;
      const problem = asProblem(thrown);
      // While projects are switched, none or another one may be open.
      if (problem.code !== "no-project") this.problem = problem;
    }
    this.#timer = setTimeout(() => void this.#look(project, path, turn, begins), PAUSE_MS);
  }
}
