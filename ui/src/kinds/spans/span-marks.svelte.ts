// The marks of one person in the current text: marks, selection and undo. Marks count code points, the caret
// and the selection UTF-16 code units.
import type { Scale, Span, TextId } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { sameSpan, sameSpans, spanSet, spansName, wordsOf } from "./spans";
import { TextUnits, type Stretch } from "$logic/text-units";

/** Marks, and whether they are an answer: an empty set is one only after “nothing to mark”. */
interface Draft {
  readonly spans: readonly Span[];
  readonly decided: boolean;
}

const EMPTY: Draft = { spans: [], decided: false };
/** The number of undo steps. */
const STEPS = 200;

export class SpanMarks {
  units = $state.raw(new TextUnits(""));
  /** Type of the next mark. */
  kind = $state(0);
  /** Whether marks go from word to word; set by the view. */
  snap = $state(true);
  /** The offset of the caret; null if there is none. */
  caret = $state<number | null>(null);
  /** The mark that keys and buttons change. */
  selected = $state.raw<Span | null>(null);
  /** What was done last, in words. */
  announcement = $state("");

  #scale: Scale;
  #text: TextId | null = null;
  #given = $state.raw<readonly Span[] | null>(null);
  #draft = $state.raw<Draft>(EMPTY);
  #anchor = $state<number | null>(null);
  /** The selection is of characters, though marks otherwise go from word to word. */
  #exact = $state(false);
  #past = $state.raw<readonly Draft[]>([]);
  #future = $state.raw<readonly Draft[]>([]);
  /** Where a finger tapped last; null once something else was done. */
  #tapped: number | null = null;

  constructor(scale: Scale) {
    this.#scale = scale;
  }

  /** The marks, in order. */
  readonly spans: readonly Span[] = $derived(this.#draft.spans);
  /** The marks differ from the saved answer. */
  readonly changed: boolean = $derived(
    this.#given === null ? this.#draft.decided : !sameSpans(this.#draft.spans, this.#given),
  );
  readonly undoable: boolean = $derived(this.#past.length > 0);
  /** The stretch between anchor and caret, snapped. */
  readonly selection: Stretch | null = $derived.by(() => {
    if (this.#anchor === null || this.caret === null) return null;
    return this.snapped(this.#anchor, this.caret, this.#exact);
  });
  /** What the next mark would hold: the selection, else the word at the caret. */
  readonly target: Stretch | null = $derived(
    this.selection ?? (this.caret === null ? null : this.units.wordAt(this.caret)),
  );

  /**
   * Loads a text with its saved answer, and with an unsubmitted draft if there is one. The same text with the
   * same answer is left unchanged.
   */
  load(
    text: TextId | null,
    body: string,
    given: readonly Span[] | null,
    waiting: readonly Span[] | null = null,
  ): void {
    if (text !== this.#text) {
      this.#text = text;
      this.units = new TextUnits(body);
      this.forget();
    } else if (given === this.#given || (given && this.#given && sameSpans(given, this.#given))) return;
    this.#given = given;
    const decided = waiting !== null || given !== null;
    this.#settle({ spans: spanSet(waiting ?? given ?? []), decided });
  }

  /** These marks are on disk. What was marked since they were given stays, to be given. */
  setSaved(given: readonly Span[]): void {
    this.#given = given;
    if (sameSpans(this.#draft.spans, given)) this.#settle({ spans: given, decided: true });
  }

  /** Marks of an undone answer can be redone. */
  setDraft(spans: readonly Span[]): void {
    this.#future = [{ spans: spanSet(spans), decided: true }];
  }

  /** Begins anew from here. */
  #settle(draft: Draft): void {
    // The reveal then refers to the words that were marked last.
    if (this.selection) this.caret = this.selection.start;
    this.#draft = draft;
    this.#past = [];
    this.#future = [];
    this.#anchor = null;
    this.selected = null;
    this.announcement = "";
  }

  /** The characters between two places as they would be marked; null where there are none. */
  snapped(a: number, b: number, exact: boolean): Stretch | null {
    const [start, end] = [Math.min(a, b), Math.max(a, b)];
    return exact || !this.snap ? this.units.snapToClusters(start, end) : this.units.snapToWords(start, end);
  }

  /** Moves the caret; `extend` keeps the other end of the selection. */
  moveTo(offset: number, extend = false, exact = !this.snap): void {
    const before = this.caret ?? 0;
    this.#anchor = extend ? (this.#anchor ?? before) : null;
    this.#exact = exact;
    this.caret = this.units.floor(offset);
    this.selected = null;
    this.#tapped = null;
    this.announcement = this.#whereWords();
  }

  /** One word or one character on or back. The first key puts the caret before the first word. */
  step(by: 1 | -1, unit: "word" | "character", extend: boolean): void {
    if (this.caret === null) {
      this.moveTo(this.units.words[0]?.start ?? 0);
      return;
    }
    const [here, units] = [this.caret, this.units];
    if (unit === "character") this.moveTo(by > 0 ? units.next(here) : units.previous(here), extend, true);
    else if (by < 0) this.moveTo(units.previousWord(here), extend, !this.snap);
    else this.moveTo(extend ? units.wordEnd(here) : units.nextWord(here), extend, !this.snap);
  }

  /**
   * Selects a type: for the selected mark, the selection or the word at the caret, else for the next mark.
   */
  press(kind: number): void {
    if (kind < 0 || kind >= this.#scale.levels.length) return;
    this.kind = kind;
    if (this.selected) this.#retype(this.selected, kind);
    else if (this.target) this.mark(this.target, kind);
    else this.choosing(kind);
  }

  /** Chooses the type of the next mark, and marks nothing. */
  choosing(kind: number): void {
    this.kind = kind;
    this.announcement = t("answer.next_type", { type: this.#name(kind) });
  }

  /** Marks a stretch; existing marks of the same type are unchanged. */
  mark(stretch: Stretch, kind: number): void {
    const span = { start: this.units.pointOf(stretch.start), end: this.units.pointOf(stretch.end), kind };
    const what = { type: this.#name(kind), words: wordsOf(this.units, span) };
    if (this.spans.some((other) => sameSpan(other, span)))
      this.announcement = t("answer.already_marked", what);
    else {
      this.#change([...this.spans, span]);
      this.announcement = t("answer.marked", what);
    }
  }

  /** Marks the dragged stretch with the selected type, and clears the selection. */
  markBetween(a: number, b: number, exact: boolean): void {
    const stretch = this.snapped(a, b, exact);
    this.forget();
    if (stretch) this.mark(stretch, this.kind);
  }

  /** Takes one mark out. */
  remove(span: Span): void {
    this.#change(this.spans.filter((other) => !sameSpan(other, span)));
    if (this.selected && sameSpan(this.selected, span)) this.selected = null;
    this.announcement = t("answer.removed", { words: wordsOf(this.units, span) });
  }

  /** Takes out the chosen mark, else the shortest one at the caret; false where there is none. */
  removeHere(): boolean {
    const here = this.selected ?? this.at(this.target?.start ?? null)[0];
    if (here) this.remove(here);
    return here !== undefined;
  }

  /** Answers that there is nothing to mark. */
  nothing(): void {
    this.#change([]);
    this.forget();
    this.announcement = t("answer.nothing_to_mark");
  }

  /** The marks at an offset, the shortest first. */
  at(offset: number | null): Span[] {
    if (offset === null || offset >= this.units.length) return [];
    const point = this.units.pointOf(offset);
    const over = this.spans.filter(({ start, end }) => start <= point && point < end);
    return over.sort((a, b) => a.end - a.start - (b.end - b.start));
  }

  /** Chooses a mark, for a type or to take it out. */
  choose(span: Span): void {
    this.#tapped = null;
    this.selected = span;
    this.caret = this.units.unitOf(span.start);
    this.#anchor = null;
    this.announcement = `${this.#name(span.kind)}: ${wordsOf(this.units, span)}`;
  }

  /** A click: on marks it chooses one after the other, elsewhere it puts the caret there. */
  click(offset: number): void {
    const over = this.at(offset);
    const next = over.findIndex((span) => this.selected !== null && sameSpan(span, this.selected)) + 1;
    const span = over[next] ?? over[0];
    if (span) this.choose(span);
    else this.moveTo(offset);
  }

  /**
   * A tap of a finger, which cannot drag: on marks as a click; elsewhere the first one selects a word, and
   * the next one all words from there on.
   */
  tap(offset: number): void {
    const first = this.#tapped === null || this.selection ? null : this.units.wordAt(this.#tapped);
    const last = this.units.wordAt(offset);
    this.click(offset);
    if (this.selected || !last) return;
    this.#tapped = offset;
    if (!first || first.start === last.start) return;
    const back = last.start < first.start;
    this.moveTo(back ? first.end : first.start);
    this.moveTo(back ? last.start : last.end, true, false);
    this.#tapped = null;
  }

  /** To the mark after (or before) the chosen one or the caret; false where there is no further one. */
  cycle(step: 1 | -1): boolean {
    const at = this.selected;
    const here = at ? this.spans.findIndex((span) => sameSpan(span, at)) : this.#caretAmong(step);
    const next = this.spans[here + step];
    if (next) this.choose(next);
    return next !== undefined;
  }

  /** The index that the caret corresponds to, so that a step leads to the mark after or before it. */
  #caretAmong(step: 1 | -1): number {
    if (this.caret === null) return step > 0 ? -1 : this.spans.length;
    const point = this.units.pointOf(this.caret);
    if (step > 0) {
      const after = this.spans.findIndex(({ start }) => start >= point);
      return (after < 0 ? this.spans.length : after) - 1;
    }
    return this.spans.findLastIndex(({ start }) => start < point) + 1;
  }

  /**
   * Deselects: the mark first, leaving its words selected, then the selection; false if only the caret
   * remains.
   */
  letGo(): boolean {
    if (this.selected) {
      this.#anchor = this.units.unitOf(this.selected.start);
      this.caret = this.units.unitOf(this.selected.end);
      this.#exact = true;
      this.selected = null;
      return true;
    }
    const had = this.#anchor !== null;
    this.#anchor = null;
    return had;
  }

  /** No caret, nothing selected. */
  forget(): void {
    this.#tapped = null;
    this.caret = null;
    this.#anchor = null;
    this.selected = null;
  }

  /** Takes the last change on this text back; false where there is none. */
  undo(): boolean {
    const before = this.#past.at(-1);
    if (!before) return false;
    this.#future = [...this.#future, this.#draft];
    this.#past = this.#past.slice(0, -1);
    this.#show(before, "undone");
    return true;
  }

  /** Redoes a change; false if there is none. */
  redo(): boolean {
    const after = this.#future.at(-1);
    if (!after) return false;
    this.#past = [...this.#past, this.#draft];
    this.#future = this.#future.slice(0, -1);
    this.#show(after, "redone");
    return true;
  }

  #show(draft: Draft, what: "undone" | "redone"): void {
    this.#draft = draft;
    this.selected = null;
    this.announcement = t(`answer.${what}`, { marks: spansName(this.#scale, draft.spans) });
  }

  #retype(span: Span, kind: number): void {
    const other = { ...span, kind };
    if (span.kind !== kind) this.#change([...this.spans.filter((one) => !sameSpan(one, span)), other]);
    this.selected = other;
    this.announcement = `${this.#name(kind)}: ${wordsOf(this.units, other)}`;
  }

  #change(spans: readonly Span[]): void {
    this.#tapped = null;
    this.#past = [...this.#past, this.#draft].slice(-STEPS);
    this.#future = [];
    this.#draft = { spans: spanSet(spans), decided: true };
  }

  #name(kind: number): string {
    return this.#scale.levels[kind] ?? "";
  }

  /** The selection, or the word at the caret and how it is marked. */
  #whereWords(): string {
    const target = this.target;
    if (!target) return "";
    const words = this.units.body.slice(target.start, target.end);
    if (this.selection) return t("answer.selected", { words });
    const kinds = [...new Set(this.at(target.start).map(({ kind }) => this.#name(kind)))];
    return kinds.length > 0 ? `${words} (${kinds.join(t("format.list_separator"))})` : words;
  }
}
