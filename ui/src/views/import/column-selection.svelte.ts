// Columns that are selected by their headers: with the mouse by dragging, with Shift and Ctrl, and by keys.

export class ColumnSelection {
  /** Those selected. */
  chosen = $state.raw<ReadonlySet<string>>(new Set());
  /** The header that keys move from. */
  cursor = $state<string | null>(null);
  #anchor: string | null = null;
  #dragging = false;

  /** `shown`: the columns that a range goes over, in their order. */
  constructor(private readonly shown: () => readonly string[]) {}

  has(column: string): boolean {
    return this.chosen.has(column);
  }

  /** A header was pressed: alone, with Shift up to it, or with Ctrl in addition. */
  press(column: string, { extend = false, add = false } = {}): void {
    if (extend && this.#anchor !== null) {
      this.#reach(column);
      return;
    }
    this.#dragging = !add;
    const alone = this.chosen.size === 1 && this.has(column);
    if (add || alone) this.toggle(column);
    else this.#set(column, [column]);
  }

  /** The mouse came over a header. True where it is pressed, so that the selection goes up to there. */
  over(column: string): boolean {
    if (!this.#dragging || this.#anchor === null || column === this.cursor) return false;
    this.#reach(column);
    return true;
  }

  release(): void {
    this.#dragging = false;
  }

  toggle(column: string): void {
    const chosen = new Set(this.chosen);
    if (!chosen.delete(column)) chosen.add(column);
    this.#set(column, chosen);
  }

  /** Goes on by so many headers; with Shift all up to there are selected. False where there is none. */
  move(from: string, by: number, extend: boolean): boolean {
    const shown = this.shown();
    const next = shown[shown.indexOf(from) + by];
    if (next === undefined) return false;
    if (extend) {
      this.#anchor ??= from;
      this.#reach(next);
    } else {
      this.#anchor = next;
      this.cursor = next;
    }
    return true;
  }

  select(columns: readonly string[]): void {
    this.chosen = new Set(columns);
  }

  clear(): void {
    this.chosen = new Set();
    this.#anchor = null;
  }

  #set(column: string, chosen: Iterable<string>): void {
    this.chosen = new Set(chosen);
    this.#anchor = column;
    this.cursor = column;
  }

  /** Everything from where the selection began to a header. */
  #reach(column: string): void {
    const shown = this.shown();
    const [a, b] = [shown.indexOf(this.#anchor ?? column), shown.indexOf(column)];
    this.chosen = new Set(shown.slice(Math.min(a, b), Math.max(a, b) + 1));
    this.cursor = column;
  }
}
