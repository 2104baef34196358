// Opens the packet in the page: its content, one window at a time, and the browser's storage.
import type { PageContent, Problem } from "$api/bindings";
import { Journal, type Storage } from "./journal";
import { isProblem } from "$words/problems";
import { envelopeIn, unlock } from "./locked";
import { Session, session, storageProblem } from "./session";
import { contentFor, findPerson, joinPageIn, type Begun, type Choice } from "./join";
import { newId } from "./new-id";
import { openStorage } from "./storage";
import { takeLock } from "./tab-lock";
import { problem } from "./problems";

/** Why the packet is not open, or that it is. */
export type Opened =
  | { state: "open" }
  | { state: "elsewhere" }
  /** It needs a passphrase; `wrong` after another one was typed. */
  | { state: "locked"; wrong: boolean }
  /** It is a page for everybody, and who is here has not joined or is one of those who have. */
  | { state: "invited"; study: string; begun: Begun[] }
  | { state: "failed"; problem: Problem };

/** What the person did to open the page. */
export interface Entry {
  passphrase: string | null;
  choice: Choice | null;
}

const VERSION = 1;

/** What the file has for the page; null if it was saved in part. */
function contentOfFile(): Partial<PageContent> | null {
  try {
    return JSON.parse(
      document.getElementById("packet")?.textContent || "null",
    ) as Partial<PageContent> | null;
  } catch {
    return null;
  }
}

/** The language that the study has chosen; null leaves it to the browser. */
export const languageOfStudy = (): string | null => contentOfFile()?.language ?? null;

/** The content of a locked page, once it was unlocked: deriving the key takes a second on a phone. */
let unlocked: string | null = null;

/** Opens the packet; `elsewhere` if another tab has it. `onlost` is called if its storage goes away later. */
export async function openPage(onlost: () => void, { passphrase, choice }: Entry): Promise<Opened> {
  let release: (() => void) | null = null;
  try {
    let content = contentOfFile() as PageContent | null;
    const envelope = envelopeIn(content);
    if (envelope) {
      const plain = unlocked ?? (passphrase === null ? null : await unlock(envelope, passphrase));
      unlocked = plain;
      if (plain === null) return { state: "locked", wrong: passphrase !== null };
      content = JSON.parse(plain) as PageContent;
    }
    const page = joinPageIn(content);
    if (page) {
      const { joined, begun } = await findPerson(page, location.href, choice, Date.now());
      if (!joined) return { state: "invited", study: page.content.name, begun };
      content = contentFor(page, joined);
    }
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
  const explain = <T>(work: Promise<T>, isAnswer = true): Promise<T> =>
    work.catch((thrown: unknown) => {
      throw storageProblem(thrown, isAnswer);
    });
  return {
    load: () => explain(storage.load()),
    append: (copy, records) => explain(storage.append(copy, records)),
    submit: (submitted) => explain(storage.submit(submitted)),
    change: (key, change) => explain(storage.change(key, change), false),
  };
}
