// What was done in a page, and where it is stored. The desk goes on only after a record is on disk.
import type { AppSettings, Note } from "$api/bindings";
import type { StoredCare } from "./care";
import type { EventKey } from "./events";
import type { NamedRecord } from "./named";

/** A session in which something was recorded. */
export interface Copy {
  id: string;
  made_at_ms: number;
}

/** A submission that was written. */
export interface Submitted {
  at_ms: number;
  answers: number;
  /** Number of records in it. */
  records: number;
}

/** What was typed and not given, and the note that held then. */
export interface Draft {
  typed: Note;
  over: Note;
}

/** What is stored on this computer only; care is the person's, in all packets of the project. */
export interface Local {
  care: StoredCare;
  drafts: Record<string, Draft>;
  settings: AppSettings;
}

export interface Saved {
  copies: Copy[];
  records: NamedRecord[];
  submitted: Submitted[];
  local: Partial<Local>;
}

/** Changes a value that another tab may have changed since it was read. */
export type Change<Value> = (value: Value | undefined) => Value;

/** A place that outlives the page. Each write is complete or not done at all; it fails with an `Error`. */
export interface Storage {
  load(): Promise<Saved>;
  /** Appends records, of a session that is new to the place or known. */
  append(copy: Copy, records: readonly NamedRecord[]): Promise<void>;
  submit(submitted: Submitted): Promise<void>;
  /** Changes a value, and returns what is stored then. */
  change<Key extends keyof Local>(key: Key, change: Change<Local[Key]>): Promise<Local[Key]>;
}

/** Everything that was recorded, in this session and before. */
export class Journal {
  readonly records: NamedRecord[];
  readonly submitted: Submitted[];
  readonly local: Partial<Local>;
  readonly #copies: Map<string, Copy>;
  readonly #storage: Storage;
  readonly #copy: Copy;
  #sequence = 0;
  /** Changes that could not be stored. */
  readonly #unsaved = new Map<keyof Local, Change<unknown>[]>();

  private constructor(storage: Storage, saved: Saved, copy: Copy) {
    [this.#storage, this.#copy] = [storage, copy];
    [this.records, this.submitted] = [[...saved.records], [...saved.submitted]];
    this.local = { ...saved.local };
    this.#copies = new Map(saved.copies.map((one) => [one.id, one]));
  }

  /** Begins a session: each has an identity of its own, so that no two of them give one key twice. */
  static async open(storage: Storage, copy: Copy): Promise<Journal> {
    return new Journal(storage, await storage.load(), copy);
  }

  get copies(): Copy[] {
    return [...this.#copies.values()];
  }

  /** The key of the next event but `ahead`. */
  key(ahead = 0): EventKey {
    return [this.#copy.id, this.#sequence + 1 + ahead];
  }

  /** Appends what belongs together; it is on disk when this resolves, and nothing is when it fails. */
  async append(records: readonly NamedRecord[]): Promise<void> {
    await this.#storage.append(this.#copy, records);
    this.#sequence += records.filter((record) => "event" in record).length;
    this.#copies.set(this.#copy.id, this.#copy);
    this.records.push(...records);
  }

  async submit(submitted: Submitted): Promise<void> {
    await this.#storage.submit(submitted);
    this.submitted.push(submitted);
  }

  /** Changes a value until the page is closed. */
  changeHere<Key extends keyof Local>(key: Key, change: Change<Local[Key]>): void {
    const changed: Partial<Local> = { [key]: change(this.local[key]) };
    Object.assign(this.local, changed);
    this.#unsaved.set(key, [...(this.#unsaved.get(key) ?? []), change as Change<unknown>]);
  }

  async change<Key extends keyof Local>(key: Key, change: Change<Local[Key]>): Promise<void> {
    const before = (this.#unsaved.get(key) ?? []) as Change<Local[Key]>[];
    const all: Change<Local[Key]> = (value) =>
      change(before.reduce<Local[Key] | undefined>((now, one) => one(now), value));
    const changed: Partial<Local> = { [key]: await this.#storage.change(key, all) };
    this.#unsaved.delete(key);
    Object.assign(this.local, changed);
  }
}
