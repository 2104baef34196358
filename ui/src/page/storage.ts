// The browser's own database as the place of a journal.
import { openDB, type DBSchema, type IDBPDatabase } from "idb";
import type { Copy, Local, Saved, Storage, Submitted } from "./journal";
import type { PageRecord } from "./events";

interface Schema extends DBSchema {
  copies: { key: string; value: Copy };
  records: { key: number; value: PageRecord };
  submitted: { key: number; value: Submitted };
  local: { key: string; value: unknown };
}

/** Opens the database of a packet, which is made if it is missing. */
export async function openStorage(packet: string): Promise<Storage & { close(): void }> {
  const db = await openDB<Schema>(`dissensus-packet-${packet}`, 1, {
    upgrade(created) {
      created.createObjectStore("copies", { keyPath: "id" });
      created.createObjectStore("records", { autoIncrement: true });
      created.createObjectStore("submitted", { autoIncrement: true });
      created.createObjectStore("local");
    },
  });
  return new BrowserStorage(db);
}

class BrowserStorage implements Storage {
  readonly #db: IDBPDatabase<Schema>;

  constructor(db: IDBPDatabase<Schema>) {
    this.#db = db;
  }

  async load(): Promise<Saved> {
    const tx = this.#db.transaction(["copies", "records", "submitted", "local"]);
    const local = tx.objectStore("local");
    const [copies, records, submitted, keys, values] = await Promise.all([
      tx.objectStore("copies").getAll(),
      tx.objectStore("records").getAll(),
      tx.objectStore("submitted").getAll(),
      local.getAllKeys(),
      local.getAll(),
    ]);
    const entries = keys.map((key, at) => [key, values[at]] as const);
    return { copies, records, submitted, local: Object.fromEntries(entries) as Partial<Local> };
  }

  async append(copy: Copy, records: readonly PageRecord[]): Promise<void> {
    // Strict: an answer that was confirmed survives a power cut.
    const tx = this.#db.transaction(["copies", "records"], "readwrite", { durability: "strict" });
    const store = tx.objectStore("records");
    const writes = [tx.objectStore("copies").put(copy), ...records.map((record) => store.add(record))];
    await Promise.all([...writes, tx.done]);
  }

  async submit(submitted: Submitted): Promise<void> {
    const tx = this.#db.transaction("submitted", "readwrite", { durability: "strict" });
    await Promise.all([tx.store.add(submitted), tx.done]);
  }

  async setLocal(key: keyof Local, value: unknown): Promise<void> {
    const tx = this.#db.transaction("local", "readwrite");
    await Promise.all([tx.store.put(structuredClone(value), String(key)), tx.done]);
  }

  close(): void {
    this.#db.close();
  }
}
