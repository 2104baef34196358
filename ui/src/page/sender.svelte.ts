// Sends what is done in a page to the server from which it came: all of it, again after each answer, until
// the server confirms that it is on its disk.
import type { Problem } from "$api/bindings";
import { t } from "$messages/messages.svelte";

/** The server's answer to a submission, as far as it matters. */
interface Reply {
  ok: boolean;
  status: number;
  json(): Promise<unknown>;
}

/** What a sender needs; tests have their own. */
export interface Sending {
  /** How many records there are. */
  count(): number;
  /** All of them as a submission. */
  submission(): string;
  /** Whether everything is answered. */
  isComplete(): boolean;
  put(content: string, closing: boolean): Promise<Reply>;
  wait(milliseconds: number, work: () => void): () => void;
}

/** Answers that follow each other quickly are sent together. */
const TOGETHER_MS = 400;
/** All that was done is sent each time: the more that is, the more answers go together, for so long. */
const BYTES_PER_MS = 25;
const LONGEST_TOGETHER_MS = 5000;
/** Browsers refuse larger requests that outlive their page: 64 KiB, headers included. */
const LARGEST_CLOSING = 60_000;
/** The first pause after a failure; each further one is twice as long. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** Trying again helps with these, and where there is no reply at all. */
const PASSING = [408, 429];

export class Sender {
  /** Number of records that the server has not confirmed. */
  left = $state(0);
  /** Whether the last attempt failed, and it will be tried again. */
  waiting = $state(false);
  /** Why the server does not take what was done; it is tried again after the next answer. */
  problem = $state.raw<Problem | null>(null);
  readonly #sending: Sending;
  /**
   * What the server has on its disk for sure: it may have been restored from a backup since the last
   * time.
   */
  #confirmed = 0;
  #failures = 0;
  /** Size of what was sent last. */
  #bytes = 0;
  #busy = false;
  #stop: (() => void) | null = null;

  constructor(sending: Sending) {
    this.#sending = sending;
    this.left = this.#missing();
  }

  /** Sends everything that was done when the page was open before. */
  start(): void {
    if (this.left > 0) this.#after(0);
  }

  /** To be called after something was recorded. */
  changed(): void {
    this.left = this.#missing();
    this.#failures = 0;
    if (this.left === 0) return;
    // One that waits already takes this along; after a failure it is tried again at once.
    if (this.waiting || this.#sending.isComplete()) this.#after(TOGETHER_MS);
    else if (this.#stop === null) this.#after(this.#together());
  }

  /** Sends now what is left, as when the computer is online again. */
  now(): void {
    if (this.left > 0 && this.problem === null) this.#after(0);
  }

  /** A last attempt of a page that is closed or hidden; a browser finishes it without the page. */
  close(): void {
    if (this.left === 0) return;
    const content = this.#sending.submission();
    const isSmall = new TextEncoder().encode(content).length < LARGEST_CLOSING;
    if (isSmall) void this.#sending.put(content, true).catch(() => {});
    // A page that is only hidden may have the time.
    else this.#after(0);
  }

  #missing(): number {
    return Math.max(0, this.#sending.count() - this.#confirmed);
  }

  #together(): number {
    return Math.min(TOGETHER_MS + this.#bytes / BYTES_PER_MS, LONGEST_TOGETHER_MS);
  }

  #after(milliseconds: number): void {
    this.#stop?.();
    this.#stop = this.#sending.wait(milliseconds, () => {
      this.#stop = null;
      void this.#send();
    });
  }

  async #send(): Promise<void> {
    // What comes meanwhile is sent afterwards.
    if (this.#busy) return;
    this.#busy = true;
    const count = this.#sending.count();
    const reply = await this.#put().catch(() => null);
    const taken = reply?.ok === true && (await isReceipt(reply));
    this.problem = null;
    if (taken) {
      [this.#confirmed, this.#failures, this.waiting] = [Math.max(count, this.#confirmed), 0, false];
    } else if (reply && !reply.ok && reply.status < 500 && !PASSING.includes(reply.status)) {
      this.waiting = false;
      this.problem = await problemIn(reply);
    } else {
      this.waiting = true;
      this.#after(Math.min(FIRST_PAUSE_MS * 2 ** this.#failures++, LONGEST_PAUSE_MS) * spread());
    }
    this.#busy = false;
    this.left = this.#missing();
    if (taken && this.left > 0) this.#after(this.#together());
  }

  /** Also a submission that cannot be made is one that was not sent. */
  async #put(): Promise<Reply> {
    const content = this.#sending.submission();
    this.#bytes = content.length;
    return this.#sending.put(content, false);
  }
}

/** Whether this is what the server writes, and not a page that a network puts in its place. */
async function isReceipt(reply: Reply): Promise<boolean> {
  const found = (await reply.json().catch(() => null)) as { answers?: unknown } | null;
  return typeof found?.answers === "number";
}

/** Pages that lost the server together do not come back together. */
function spread(): number {
  return 0.75 + Math.random() / 2;
}

/** Codes of problems that the server words in the reader's language itself. */
const WORDED = ["link-unknown", "too-many-requests"];

async function problemIn(reply: Reply): Promise<Problem> {
  const found = (await reply.json().catch(() => null)) as Partial<Problem> | null;
  const code = found?.code;
  if (code === undefined)
    return {
      code: "not-received",
      message: t("page.send_server_status", { status: reply.status }),
      detail: null,
    };
  const message = () => {
    if (found?.message && WORDED.includes(code)) return found.message;
    if (code === "merge-withdrawn") return t("page.send_problem_withdrawn");
    if (code === "too-large") return t("page.send_problem_too_large");
    return t("page.send_problem_not_taken", { code });
  };
  return { code, message: message(), detail: null };
}
