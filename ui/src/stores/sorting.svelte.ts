// Rows sorted by a column.
import { byName } from "$words/format";

/** A column of figures, or that of the names. */
export interface SortedColumn<Column extends string> {
  column: Column | "name";
  name: string;
  /** What it is. */
  what: string;
  /** Stands at the right, as its figures do. */
  right?: boolean;
}

export class Sorting<Row extends { name: string }, Column extends string> {
  /** What the rows are sorted by; as they come where nothing is chosen. */
  by = $state<Column | "name" | null>(null);
  down = $state(true);
  readonly #value: (row: Row, column: Column) => number | null;

  /** `value` is what a row has in a column, or null where that is not known. */
  constructor(by: Column | null, value: (row: Row, column: Column) => number | null) {
    this.by = by;
    this.#value = value;
  }

  /** By this column, and where that is so already the other way; figures begin with the greatest. */
  choose(column: Column | "name"): void {
    if (this.by === column) this.down = !this.down;
    else [this.by, this.down] = [column, column !== "name"];
  }

  /** The rows in their order. What is not known comes last, whichever way. */
  sorted(rows: readonly Row[]): readonly Row[] {
    const { by } = this;
    if (by === null) return rows;
    const way = this.down ? -1 : 1;
    return [...rows].sort((a, b) => {
      const names = byName(a, b);
      if (by === "name") return way * names;
      const [x, y] = [this.#value(a, by), this.#value(b, by)];
      if (x === null || y === null) return Number(x === null) - Number(y === null) || names;
      return way * (x - y) || names;
    });
  }

  /** The value of `aria-sort` for a column. */
  order(column: Column | "name"): "none" | "ascending" | "descending" {
    return this.by !== column ? "none" : this.down ? "descending" : "ascending";
  }
}
