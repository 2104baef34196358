// Records as they are stored: by names that hold in every version of a packet. Row numbers of a page that is
// written again, for example after a practice text was replaced, are other ones.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { Note, PageContent, PageText, QuestionHelp, QuestionInfo } from "$api/bindings";
import { keyed, unkeyed, type KeyedAnswer } from "$kinds/rules";
import type { EventKey, MarkKind, PageEvent, PageFact, PageRecord } from "./events";
import type { GivenInPractice } from "./practice";

/** A text by its id, and the first 16 hexadecimal digits of the SHA-256 of its body. */
export type NamedText = readonly [id: string, digits: string];

/** What a person reads of a question. */
export interface Wording {
  question: string;
  prompt: string;
  help?: QuestionHelp;
  levels: [name: string, definition: string][];
  cannot_say: boolean;
}

export interface NamedEvent {
  key: EventKey;
  question: string;
  text: NamedText;
  occasion: number;
  at_ms: number;
  answer?: KeyedAnswer;
  duration_ms?: number | null;
  replaces?: EventKey;
  retracts?: EventKey;
  mark?: MarkKind;
  note: Note;
  guideline: string | null;
  /** What was on the screen with an answer. */
  wording?: Wording;
}

export interface NamedFact {
  kind: PageFact["kind"];
  question?: string;
  text?: NamedText;
  at_ms: number;
  value: unknown;
}

export type NamedRecord = { event: NamedEvent } | { fact: NamedFact };

/** What was recorded in practice, by names. */
export type NamedPractice = Omit<GivenInPractice, "answer"> & { answer: KeyedAnswer };

/** Names records of a packet, and finds what they name in it. */
export class Names {
  readonly #content: PageContent;
  readonly #byRow: ReadonlyMap<number, PageText>;
  readonly #byId: ReadonlyMap<string, PageText>;
  readonly #digits = new Map<number, string>();

  constructor(content: PageContent) {
    this.#content = content;
    this.#byRow = new Map(content.texts.map((one) => [one.text, one]));
    this.#byId = new Map(content.texts.map((one) => [one.external_id, one]));
  }

  of(record: PageRecord): NamedRecord {
    if ("event" in record) {
      const { answer, question, text, ...rest } = record.event;
      const info = this.#content.questions.find(({ id }) => id === question);
      const named = { ...rest, question: info?.name ?? "", text: this.#text(text) };
      if (!answer || !info) return { event: named };
      const given = keyed(answer, this.#keys(question)) ?? undefined;
      return { event: { ...named, ...(given && { answer: given }), wording: wordingOf(info) } };
    }
    const { question, text, value, kind, at_ms } = record.fact;
    const info = this.#content.questions.find(({ id }) => id === question);
    const about = {
      ...(info && { question: info.name }),
      ...(text !== undefined && { text: this.#text(text) }),
    };
    if (kind !== "practice-answer" || question === undefined)
      return { fact: { kind, ...about, at_ms, value } };
    const given = value as GivenInPractice;
    const named = { ...given, answer: keyed(given.answer, this.#keys(question)) };
    return { fact: { kind, ...about, at_ms, value: named } };
  }

  /** The record by rows; null if this packet lacks something that it names: it is handed in all the same. */
  resolve(record: NamedRecord): PageRecord | null {
    const named = "event" in record ? record.event : record.fact;
    const question = this.#content.questions.find(({ name }) => name === named.question)?.id;
    const found = named.text && this.#byId.get(named.text[0])?.text;
    // Another body is another text.
    const text = found !== undefined && this.#text(found)[1] === named.text?.[1] ? found : undefined;
    if (named.question !== undefined && question === undefined) return null;
    if (named.text !== undefined && text === undefined) return null;
    if ("event" in record) {
      if (question === undefined || text === undefined) return null;
      const { answer, wording: _, ...rest } = record.event;
      if (!answer) return { event: { ...rest, question, text } as PageEvent };
      const given = unkeyed(answer, this.#keys(question));
      return given && { event: { ...rest, question, text, answer: given } };
    }
    const { kind, at_ms, value } = record.fact;
    const about = { ...(question !== undefined && { question }), ...(text !== undefined && { text }) };
    if (kind !== "practice-answer" || question === undefined)
      return { fact: { kind, ...about, at_ms, value } };
    const answer = unkeyed((value as NamedPractice).answer, this.#keys(question));
    return answer && { fact: { kind, ...about, at_ms, value: { ...(value as NamedPractice), answer } } };
  }

  /** A name for a text in a round that holds in every version of the packet. */
  place(question: number, text: number, occasion: number): string {
    const name = this.#content.questions.find(({ id }) => id === question)?.name ?? "";
    return JSON.stringify([name, this.#text(text)[0], occasion]);
  }

  #keys(question: number): readonly string[] {
    return this.#content.levels[this.#content.questions.findIndex(({ id }) => id === question)] ?? [];
  }

  #text(id: number): NamedText {
    const found = this.#byRow.get(id);
    let digits = this.#digits.get(id);
    if (digits === undefined) {
      digits = bytesToHex(sha256(utf8ToBytes(found?.body ?? ""))).slice(0, 16);
      this.#digits.set(id, digits);
    }
    return [found?.external_id ?? "", digits];
  }
}

function wordingOf({ name, prompt, help, scale, definitions, cannot_say }: QuestionInfo): Wording {
  const levels = scale.levels.map((level, at): [string, string] => [level, definitions[at] ?? ""]);
  const isHelped = help.text !== "" || help.low !== "" || help.high !== "";
  return { question: name, prompt, ...(isHelped && { help }), levels, cannot_say };
}
