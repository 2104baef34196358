// Spans of a text: as sets that form answers, and how they overlap.
import type { Answer, PersonSpans, Scale, Span } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { count } from "$words/format";
import { idAt, positionOf } from "$kinds/scale";
import type { TextUnits } from "$logic/text-units";

/** How many types of spans a question may have. */
export const MAX_TYPES = 20;

/** Ordered by start, end and type, as answers are stored. */
const inOrder = (a: Span, b: Span) => a.start - b.start || a.end - b.end || a.kind - b.kind;

export const sameSpan = (a: Span, b: Span) => a.start === b.start && a.end === b.end && a.kind === b.kind;

/** These spans in order and each once; a span without a character is none. */
export function spanSet(spans: readonly Span[]): Span[] {
  const sorted = spans
    .filter(({ start, end }) => start < end)
    .map(({ start, end, kind }) => ({ start, end, kind }))
    .sort(inOrder);
  return sorted.filter((span, i) => i === 0 || !sameSpan(span, sorted[i - 1] ?? span));
}

/** Whether two sets, each in order, hold the same. */
export function sameSpans(a: readonly Span[], b: readonly Span[]): boolean {
  return (
    a.length === b.length && a.every((span, i) => sameSpan(span, b[i] ?? { start: -1, end: -1, kind: -1 }))
  );
}

/** The spans with the position of their type on the scale in place of its id. */
function placed(spans: readonly Span[], scale: Scale): Span[] {
  const at = (span: Span) => ({ ...span, kind: positionOf(scale, span.kind) ?? -1 });
  return spanSet(spans.map(at).filter(({ kind }) => kind >= 0));
}

/** The spans of an answer, with their types by position; empty if it is not a set of spans. */
export function spansOf(answer: Answer | null, scale: Scale): readonly Span[] {
  return answer?.kind === "spans" ? placed(answer.value, scale) : [];
}

/** The spans of others, with their types by position. */
export function placedSpans(people: readonly PersonSpans[], scale: Scale): PersonSpans[] {
  return people.map((person) => ({ ...person, spans: placed(person.spans, scale) }));
}

/** The answer that these spans, with their types by position, are. */
export function answerOfSpans(spans: readonly Span[], scale: Scale): Answer {
  const named = spans.flatMap((span) => {
    const kind = idAt(scale, span.kind);
    return kind === null ? [] : [{ ...span, kind }];
  });
  return { kind: "spans", value: spanSet(named) };
}

/** How many spans there are of each type. */
export function countByType(spans: readonly Span[], types: number): number[] {
  const counts = Array.from({ length: types }, () => 0);
  for (const { kind } of spans) if (kind in counts) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** "insult, 2 × threat", or "nothing". */
export function spansName(scale: Scale, spans: readonly Span[]): string {
  const counts = countByType(spans, scale.levels.length);
  const parts = scale.levels.flatMap((name, kind) => {
    const n = counts[kind] ?? 0;
    return n === 0 ? [] : [n === 1 ? name : `${count(n)} × ${name}`];
  });
  return parts.join(t("format.list_separator")) || t("answer.nothing");
}

/** The words of a span. */
export function wordsOf(units: TextUnits, { start, end }: Span): string {
  return units.body.slice(units.unitOf(start), units.unitOf(end));
}

/** The lane that each span is drawn in: the first that is free at its characters. */
export function lanesOf(spans: readonly Span[]): number[] {
  const order = spans.map((_, i) => i).sort((a, b) => inOrder(spans[a] as Span, spans[b] as Span));
  const ends: number[] = [];
  const lanes: number[] = [];
  for (const i of order) {
    const span = spans[i] as Span;
    const free = ends.findIndex((end) => end <= span.start);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = span.end;
    lanes[i] = lane;
  }
  return lanes;
}

/** Who of the others marked something, and as which types. */
interface Marker {
  readonly person: PersonSpans;
  readonly kinds: readonly number[];
}

/** A part of a text that is marked alike all along. */
export interface Piece {
  /** Where it begins and ends in the text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Own spans over it, as indices. */
  readonly own: readonly number[];
  /** Own spans that begin with it. */
  readonly begins: readonly number[];
  /** The others who marked it. */
  readonly others: readonly Marker[];
}

/** Longest unmarked part, so that a long text is not one single piece. */
const LONGEST = 2000;

/** A text cut at every end of a span; together the pieces are the text. */
export function piecesOf(
  units: TextUnits,
  own: readonly Span[],
  others: readonly PersonSpans[] = [],
): Piece[] {
  const ends = [...own, ...others.flatMap((person) => person.spans)].flatMap(({ start, end }) => [
    start,
    end,
  ]);
  const cuts = [...new Set([0, units.length, ...ends.map((point) => units.unitOf(point))])].sort(
    (a, b) => a - b,
  );
  const covers = new Covers(units, own, others);
  return cuts.slice(0, -1).flatMap((start, i) => split(units, covers.at(start), start, cuts[i + 1] ?? start));
}

type Cover = Pick<Piece, "own" | "begins" | "others">;

function split(units: TextUnits, cover: Cover, start: number, end: number): Piece[] {
  const pieces: Piece[] = [];
  const bare = cover.own.length === 0 && cover.others.length === 0;
  for (let at = start; at < end;) {
    const far = at + LONGEST < end ? units.previousWord(at + LONGEST) : end;
    const to = bare && far > at ? far : end;
    pieces.push({ ...cover, start: at, end: to, text: units.body.slice(at, to) });
    at = to;
  }
  return pieces;
}

/** The spans that cover an offset. */
class Covers {
  readonly #own: readonly { start: number; end: number }[];
  readonly #others: readonly { person: PersonSpans; kind: number; start: number; end: number }[];

  constructor(units: TextUnits, own: readonly Span[], others: readonly PersonSpans[]) {
    const placed = (span: Span) => ({ start: units.unitOf(span.start), end: units.unitOf(span.end) });
    this.#own = own.map(placed);
    this.#others = others.flatMap((person) =>
      person.spans.map((span) => ({ person, kind: span.kind, ...placed(span) })),
    );
  }

  at(offset: number): Cover {
    const own: number[] = [];
    const begins: number[] = [];
    this.#own.forEach(({ start, end }, i) => {
      if (start <= offset && offset < end) own.push(i);
      if (start === offset && offset < end) begins.push(i);
    });
    const kinds = new Map<PersonSpans, Set<number>>();
    for (const { person, kind, start, end } of this.#others) {
      if (start > offset || offset >= end) continue;
      kinds.set(person, (kinds.get(person) ?? new Set()).add(kind));
    }
    const others = [...kinds].map(([person, set]) => ({ person, kinds: [...set].sort((a, b) => a - b) }));
    return { own, begins, others };
  }
}

/** A word, and the piece of the text that it begins in. */
export interface PointedWord {
  readonly words: string;
  readonly piece: Piece;
}

/** The word at an offset; null in white space. */
export function pointedWordAt(
  units: TextUnits,
  pieces: readonly Piece[],
  offset: number,
): PointedWord | null {
  const word = units.wordAt(offset);
  // Within a word that is marked in parts, the part that is pointed at.
  const at = word && offset >= word.start && offset < word.end ? offset : (word?.start ?? offset);
  const piece = pieces.find(({ end }) => at < end);
  return word && piece ? { words: units.body.slice(word.start, word.end), piece } : null;
}

/** Those who marked a piece with a type, or with any. */
function markersOf(piece: Piece, kind: number | null): readonly Marker[] {
  return kind === null ? piece.others : piece.others.filter(({ kinds }) => kinds.includes(kind));
}

/** Share of the others who marked a piece with a type, or with any; 0 where nobody else has answered. */
export function shareOf(piece: Piece, kind: number | null, others: number): number {
  return others === 0 ? 0 : markersOf(piece, kind).length / others;
}

/** How many of the others marked anything of each type. */
export function peopleByType(others: readonly PersonSpans[], types: number): number[] {
  return Array.from(
    { length: types },
    (_, kind) => others.filter(({ spans }) => spans.some((s) => s.kind === kind)).length,
  );
}

/** "2 of 5 others: Amara (insult), Bruno (insult, threat)". */
export function markersWords(scale: Scale, piece: Piece, others: number): string {
  if (piece.others.length === 0) return t("answer.no_markers", { count: others });
  const separator = t("format.list_separator");
  const who = piece.others.map(
    ({ person, kinds }) =>
      `${person.name} (${kinds.map((kind) => scale.levels[kind] ?? "").join(separator)})`,
  );
  return t("answer.markers", { count: others, some: who.length, names: who.join(separator) });
}
