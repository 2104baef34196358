// What was done in a page, and where it is stored. The desk goes on only after a record is on disk.
import type { Note } from "$api/bindings";
import type { EventKey, PageRecord } from "./events";
import type { StoredCare } from "./care";

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

/** What is stored on this computer only, by key. */
export interface Local {
  care: StoredCare;
  drafts: Record<string, { typed: Note; over: Note }>;
  [key: string]: unknown;
}

export interface Saved {
  copies: Copy[];
  records: PageRecord[];
  submitted: Submitted[];
  local: Partial<Local>;
}

/** A place that outlives the page. Each write is complete or not done at all; it fails with an `Error`. */
export interface Storage {
  load(): Promise<Saved>;
  /** Appends records, of a session that is new to the place or known. */
  append(copy: Copy, records: readonly PageRecord[]): Promise<void>;
  submit(submitted: Submitted): Promise<void>;
  setLocal(key: keyof Local, value: unknown): Promise<void>;
}

/** Everything that was recorded, in this session and before. */
export class Journal {
  readonly records: PageRecord[];
  readonly submitted: Submitted[];
  readonly local: Partial<Local>;
  readonly #copies: Map<string, Copy>;
  readonly #storage: Storage;
  readonly #copy: Copy;
  #sequence = 0;

  private constructor(storage: Storage, saved: Saved, copy: Copy) {
    [this.#storage, this.#copy] = [storage, copy];
    [this.records, this.submitted, this.local] = [
      [...saved.records],
      [...saved.submitted],
      { ...saved.local },
    ];
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
  async append(records: readonly PageRecord[]): Promise<void> {
    await this.#storage.append(this.#copy, records);
    this.#sequence += records.filter((record) => "event" in record).length;
    this.#copies.set(this.#copy.id, this.#copy);
    this.records.push(...records);
  }

  async submit(submitted: Submitted): Promise<void> {
    await this.#storage.submit(submitted);
    this.submitted.push(submitted);
  }

  async setLocal<Key extends keyof Local>(key: Key, value: Local[Key]): Promise<void> {
    await this.#storage.setLocal(key, value);
    this.local[key] = value;
  }
}
