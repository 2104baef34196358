// Opens the packet in the page: its content, one window at a time, and the browser's storage.
import type { PageContent, Problem } from "$api/bindings";
import { Journal, type Storage } from "./journal";
import { isProblem } from "$words/problems";
import { Session, session, storageProblem } from "./session";
import { openStorage } from "./storage";
import { takeLock } from "./tab-lock";
import { problem } from "./problems";

/** Why the packet is not open, or that it is. */
export type Opened = { state: "open" } | { state: "elsewhere" } | { state: "failed"; problem: Problem };

const VERSION = 1;

/** Opens the packet; `elsewhere` if another tab has it. `onlost` is called if its storage goes away later. */
export async function openPage(onlost: () => void): Promise<Opened> {
  let release: (() => void) | null = null;
  try {
    const content = JSON.parse(
      document.getElementById("packet")?.textContent || "null",
    ) as PageContent | null;
    if (content?.version !== VERSION) throw problem("no-packet-here");
    release = await takeLock(`dissensus-packet-${content.packet}`);
    if (!release) return { state: "elsewhere" };
    const copy = { id: newId(), made_at_ms: Date.now() };
    const storage = explained(await openStorage(content, onlost));
    // A browser may refuse, and clear the storage once its disk is full.
    void navigator.storage?.persist?.().catch(() => false);
    const journal = await Journal.open(storage, copy);
    session.current = new Session(content, journal, content.online ? copy.id : null);
    session.current.sender?.start();
    if (content.online) rememberLink();
    return { state: "open" };
  } catch (thrown) {
    release?.();
    return { state: "failed", problem: isProblem(thrown) ? thrown : storageProblem(thrown) };
  }
}

/** The page on which people join shows the way back here. */
function rememberLink(): void {
  const { pathname } = location;
  const folder = pathname.slice(0, pathname.lastIndexOf("/p/") + 1);
  try {
    localStorage.setItem(`dissensus-joined:${folder}`, pathname);
  } catch {
    // Only the way back from the invitation is missing then.
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
    change: (key, change) => explain(storage.change(key, change)),
  };
}

/** A random UUID; `randomUUID` needs a secure context, which a file is not everywhere. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
