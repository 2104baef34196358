// Files that are encrypted with a passphrase: asks for it, and decrypts them.
import { commands } from "$bindings";
import type { Problem } from "$api/bindings";
import { asProblem } from "$words/problems";
import * as platform from "$platform";

/** What it needs of the window around it. */
interface Host {
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

/** Encrypted files whose passphrase is asked for. */
interface Asked {
  files: readonly string[];
  /** Where the decrypted file is written; null of files that are only read. */
  target: string | null;
}

export class EncryptionStore {
  asked = $state.raw<Asked | null>(null);
  problem = $state.raw<Problem | null>(null);
  working = $state(false);
  #answer: ((passphrase: string | null) => void) | null = null;

  constructor(private readonly host: Host) {}

  /** The file itself, or the file that an encrypted one was decrypted to; null where the person cancelled. */
  async decrypted(file: string): Promise<string | null> {
    const encrypted = await this.host.attempt(() => commands.encryptedFiles([file]));
    if (!encrypted || encrypted.length === 0) return file;
    const target = await this.host.attempt(() => commands.decryptedPath(file));
    if (target === undefined) return null;
    return this.#ask({ files: [file], target }, async (passphrase) => {
      const to = this.asked?.target ?? target;
      await commands.decryptFile(file, to, passphrase);
      return to;
    });
  }

  /** Files that can be read, in the same order: encrypted ones are decrypted as long as they are merged. */
  async readable(files: readonly string[]): Promise<string[] | null> {
    const encrypted = await this.host.attempt(() => commands.encryptedFiles([...files]));
    if (!encrypted || encrypted.length === 0) return [...files];
    return this.#ask({ files: encrypted, target: null }, (passphrase) =>
      commands.unlockFiles([...files], passphrase),
    );
  }

  /** What comes of work on encrypted files with their passphrase; null where the person cancelled. */
  with<T>(files: readonly string[], work: (passphrase: string) => Promise<T>): Promise<T | null> {
    return this.#ask({ files, target: null }, work);
  }

  /** Tries this passphrase. */
  answer(passphrase: string): void {
    if (!this.working) this.#answer?.(passphrase);
  }

  /** Leaves the files as they are. */
  cancel(): void {
    if (!this.working) this.#answer?.(null);
  }

  /** Chooses where the decrypted file goes. */
  async chooseTarget(): Promise<void> {
    const { asked } = this;
    if (!asked?.target) return;
    const { target } = asked;
    const chosen = await this.host.attempt(() => platform.chooseDecrypted(target));
    if (chosen && this.asked === asked) this.asked = { ...asked, target: chosen };
  }

  /** Asks until the work is done or the person cancels. One question at a time: a second one is cancelled. */
  async #ask<T>(asked: Asked, work: (passphrase: string) => Promise<T>): Promise<T | null> {
    if (this.asked) return null;
    this.asked = asked;
    try {
      for (;;) {
        const passphrase = await new Promise<string | null>((answer) => (this.#answer = answer));
        if (passphrase === null) return null;
        this.working = true;
        this.problem = null;
        try {
          return await work(passphrase);
        } catch (thrown) {
          this.problem = asProblem(thrown);
        } finally {
          this.working = false;
        }
      }
    } finally {
      [this.asked, this.problem, this.#answer] = [null, null, null];
    }
  }
}
