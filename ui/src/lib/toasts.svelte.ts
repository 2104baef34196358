// Short notices in the corner: what was done, and what went wrong with its detail.
import type { Problem } from "$lib/bindings";
import { asProblem } from "$lib/problems";

export interface Toast {
  id: number;
  kind: "done" | "note" | "problem";
  message: string;
  detail: string | null;
  /** Until it is closed. */
  stays: boolean;
  /** What can be done about it. */
  act?: ToastAction | undefined;
}

export interface ToastAction {
  label: string;
  run: () => unknown;
}

const LASTS_MS = 4500;

/**
 * The notices on screen, oldest first. A problem, and what was said to stay, stays until it is closed; the rest goes by itself,
 * and only the newest of it is shown: notices of quick work must not pile up over the work.
 */
export class Toasts {
  list = $state<Toast[]>([]);
  #next = 1;

  /** `offer`: what can be done about a problem of this code, whoever meets it. */
  constructor(private readonly offer: (code: string) => ToastAction | undefined = () => undefined) {}

  /** With `stays` it waits until it is closed, for a detail that takes longer to read; `act` is what can be done about it. */
  done(message: string, detail: string | null = null, stays = false, act?: ToastAction): void {
    if (stays) this.#add({ kind: "done", message, detail, stays, act });
    else this.#passing({ kind: "done", message, detail, act });
  }

  /** Something to know that is neither done nor wrong. */
  note(message: string, detail: string | null = null): void {
    this.#passing({ kind: "note", message, detail });
  }

  problem(thrown: unknown, act?: ToastAction): void {
    const problem: Problem = asProblem(thrown);
    const same = this.list.find((t) => t.kind === "problem" && t.message === problem.message);
    if (same) this.close(same.id);
    const { message, detail, code } = problem;
    this.#add({ kind: "problem", message, detail, stays: true, act: act ?? this.offer(code) });
  }

  close(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  #passing(toast: Omit<Toast, "id" | "stays">): void {
    this.list = this.list.filter(({ stays }) => stays);
    const id = this.#add({ ...toast, stays: false });
    setTimeout(() => this.close(id), LASTS_MS);
  }

  #add(toast: Omit<Toast, "id">): number {
    const id = this.#next++;
    this.list = [...this.list, { id, ...toast }];
    return id;
  }
}
