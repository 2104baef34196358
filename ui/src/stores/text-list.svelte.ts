// A list of texts: the rows in sight are fetched, the others only counted.
import { commands } from "$bindings";
import type { FoundTexts, TextCounts, TextFilter, TextId, TextQuery, TextRow, TextSort } from "$api/bindings";
import { SvelteMap } from "svelte/reactivity";

/** Rows that are fetched at once. */
const PAGE = 100;

export class TextList {
  search = $state("");
  filter = $state<TextFilter>("all");
  sort = $state<TextSort>("file");
  selected = $state<TextId | null>(null);
  /** The index of the selected text; known before the row is fetched. */
  at = $state(-1);
  total = $state(0);
  counts = $state.raw<TextCounts | null>(null);
  loading = $state(false);
  failed = $state.raw<unknown>(null);
  /** Rows by index. */
  readonly rows = new SvelteMap<number, TextRow>();

  #query: TextQuery | null = null;
  #turn = 0;
  #last: Promise<unknown> = Promise.resolve();
  #asked = new Set<number>();
  #revision = -1;

  /** Another project: nothing of the old one stays. */
  forget(): void {
    this.#turn += 1;
    this.search = "";
    this.filter = "all";
    this.sort = "file";
    this.selected = null;
    this.at = -1;
    this.#query = null;
    this.counts = null;
    this.loading = false;
    this.failed = null;
    this.#clear();
  }

  /**
   * Shows the texts of a query. Repeating a query keeps the selection; old rows stay until new ones arrive.
   */
  async load(query: TextQuery): Promise<void> {
    const turn = ++this.#turn;
    this.loading = true;
    // One after the other: a search reads every text, and only the newest is of interest.
    await this.#last.catch(() => null);
    if (turn !== this.#turn) return;
    // Of another list one begins at the top; the same one goes on where it was.
    const again = this.#query === null || JSON.stringify(query) === JSON.stringify(this.#query);
    const request = commands.findTexts(query, 0, PAGE, again ? this.selected : null);
    this.#last = request;
    try {
      const found = await request;
      if (turn !== this.#turn) return;
      this.#query = query;
      this.#clear();
      this.#take(found);
      this.failed = null;
      // On a repeated query, the text after a removed one takes its place.
      if (found.place !== null) this.choose(found.place);
      else if (again && this.at >= 0) this.choose(this.at);
      else [this.at, this.selected] = [-1, null];
    } catch (thrown) {
      if (turn === this.#turn) this.failed = thrown;
    } finally {
      if (turn === this.#turn) this.loading = false;
    }
  }

  /** Selects the text at an index, clamped to the list. */
  choose(place: number): void {
    this.at = Math.min(Math.max(place, 0), this.total - 1);
    this.#name();
    void this.need(this.at, this.at);
  }

  /** The selected text, once its row is loaded. */
  #name(): void {
    const row = this.rows.get(this.at);
    if (row) this.selected = row.text;
  }

  /** These rows are visible: missing ones are fetched. */
  async need(first: number, last: number): Promise<void> {
    const query = this.#query;
    if (!query) return;
    const pages: number[] = [];
    for (
      let page = Math.floor(Math.max(0, first) / PAGE);
      page * PAGE <= Math.min(last, this.total - 1);
      page += 1
    )
      if (!this.rows.has(page * PAGE) && !this.#asked.has(page)) pages.push(page);
    await Promise.all(pages.map((page) => this.#fetch(query, page)));
  }

  async #fetch(query: TextQuery, page: number): Promise<void> {
    const turn = this.#turn;
    this.#asked.add(page);
    try {
      const found = await commands.findTexts(query, page * PAGE, PAGE, null);
      if (turn !== this.#turn) return;
      // Something was done meanwhile: rows of two moments would not fit together.
      if (found.revision !== this.#revision) this.#clear();
      this.#take(found);
    } catch (thrown) {
      if (turn === this.#turn) this.failed = thrown;
    } finally {
      this.#asked.delete(page);
    }
  }

  #take({ total, offset, rows, counts, revision }: FoundTexts): void {
    this.total = total;
    this.counts = counts;
    this.#revision = revision;
    rows.forEach((row, i) => this.rows.set(offset + i, row));
    this.#name();
  }

  #clear(): void {
    this.rows.clear();
    this.#asked.clear();
    this.total = 0;
  }
}
