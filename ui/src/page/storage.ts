// The browser's own databases as the place of a journal.
import { openDB, type DBSchema, type IDBPDatabase } from "idb";
import type { PageContent } from "$api/bindings";
import type { Change, Copy, Local, Saved, Storage, Submitted } from "./journal";
import type { NamedRecord } from "./named";

interface PacketSchema extends DBSchema {
  copies: { key: string; value: Copy };
  records: { key: number; value: NamedRecord };
  submitted: { key: number; value: Submitted };
  local: { key: string; value: unknown };
}

/** What belongs to a person in all packets of a project. */
interface PersonSchema extends DBSchema {
  local: { key: string; value: unknown };
}

/**
 * Opens the databases of a packet and of its person, which are made if they are missing. `onlost` is called
 * where the browser closes one of them, as when it clears its data.
 */
export async function openStorage(
  { packet, project, annotator }: Pick<PageContent, "packet" | "project" | "annotator">,
  onlost: () => void = () => {},
): Promise<Storage & { close(): void }> {
  const db = await openDB<PacketSchema>(`dissensus-packet-${packet}`, 1, {
    upgrade(created) {
      created.createObjectStore("copies", { keyPath: "id" });
      created.createObjectStore("records", { autoIncrement: true });
      created.createObjectStore("submitted", { autoIncrement: true });
      created.createObjectStore("local");
    },
    terminated: onlost,
  });
  const person = await openDB<PersonSchema>(`dissensus-person-${project}-${annotator.external_id}`, 1, {
    upgrade(created) {
      created.createObjectStore("local");
    },
    terminated: onlost,
  });
  return new BrowserStorage(db, person);
}

class BrowserStorage implements Storage {
  readonly #db: IDBPDatabase<PacketSchema>;
  readonly #person: IDBPDatabase<PersonSchema>;

  constructor(db: IDBPDatabase<PacketSchema>, person: IDBPDatabase<PersonSchema>) {
    [this.#db, this.#person] = [db, person];
  }

  async load(): Promise<Saved> {
    const tx = this.#db.transaction(["copies", "records", "submitted", "local"]);
    const local = tx.objectStore("local");
    const [copies, records, submitted, keys, values, care] = await Promise.all([
      tx.objectStore("copies").getAll(),
      tx.objectStore("records").getAll(),
      tx.objectStore("submitted").getAll(),
      local.getAllKeys(),
      local.getAll(),
      this.#person.get("local", "care"),
    ]);
    const entries = keys.map((key, at) => [key, values[at]] as const);
    const found = { ...Object.fromEntries(entries), ...(care !== undefined && { care }) };
    return { copies, records, submitted, local: found as Partial<Local> };
  }

  async append(copy: Copy, records: readonly NamedRecord[]): Promise<void> {
    // Strict: an answer that was confirmed survives a power cut.
    const tx = this.#db.transaction(["copies", "records"], "readwrite", { durability: "strict" });
    const store = tx.objectStore("records");
    try {
      const writes = [tx.objectStore("copies").put(copy), ...records.map((record) => store.add(record))];
      await Promise.all([...writes, tx.done]);
    } catch (thrown) {
      // What was written before an error that a call throws at once would stay.
      if (!tx.error) tx.abort();
      await tx.done.catch(() => {});
      throw thrown;
    }
  }

  async submit(submitted: Submitted): Promise<void> {
    const tx = this.#db.transaction("submitted", "readwrite", { durability: "strict" });
    await Promise.all([tx.store.add(submitted), tx.done]);
  }

  async change<Key extends keyof Local>(key: Key, change: Change<Local[Key]>): Promise<Local[Key]> {
    const db = (key === "care" ? this.#person : this.#db) as IDBPDatabase<PersonSchema>;
    const tx = db.transaction("local", "readwrite");
    // Read in the same transaction: another tab may have changed it.
    const now = change((await tx.store.get(key)) as Local[Key] | undefined);
    await Promise.all([tx.store.put(structuredClone(now), key), tx.done]);
    return now;
  }

  close(): void {
    this.#db.close();
    this.#person.close();
  }
}
