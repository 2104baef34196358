// View state that this computer remembers. It is not a setting: without it, the window starts with defaults.

const PREFIX = "dissensus.";

/** What was remembered under this name; `otherwise` where that is nothing, or nothing that could be meant. */
export function remembered<T>(name: string, otherwise: T, isMeant: (value: unknown) => value is T): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PREFIX + name) ?? "null");
    return isMeant(value) ? value : otherwise;
  } catch {
    return otherwise;
  }
}

/** Remembers it; null forgets. Where nothing can be remembered the window works on without. */
export function remember(name: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden: the state lasts until the window is closed.
  }
}
