// Short notices in the corner: results and problems.
import type { Problem } from "$api/bindings";
import { asProblem } from "$words/problems";

interface Toast {
  id: number;
  kind: "done" | "note" | "problem";
  /** Of a problem. */
  code?: string;
  message: string;
  detail: string | null;
  /** Until it is closed. */
  persistent: boolean;
  /** What can be done about it. */
  act?: ToastAction | undefined;
  /** What there is to see of it. */
  more?: ToastAction | undefined;
}

export interface ToastAction {
  label: string;
  run: () => unknown;
}

/** How long a notice is shown: longer where there is more to read, or something to do. */
const MIN_MS = 4500;
const ACT_MS = 10_000;
const READING_MS = 60;
const MAX_MS = 20_000;

function lasts({ message, detail, act }: Omit<Toast, "id">): number {
  const reading = READING_MS * (message.length + (detail?.length ?? 0));
  return Math.min(MAX_MS, Math.max(act ? ACT_MS : MIN_MS, reading));
}

/**
 * The notices on screen, oldest first. Problems stay until closed; others disappear, and only the newest of
 * them is shown, so that they do not pile up.
 */
export class Toasts {
  list = $state<Toast[]>([]);
  #next = 1;
  #timers = new Map<number, ReturnType<typeof setTimeout>>();

  /** `offer`: the action offered for a problem of this code. */
  constructor(private readonly offer: (code: string) => ToastAction | undefined = () => undefined) {}

  /** `act` is what can be done about it, `more` what there is to see of it. */
  done(message: string, detail: string | null = null, act?: ToastAction, more?: ToastAction): void {
    this.#passing({ kind: "done", message, detail, act, more, persistent: false });
  }

  /** Something to know that is neither done nor wrong; with `persistent` until it is closed. */
  note(message: string, detail: string | null = null, persistent = false, act?: ToastAction): void {
    const note = { kind: "note", message, detail, persistent, act } as const;
    if (persistent) this.#add(note);
    else this.#passing(note);
  }

  problem(thrown: unknown, act?: ToastAction): void {
    const problem: Problem = asProblem(thrown);
    const same = this.list.find((t) => t.kind === "problem" && t.message === problem.message);
    if (same) this.close(same.id);
    const { message, detail, code } = problem;
    this.#add({ kind: "problem", code, message, detail, persistent: true, act: act ?? this.offer(code) });
  }

  /** Closes problems with this code, once they are over. */
  over(code: string): void {
    this.list.filter((toast) => toast.code === code).forEach(({ id }) => this.close(id));
  }

  close(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  /** Closes the newest; false where there is none. */
  closeNewest(): boolean {
    const newest = this.list.at(-1);
    if (newest) this.close(newest.id);
    return newest !== undefined;
  }

  /** A notice has the pointer or the focus: none disappears. */
  pause(): void {
    this.#timers.forEach((timer) => clearTimeout(timer));
    this.#timers.clear();
  }

  /** Nobody does any more. */
  release(): void {
    this.pause();
    for (const toast of this.list) if (!toast.persistent) this.#time(toast);
  }

  #passing(toast: Omit<Toast, "id">): void {
    this.list = this.list.filter(({ persistent }) => persistent);
    this.pause();
    this.#time(this.#add(toast));
  }

  #time(toast: Toast): void {
    this.#timers.set(
      toast.id,
      setTimeout(() => this.close(toast.id), lasts(toast)),
    );
  }

  #add(toast: Omit<Toast, "id">): Toast {
    const added = { id: this.#next++, ...toast };
    this.list = [...this.list, added];
    return added;
  }
}
