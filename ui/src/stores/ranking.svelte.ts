// The ranking of texts by predicted disagreement: values update in place, the order only when the reader
// agrees.
import { commands } from "$bindings";
import type { DisagreementQuery, DisagreementRow, QuestionId, Ranking, TextId } from "$api/bindings";
import { SvelteMap } from "svelte/reactivity";

const SETTLE_MS = 80;

export class RankingStore {
  query = $state.raw<DisagreementQuery | null>(null);
  /** The order on screen. */
  order = $state.raw<TextId[]>([]);
  /** Sizes of groups of indistinguishable texts, in rank order. */
  ties = $state.raw<readonly number[]>([]);
  /** The newest known revision of predictions. */
  revision = $state(0);
  annotators = $state(0);
  /** Those of them who have no label yet. */
  withoutLabels = $state(0);
  remark = $state<string | null>(null);
  /** What is missing before the figures mean something. */
  needs = $state<string | null>(null);
  /** All texts as they are now, for the plot. */
  newest = $state.raw<Ranking | null>(null);
  /** A newer order that waits until the reader asks for it. */
  waiting = $state.raw<TextId[] | null>(null);
  loading = $state(false);
  failed = $state.raw<unknown>(null);
  /** Ranks a text went up (above zero) or down when the order last changed. */
  moves = $state.raw<ReadonlyMap<TextId, number>>(new Map());
  readonly rows = new SvelteMap<TextId, DisagreementRow>();

  /** Whether the list is being read, so that it must not move. Set by the view while it is on screen. */
  reading: (() => boolean) | null = null;

  #rowRevision = new Map<TextId, number>();
  #asked = new Set<TextId>();
  #visible: TextId[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #turn = 0;

  /** Another project: nothing of the old one stays. */
  forget(): void {
    clearTimeout(this.#timer);
    this.#turn += 1;
    this.query = null;
    this.reading = null;
    this.#clear();
  }

  /** Shows the texts of `query`. Repeating a query keeps the old order, to show what has moved. */
  async load(query: DisagreementQuery): Promise<void> {
    if (JSON.stringify(query) !== JSON.stringify(this.query)) {
      this.query = query;
      this.#clear();
    }
    await this.refresh(false);
  }

  /** Predictions for a question changed; several changes in a row make one refresh. */
  receive(question: QuestionId): void {
    if (question !== this.query?.question || !this.reading) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(this.reading?.() ?? false), SETTLE_MS);
  }

  /** Fetches the newest predictions. With `hold`, a changed order waits in {@link waiting}. */
  async refresh(defer: boolean): Promise<void> {
    const query = this.query;
    if (!query) return;
    const turn = ++this.#turn;
    this.loading = true;
    try {
      const ranking = await commands.disagreementRanking(query);
      if (turn === this.#turn) await this.#arrive(ranking, defer);
    } catch (thrown) {
      if (turn === this.#turn) this.failed = thrown;
    } finally {
      if (turn === this.#turn) this.loading = false;
    }
  }

  /** Takes the order that waits. */
  apply(): void {
    if (this.waiting) this.#reorder(this.waiting);
  }

  /** The view shows these texts: loads those that are missing or out of date. */
  async need(texts: TextId[]): Promise<void> {
    this.#visible = texts;
    await this.#load();
  }

  async #arrive(ranking: Ranking, defer: boolean): Promise<void> {
    this.failed = null;
    this.revision = ranking.revision;
    this.annotators = ranking.annotators;
    this.withoutLabels = ranking.annotators_without_labels;
    this.remark = ranking.remark;
    this.needs = ranking.needs;
    this.newest = ranking;
    if (same(ranking.texts, this.order)) {
      this.waiting = null;
      this.ties = ranking.ties;
    } else if (defer && this.order.length > 0) this.waiting = ranking.texts;
    else this.#reorder(ranking.texts);
    await this.#load();
  }

  #reorder(texts: TextId[]): void {
    const before = new Map(this.order.map((text, rank) => [text, rank]));
    const moves = new Map<TextId, number>();
    texts.forEach((text, rank) => {
      const was = before.get(text);
      if (was !== undefined && was !== rank) moves.set(text, was - rank);
    });
    this.moves = moves;
    this.order = texts;
    this.ties = this.newest?.ties ?? [];
    this.waiting = null;
  }

  async #load(): Promise<void> {
    const { query, revision } = this;
    const wanted = this.#visible.filter((t) => this.#rowRevision.get(t) !== revision && !this.#asked.has(t));
    if (!query || wanted.length === 0) return;
    wanted.forEach((text) => this.#asked.add(text));
    try {
      const rows = await commands.disagreementRows(query, wanted);
      if (query !== this.query) return;
      for (const row of rows) {
        this.rows.set(row.text, row);
        this.#rowRevision.set(row.text, revision);
      }
    } catch (thrown) {
      this.failed = thrown;
    } finally {
      wanted.forEach((text) => this.#asked.delete(text));
    }
    if (this.revision !== revision) await this.#load();
  }

  #clear(): void {
    this.order = [];
    this.ties = [];
    this.waiting = null;
    this.moves = new Map();
    this.remark = null;
    this.needs = null;
    this.newest = null;
    this.failed = null;
    this.rows.clear();
    this.#rowRevision.clear();
    this.#asked.clear();
    this.#visible = [];
  }
}

function same(a: readonly TextId[], b: readonly TextId[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}
