// Opens the packet in the page: its content, one window at a time, and the browser's storage.
import type { PageContent } from "$api/bindings";
import { Journal, type Storage } from "./journal";
import { Session, session, storageProblem } from "./session";
import { openStorage } from "./storage";
import type { Problem } from "$api/bindings";

/** Why the packet is not open, or that it is. */
export type Opened = { state: "open" } | { state: "elsewhere" } | { state: "failed"; problem: Problem };

const VERSION = 1;

/** Opens the packet; `elsewhere` if another window of this browser has it. */
export async function openPage(): Promise<Opened> {
  try {
    const content = JSON.parse(
      document.getElementById("packet")?.textContent || "null",
    ) as PageContent | null;
    if (content?.version !== VERSION)
      throw {
        code: "not-in-a-page",
        message: "This page has no packet: it was saved in part, or changed.",
        detail: null,
      };
    if (!(await isAlone(content.packet))) return { state: "elsewhere" };
    const copy = { id: newId(), made_at_ms: Date.now() };
    const storage = explained(await openStorage(content.packet));
    void navigator.storage?.persist?.();
    session.current = new Session(content, await Journal.open(storage, copy));
    return { state: "open" };
  } catch (thrown) {
    const isProblem =
      typeof thrown === "object" && thrown !== null && "code" in thrown && "message" in thrown;
    const problem = isProblem && !(thrown instanceof Error) ? (thrown as Problem) : storageProblem(thrown);
    return { state: "failed", problem };
  }
}

/** Errors of the storage as problems that can be shown. */
function explained(storage: Storage): Storage {
  const explain = <T>(work: Promise<T>): Promise<T> =>
    work.catch((thrown: unknown) => {
      throw storageProblem(thrown);
    });
  return {
    load: () => explain(storage.load()),
    append: (copy, records) => explain(storage.append(copy, records)),
    submit: (submitted) => explain(storage.submit(submitted)),
    setLocal: (key, value) => explain(storage.setLocal(key, value)),
  };
}

/** Whether no other window has this packet open; it is ours then until this one is closed. */
function isAlone(packet: string): Promise<boolean> {
  // Without locks, two windows are two copies, whose answers are merged by time.
  if (!navigator.locks) return Promise.resolve(true);
  return new Promise((answer) => {
    void navigator.locks.request(`dissensus-packet-${packet}`, { ifAvailable: true }, (lock) => {
      answer(lock !== null);
      return lock ? new Promise(() => {}) : undefined;
    });
  });
}

/** A random UUID; `randomUUID` needs a secure context, which a file is not everywhere. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
