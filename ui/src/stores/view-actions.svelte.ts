// What the view on screen offers to do, so that it can also be asked for by name.
import { NAMED, type ActionId, type Scope } from "$logic/action-table";

type ActionTable = Partial<Record<ActionId, () => unknown>>;

class ViewActions {
  #all = $state.raw<readonly ActionTable[]>([]);
  /** Asked for before the view that does it was there. */
  #wanted: ActionId | null = null;

  /** Offers these until what it returns is called. What was asked for meanwhile is done. */
  register(actions: ActionTable): () => void {
    this.#all = [...this.#all, actions];
    const wanted = this.#wanted === null ? undefined : actions[this.#wanted];
    if (wanted) {
      this.#wanted = null;
      // Once the view stands.
      setTimeout(() => void wanted());
    }
    return () => (this.#all = this.#all.filter((other) => other !== actions));
  }

  /** Offers what a view does on its keys, which are told by the keys that the actions have at first. */
  registerKeys(scope: Scope, byKey: Record<string, () => unknown>): () => void {
    const own = NAMED.filter((one) => one.scope === scope);
    return this.register(
      Object.fromEntries(
        own.flatMap(({ id, key }) => {
          const does = byKey[key?.toLowerCase() ?? ""];
          return does ? [[id, does]] : [];
        }),
      ),
    );
  }

  get(id: ActionId): (() => unknown) | undefined {
    return this.#all.findLast((actions) => actions[id])?.[id];
  }

  /** Does it now, or as soon as somebody offers it. */
  request(id: ActionId): void {
    const now = this.get(id);
    if (now) void now();
    else this.#wanted = id;
  }

  /** Nobody waits for it any more. */
  forget(): void {
    this.#wanted = null;
  }
}

export const viewActions = new ViewActions();
