// Actions that the view on screen registers, so that they can be run by name.
import { NAMED, type ActionId, type Scope } from "$logic/action-table";

type ActionTable = Partial<Record<ActionId, () => unknown>>;

class ViewActions {
  #all = $state.raw<readonly ActionTable[]>([]);
  /** Asked for before the view that does it was there. */
  #wanted: ActionId | null = null;

  /** Registers actions until the returned function is called. A pending request is run. */
  register(actions: ActionTable): () => void {
    this.#all = [...this.#all, actions];
    const wanted = this.#wanted === null ? undefined : actions[this.#wanted];
    if (wanted) {
      this.#wanted = null;
      // After the view is mounted.
      setTimeout(() => void wanted());
    }
    return () => (this.#all = this.#all.filter((other) => other !== actions));
  }

  /** Registers the key handlers of a view, by the default keys of its actions. */
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

  /** Runs an action now, or as soon as it is registered. */
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
