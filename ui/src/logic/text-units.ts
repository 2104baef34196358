// The units of a text: code points, grapheme clusters and words. An offset counts UTF-16 code units, as in
// JavaScript; answers count code points.

/** A stretch of a text, half-open, in UTF-16 code units. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

const LETTERS = /[\p{L}\p{N}\p{M}_]+(?:['’.][\p{L}\p{N}\p{M}_]+)*/gu;
/** Nothing that joins: every character is a cluster. */
const SIMPLE = /^[\n\t\x20-\x7e]*$/;
const PICTURE = /\p{Extended_Pictographic}/u;
/** Where there is no segmenter: a character with its marks, joined emoji, a line break of two. */
const CLUSTER =
  /\r\n|(?:\p{RI}\p{RI}|.(?:[\p{M}\u200d\ufe0f]|\p{EMod}|(?<=\u200d)\p{Extended_Pictographic})*)/gsu;

/** An offset moved to the nearest valid one. */
const within = (at: number, length: number) => Math.max(0, Math.min(length, at));

/** The last index of `places` (ascending) with a value of at most `at`; -1 if there is none. */
function lastUpTo(places: readonly number[], at: number): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

interface Segment {
  segment: string;
  index: number;
  isWordLike: boolean;
}

/**
 * A new sentence or word, where no unit continues: a letter or number after white space or full-width
 * punctuation.
 */
const BREAK = /(?<=[\s。，！？；])(?=[\p{L}\p{N}])/gu;
/** Engines look at all of a string for each of its segments: a long text is read in parts. */
const PART = 400;

/** What the segmenter finds in a text. */
function* segmentsOf(body: string, granularity: "grapheme" | "word"): Generator<Segment> {
  const segmenter = new Intl.Segmenter(undefined, { granularity });
  for (let at = 0; at < body.length;) {
    BREAK.lastIndex = at + PART;
    const end = at + PART < body.length ? (BREAK.exec(body)?.index ?? body.length) : body.length;
    for (const { segment, index, isWordLike } of segmenter.segment(body.slice(at, end)))
      yield { segment, index: at + index, isWordLike: isWordLike ?? false };
    at = end;
  }
}

/** Where grapheme clusters begin; null where every code unit is one. */
function clustersOf(body: string, segmented: boolean): readonly number[] | null {
  if (SIMPLE.test(body)) return null;
  const clusters: Iterable<{ index: number }> = segmented
    ? segmentsOf(body, "grapheme")
    : body.matchAll(CLUSTER);
  return Array.from(clusters, ({ index }) => index);
}

/** Words (and signs) by a pattern, for where there is no segmenter. */
function plainWords(body: string): Segment[] {
  const parts: Segment[] = [];
  let at = 0;
  const signs = (to: number) => {
    for (const sign of body.slice(at, to)) {
      parts.push({ segment: sign, index: at, isWordLike: false });
      at += sign.length;
    }
  };
  for (const match of body.matchAll(LETTERS)) {
    signs(match.index);
    parts.push({ segment: match[0], index: match.index, isWordLike: true });
    at = match.index + match[0].length;
  }
  signs(body.length);
  return parts;
}

/** One text and its units. Costly parts are computed on first use. */
export class TextUnits {
  readonly body: string;
  readonly length: number;
  /** Where characters beyond the basic plane begin, each two units long. */
  readonly #wide: number[] = [];
  /** The same places, counted in code points. */
  readonly #widePoints: number[] = [];
  readonly #segmented: boolean;
  #starting: readonly number[] | null | undefined;
  #words: Stretch[] | null = null;
  #starts: number[] = [];

  /** `segmented` false does without `Intl.Segmenter`, as in a browser that has none. */
  constructor(body: string, segmented = typeof Intl !== "undefined" && "Segmenter" in Intl) {
    this.body = body;
    this.length = body.length;
    this.#segmented = segmented;
    for (const { index } of body.matchAll(/[\u{10000}-\u{10ffff}]/gu)) {
      this.#widePoints.push(index - this.#wide.length);
      this.#wide.push(index);
    }
  }

  /** Code points of the whole text. */
  get points(): number {
    return this.length - this.#wide.length;
  }

  /** The offset of a code point, clamped to the text. */
  unitOf(point: number): number {
    const inside = within(point, this.points);
    // Wide characters that begin before it.
    return inside + lastUpTo(this.#widePoints, inside - 1) + 1;
  }

  /** The number of code points before an offset; inside a surrogate pair, those before the pair. */
  pointOf(unit: number): number {
    const inside = within(unit, this.length);
    const before = lastUpTo(this.#wide, inside - 1) + 1;
    return inside - before;
  }

  /** The start of the grapheme cluster of an offset. */
  floor(at: number): number {
    const inside = within(at, this.length);
    const starts = this.#clusters();
    if (starts === null || inside === this.length) return inside;
    return starts[lastUpTo(starts, inside)] ?? 0;
  }

  /** The end of the grapheme cluster of an offset; an offset between two is unchanged. */
  ceil(at: number): number {
    const low = this.floor(at);
    return low === within(at, this.length) ? low : this.next(low);
  }

  /** One grapheme cluster on. */
  next(at: number): number {
    const starts = this.#clusters();
    if (starts === null) return within(at + 1, this.length);
    return starts[lastUpTo(starts, at) + 1] ?? this.length;
  }

  /** One grapheme cluster back. */
  previous(at: number): number {
    return this.floor(within(at, this.length) - 1);
  }

  #clusters(): readonly number[] | null {
    if (this.#starting === undefined) this.#starting = clustersOf(this.body, this.#segmented);
    return this.#starting;
  }

  /** Words, emoji and runs of one kind of sign, in order; white space is no word. */
  get words(): readonly Stretch[] {
    if (this.#words) return this.#words;
    const words: Stretch[] = [];
    const segments = this.#segmented ? segmentsOf(this.body, "word") : plainWords(this.body);
    let sign = "";
    for (const { segment, index, isWordLike } of segments) {
      if (segment.trim() === "") {
        sign = "";
        continue;
      }
      const end = index + segment.length;
      const last = words.at(-1);
      // "!!!" is one; two emoji are two.
      const goesOn = !isWordLike && segment === sign && !PICTURE.test(segment) && last?.end === index;
      if (goesOn && last) words[words.length - 1] = { start: last.start, end };
      else words.push({ start: index, end });
      sign = isWordLike ? "" : segment;
    }
    this.#words = this.#whole(words);
    this.#starts = this.#words.map(({ start }) => start);
    return this.#words;
  }

  /** Words that end on grapheme clusters: what begins within one belongs to the word before. */
  #whole(words: readonly Stretch[]): Stretch[] {
    const whole: Stretch[] = [];
    for (const word of words) {
      const [start, end] = [this.floor(word.start), this.ceil(word.end)];
      const last = whole.at(-1);
      if (last && start < last.end)
        whole[whole.length - 1] = { start: last.start, end: Math.max(end, last.end) };
      else whole.push({ start, end });
    }
    return whole;
  }

  /** The index of the last word that begins at or before an offset; -1 if there is none. */
  #wordUpTo(at: number): number {
    void this.words;
    return lastUpTo(this.#starts, at);
  }

  /** The word at an offset: the one it is in or before, else the one that ends there; null in white space. */
  wordAt(at: number): Stretch | null {
    const here = this.words[this.#wordUpTo(at)];
    return here && at <= here.end ? here : null;
  }

  /** The beginning of the next word, or the end of the text. */
  nextWord(at: number): number {
    return this.words[this.#wordUpTo(at) + 1]?.start ?? this.length;
  }

  /** The start of the word before or around an offset; from there the previous one. */
  previousWord(at: number): number {
    return this.words[this.#wordUpTo(at - 1)]?.start ?? 0;
  }

  /** The end of the word after or around an offset, for extending. */
  wordEnd(at: number): number {
    const here = this.words[this.#wordUpTo(at)];
    if (here && at < here.end) return here.end;
    return this.words[this.#wordUpTo(at) + 1]?.end ?? this.length;
  }

  /** The words that a stretch overlaps, from the start of the first to the end of the last; null if none. */
  snapToWords(start: number, end: number): Stretch | null {
    const before = this.#wordUpTo(start);
    const first = before >= 0 && (this.words[before]?.end ?? 0) > start ? before : before + 1;
    const last = this.#wordUpTo(end - 1);
    const [from, to] = [this.words[first], this.words[last]];
    return from && to && first <= last ? { start: from.start, end: to.end } : null;
  }

  /** The grapheme clusters that a stretch touches; null where it is empty. */
  snapToClusters(start: number, end: number): Stretch | null {
    if (start >= end) return null;
    return { start: this.floor(start), end: this.ceil(end) };
  }

  /** Whether the first letter of the text belongs to a right-to-left script. */
  get rightToLeft(): boolean {
    return isRightToLeft(this.body);
  }
}

const STRONG = /\p{L}/u;
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u;

function isRightToLeft(body: string): boolean {
  const first = STRONG.exec(body)?.[0];
  return first !== undefined && RIGHT_TO_LEFT.test(first);
}
