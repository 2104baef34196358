// Short notices in the corner: what was done, and what went wrong with its detail.
import type { Problem } from "$lib/bindings";
import { asProblem } from "$lib/problems";

export interface Toast {
  id: number;
  kind: "done" | "problem";
  message: string;
  detail: string | null;
}

const LASTS_MS = 4500;
const AT_MOST = 4;

/** The notices on screen, oldest first. A problem stays until it is closed; the rest goes by itself. */
export class Toasts {
  list = $state<Toast[]>([]);
  #next = 1;

  done(message: string, detail: string | null = null): void {
    const id = this.#add({ kind: "done", message, detail });
    setTimeout(() => this.close(id), LASTS_MS);
  }

  problem(thrown: unknown): void {
    const problem: Problem = asProblem(thrown);
    const same = this.list.find((t) => t.kind === "problem" && t.message === problem.message);
    if (same) this.close(same.id);
    this.#add({ kind: "problem", message: problem.message, detail: problem.detail });
  }

  close(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }

  #add(toast: Omit<Toast, "id">): number {
    const id = this.#next++;
    this.list = [...this.list, { id, ...toast }].slice(-AT_MOST);
    return id;
  }
}
