// The file that a person hands in: signed JSON lines. The format: docs/src/reference/submission.md.
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { keysIn, unkeyed, type KeyedAnswer } from "$kinds/rules";
import { isEmpty } from "$logic/notes";
import type { EventKey } from "./events";
import type { OpenContent } from "./join";
import type { Copy, Submitted } from "./journal";
import type { NamedEvent, NamedFact, NamedPractice, NamedRecord, NamedText } from "./named";

const VERSION = 2;
/** The kinds of facts in their order in the file, which follows the events. */
const FACTS = ["form-answers", "practice-answer", "consent-given", "left-out"] as const;

/** Everything that was done so far. */
export interface Work {
  copies: readonly Copy[];
  records: readonly NamedRecord[];
  /** Earlier submissions. */
  submitted: readonly Submitted[];
}

/** Positions of what records name, in the order in which they are first named. */
class Positions<Value> {
  readonly all: Value[] = [];
  readonly #at = new Map<string, number>();

  of(value: Value): number {
    const key = JSON.stringify(value);
    const known = this.#at.get(key);
    if (known !== undefined) return known;
    this.#at.set(key, this.all.length);
    return this.all.push(value) - 1;
  }
}

/** The content of the file; `partial` of one that is sent while the person still works. */
export function submissionOf(
  content: OpenContent,
  work: Work,
  at_ms: number,
  answers: number,
  partial = false,
): string {
  const questions = content.questions.map(({ name }, at) => ({
    name,
    levels: [...(content.levels[at] ?? [])],
  }));
  const texts = new Positions<NamedText>();
  const copies = new Positions<string>();
  const guidelines = new Positions<string>();
  const wordings = new Positions<unknown>();
  const keyOf = ([copy, sequence]: EventKey) => [copies.of(copy), sequence];

  /** The position of a question; an earlier version of the page may have had others. */
  const questionOf = (name: string): number => {
    const at = questions.findIndex((question) => question.name === name);
    return at >= 0 ? at : questions.push({ name, levels: [] }) - 1;
  };
  const answerOf = (name: string, answer: KeyedAnswer) => {
    const levels = questions[questionOf(name)]?.levels ?? [];
    levels.push(...keysIn(answer).filter((key) => !levels.includes(key)));
    return unkeyed(answer, levels);
  };
  const eventLine = (event: NamedEvent) => ({
    key: keyOf(event.key),
    question: questionOf(event.question),
    text: texts.of(event.text),
    ...(event.occasion > 1 && { occasion: event.occasion }),
    at_ms: event.at_ms,
    ...(event.answer && {
      answer: answerOf(event.question, event.answer),
      ...(event.wording && { wording: wordings.of(event.wording) }),
    }),
    // Only the first round is timed.
    ...(event.duration_ms != null && event.occasion === 1 && { duration_ms: event.duration_ms }),
    ...(event.replaces && { replaces: keyOf(event.replaces) }),
    ...(event.retracts && { retracts: keyOf(event.retracts) }),
    ...(event.mark && { mark: event.mark }),
    ...(!isEmpty(event.note) && { note: event.note }),
    ...(event.guideline !== null && { guideline: guidelines.of(event.guideline) }),
  });
  const valueOf = ({ kind, question, value }: NamedFact): unknown => {
    if (kind !== "practice-answer" || question === undefined) return value;
    const given = value as NamedPractice;
    return { ...given, answer: answerOf(question, given.answer) };
  };
  const factLine = (fact: NamedFact) => ({
    kind: fact.kind,
    ...(fact.question !== undefined && { question: questionOf(fact.question) }),
    ...(fact.text !== undefined && { text: texts.of(fact.text) }),
    at_ms: fact.at_ms,
    value: valueOf(fact),
  });
  const events = work.records.flatMap((record) =>
    "event" in record ? [{ event: eventLine(record.event) }] : [],
  );
  const facts = FACTS.flatMap((kind) =>
    work.records.flatMap((record) =>
      "fact" in record && record.fact.kind === kind ? [{ fact: factLine(record.fact) }] : [],
    ),
  );
  const names = {
    questions,
    texts: texts.all,
    copies: copies.all.map((id) => work.copies.find((copy) => copy.id === id) ?? { id, made_at_ms: at_ms }),
    ...(guidelines.all.length > 0 && { guidelines: guidelines.all }),
    ...(wordings.all.length > 0 && { wordings: wordings.all }),
    ...(work.submitted.length > 0 && {
      submissions: work.submitted.map((one) => [one.at_ms, one.answers]),
    }),
  };
  const records = [names, ...events, ...facts].map((line) => `${JSON.stringify(line)}\n`).join("");
  const { project, packet } = content;
  const bytes = utf8ToBytes(records).length;
  const { joined } = content;
  const about = { project, packet, at_ms, answers, bytes };
  const header = {
    "dissensus-submission": VERSION,
    ...about,
    ...(partial && { partial }),
    ...(joined && { joined }),
  };
  const signed = `${JSON.stringify(header)}\n${records}`;
  const code = bytesToHex(hmac(sha256, hexToBytes(content.key), utf8ToBytes(signed)));
  return `${signed}${JSON.stringify({ "hmac-sha256": code })}\n`;
}
