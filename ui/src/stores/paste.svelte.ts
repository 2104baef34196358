// Rows that were pasted into the window: they are imported as a file of them would be.
import { commands } from "$bindings";
import type { PastedRows } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import type { Toasts } from "./toasts.svelte";
import * as platform from "$platform";

/** What it needs of the window around it. */
interface Host {
  readonly toasts: Toasts;
  readonly readOnly: boolean;
  importing: string | null;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

/** A temporary file with the pasted rows, and the pasted text. */
interface Pasted extends PastedRows {
  text: string;
}

export class PasteStore {
  /** What is being imported, where it was pasted. */
  now = $state.raw<Pasted | null>(null);
  /**
   * Its path. A component that closes reads the previous state, so a dialog would otherwise use the next
   * rows.
   */
  #path: string | null = null;

  constructor(private readonly host: Host) {}

  /** Starts an import of pasted text. False if it is empty. */
  preview(text: string): Promise<boolean> {
    if (this.host.readOnly) {
      this.host.toasts.note(t("shell.read_only_writes"), t("importing.paste_read_only"));
      return Promise.resolve(false);
    }
    return this.#read(text, null);
  }

  /** Reads the same rows with or without names of columns in the first. */
  async reread(header: boolean): Promise<void> {
    if (this.now) await this.#read(this.now.text, header);
  }

  /** Pastes the clipboard, if the system allows reading it. */
  async fromClipboard(): Promise<void> {
    const text = await platform.readClipboard();
    if (text !== null) await this.preview(text);
    else this.host.toasts.note(t("importing.clipboard_closed"), t("importing.clipboard_closed_hint"));
  }

  /** An import has ended or was given up; a file of pasted rows is removed. */
  forget(path: string): void {
    if (this.#path === path) {
      this.now = null;
      this.#path = null;
    }
    // One that cannot be removed now is removed with the next one.
    void commands.forgetPasted(path).catch(() => undefined);
  }

  async #read(text: string, header: boolean | null): Promise<boolean> {
    const rows = await this.host.attempt(() => commands.pasteRows(text, header));
    if (!rows) return false;
    this.now = { ...rows, text };
    this.#path = rows.path;
    this.host.importing = rows.path;
    return true;
  }
}
