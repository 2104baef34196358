// The file that a person hands in: signed JSON lines. The format: docs/src/reference/submission.md.
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import type { PageContent, QuestionId, QuestionInfo, TextId } from "$api/bindings";
import { isEmptyNote, type EventKey, type PageEvent, type PageFact, type PageRecord } from "./events";
import type { Copy, Submitted } from "./journal";

const VERSION = 2;
/** The kinds of facts in their order in the file, which follows the events. */
const FACTS = ["form-answers", "practice-answer", "left-out"] as const;

/** Everything that was done so far. */
export interface Work {
  copies: readonly Copy[];
  records: readonly PageRecord[];
  /** Earlier submissions. */
  submitted: readonly Submitted[];
}

/** Positions of what records name, in the order in which they are first named. */
class Positions<Key> {
  readonly all: Key[] = [];
  readonly #at = new Map<Key, number>();

  of(key: Key): number {
    const known = this.#at.get(key);
    if (known !== undefined) return known;
    this.#at.set(key, this.all.length);
    return this.all.push(key) - 1;
  }
}

/** The content of the file. */
export function submissionOf(content: PageContent, work: Work, at_ms: number, answers: number): string {
  const questions = content.questions.map(({ id }) => id);
  const texts = new Positions<TextId>();
  const copies = new Positions<string>();
  const guidelines = new Positions<string>();
  const worded = new Positions<QuestionId>();
  const keyOf = ([copy, sequence]: EventKey) => [copies.of(copy), sequence];

  const eventLine = (event: PageEvent) => ({
    key: keyOf(event.key),
    question: questions.indexOf(event.question),
    text: texts.of(event.text),
    ...(event.occasion > 1 && { occasion: event.occasion }),
    at_ms: event.at_ms,
    ...(event.answer && { answer: event.answer, wording: worded.of(event.question) }),
    // Only the first round is timed.
    ...(event.duration_ms != null && event.occasion === 1 && { duration_ms: event.duration_ms }),
    ...(event.replaces && { replaces: keyOf(event.replaces) }),
    ...(event.retracts && { retracts: keyOf(event.retracts) }),
    ...(event.mark && { mark: event.mark }),
    ...(!isEmptyNote(event.note) && { note: event.note }),
    ...(event.guideline !== null && { guideline: guidelines.of(event.guideline) }),
  });
  const factLine = (fact: PageFact) => ({
    kind: fact.kind,
    ...(fact.question !== undefined && { question: questions.indexOf(fact.question) }),
    ...(fact.text !== undefined && { text: texts.of(fact.text) }),
    at_ms: fact.at_ms,
    value: fact.value,
  });
  const events = work.records.flatMap((record) =>
    "event" in record ? [{ event: eventLine(record.event) }] : [],
  );
  const facts = FACTS.flatMap((kind) =>
    work.records.flatMap((record) =>
      "fact" in record && record.fact.kind === kind ? [{ fact: factLine(record.fact) }] : [],
    ),
  );
  const lines = [...events, ...facts].map((line) => JSON.stringify(line));
  const names = {
    questions: content.questions.map(({ name }, at) => ({ name, levels: content.levels[at] ?? [] })),
    texts: texts.all.map((id) => {
      const { external_id = "", body = "" } = content.texts.find(({ text }) => text === id) ?? {};
      return [external_id, bytesToHex(sha256(utf8ToBytes(body))).slice(0, 16)];
    }),
    copies: copies.all.map((id) => work.copies.find((copy) => copy.id === id) ?? { id, made_at_ms: at_ms }),
    ...(guidelines.all.length > 0 && { guidelines: guidelines.all }),
    ...(worded.all.length > 0 && {
      wordings: worded.all.flatMap((id) => {
        const question = content.questions.find((one) => one.id === id);
        return question ? [wordingOf(question)] : [];
      }),
    }),
    ...(work.submitted.length > 0 && {
      submissions: work.submitted.map((one) => [one.at_ms, one.answers]),
    }),
  };
  const records = [JSON.stringify(names), ...lines].map((line) => `${line}\n`).join("");
  const { project, packet } = content;
  const bytes = utf8ToBytes(records).length;
  const header = { "dissensus-submission": VERSION, project, packet, at_ms, answers, bytes };
  const signed = `${JSON.stringify(header)}\n${records}`;
  const code = bytesToHex(hmac(sha256, hexToBytes(content.key), utf8ToBytes(signed)));
  return `${signed}${JSON.stringify({ "hmac-sha256": code })}\n`;
}

/** What the person reads of a question. */
function wordingOf({ name, prompt, help, scale, definitions, cannot_say }: QuestionInfo) {
  const levels = scale.levels.map((level, at) => [level, definitions[at] ?? ""]);
  const isHelped = help.text !== "" || help.low !== "" || help.high !== "";
  return { question: name, prompt, ...(isHelped && { help }), levels, cannot_say };
}
