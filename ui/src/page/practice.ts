// Practice: who has to practise, and the result. The same rules: crates/labelling/src/practice/book.rs.
import type {
  Answer,
  AnnotatorId,
  PagePractice,
  PagePracticeText,
  PassStatus,
  PracticeResult,
  PracticeState,
  PracticeStep,
  QuestionId,
  QuestionInfo,
  TextId,
} from "$api/bindings";
import { isOrdinal } from "$kinds/kinds";
import { isSameAnswer } from "$kinds/rules";
import { positionOf } from "$kinds/scale";

/** The value of a recorded answer. */
export interface GivenInPractice {
  round: number;
  answer: Answer;
  /** Whether the round ended with it. */
  last: boolean;
}

interface Round {
  number: number;
  /** The first answer to each question about a text. */
  answers: Map<string, Answer>;
  finished: boolean;
}

interface Gate {
  step: PracticeStep;
  by_checks: boolean;
  /** The current round, from 1. */
  round: number;
}

const nameOf = ({ question, text }: { question: QuestionId; text: TextId }) => `${text}/${question}`;

export class Practice {
  readonly texts: readonly PagePracticeText[];
  readonly #content: PagePractice;
  readonly #annotator: AnnotatorId;
  readonly #questions: readonly QuestionInfo[];
  readonly #rounds = new Map<number, Round>();
  readonly #apart = new Set<TextId>();
  readonly #assigned: ReadonlySet<TextId>;

  constructor(
    content: PagePractice,
    annotator: AnnotatorId,
    questions: readonly QuestionInfo[],
    assigned: ReadonlySet<TextId>,
  ) {
    [this.#content, this.#annotator, this.#questions] = [content, annotator, questions];
    this.#assigned = assigned;
    // Texts of a packet are real ones there. Practice is in the order of the file, then of the questions.
    const place = (id: QuestionId) => questions.findIndex((question) => question.id === id);
    this.texts = content.texts
      .filter(({ text }) => !assigned.has(text))
      .toSorted((a, b) => a.text - b.text || place(a.question) - place(b.question));
    for (const { text } of this.texts) this.#apart.add(text);
    for (const one of content.answers) this.add(one.question, one.text, { ...one, last: false });
    for (const number of content.finished) this.#finish(number);
  }

  add(question: QuestionId, text: TextId, { round: number, answer, last }: GivenInPractice): void {
    const round = this.#rounds.get(number) ?? { number, answers: new Map<string, Answer>(), finished: false };
    this.#rounds.set(number, round);
    const name = nameOf({ question, text });
    if (!round.answers.has(name)) round.answers.set(name, answer);
    if (!this.#assigned.has(text)) this.#apart.add(text);
    if (last) this.#finish(number);
  }

  #finish(number: number): void {
    const round = this.#rounds.get(number);
    if (round) round.finished = true;
  }

  /** Whether a text is not asked as a real one. */
  isPractice(text: TextId): boolean {
    return this.#apart.has(text);
  }

  text(question: QuestionId, text: TextId): PagePracticeText | undefined {
    return this.texts.find((one) => one.question === question && one.text === text);
  }

  isRight(one: PagePracticeText, given: Answer): boolean {
    const scale = this.#questions.find(({ id }) => id === one.question)?.scale;
    if (!scale) return false;
    const { answer: right } = one;
    if (right.kind !== "level" || given.kind !== "level" || !isOrdinal(scale))
      return isSameAnswer(right, given);
    const [a, b] = [positionOf(scale, right.value), positionOf(scale, given.value)];
    if (a === null || b === null) return isSameAnswer(right, given);
    return Math.abs(a - b) <= this.#content.rule.within;
  }

  get #ordered(): Round[] {
    return [...this.#rounds.values()].toSorted((a, b) => a.number - b.number);
  }

  #score(round: Round): { right: number; of: number } {
    const given = this.texts.flatMap((one) => {
      const answer = round.answers.get(nameOf(one));
      return answer ? [this.isRight(one, answer)] : [];
    });
    return { right: given.filter(Boolean).length, of: given.length };
  }

  #isOver(round: Round): boolean {
    const left = this.texts.filter((one) => !round.finished && !round.answers.has(nameOf(one)));
    return left.length === 0 && (this.texts.length === 0 || this.#score(round).of > 0);
  }

  #status(round: Round): PassStatus {
    const { right, of } = this.#score(round);
    // Tolerance: 0.8 of 5 texts must be 4 texts in spite of floating-point error.
    return right < (this.#content.rule.pass ?? 0) * of - 1e-9 ? "failed" : "passed";
  }

  result(): PracticeResult | null {
    const rounds = this.#ordered;
    if (this.texts.length === 0 && rounds.length === 0) return null;
    const over = rounds.findLast((round) => this.#isOver(round));
    const shown = over ?? rounds.at(-1);
    const { right, of } = shown ? this.#score(shown) : { right: 0, of: 0 };
    const status = over ? this.#status(over) : "unfinished";
    return { status, rounds_begun: rounds.length, right, of };
  }

  /** The remaining texts of a round, which from the second on has an order of its own. */
  left(number: number): PagePracticeText[] {
    const round = this.#rounds.get(number);
    if (round?.finished) return [];
    let order = [...this.texts];
    if (number > 1) {
      const seed = Number(BigInt.asUintN(32, mix(this.#annotator, number)));
      const keys = new Map(order.map(({ text }) => [text, mix(seed, text)]));
      order = order.toSorted((a, b) => {
        const [x, y] = [keys.get(a.text) ?? 0n, keys.get(b.text) ?? 0n];
        return x < y ? -1 : x > y ? 1 : 0;
      });
    }
    return order.filter((one) => !round?.answers.has(nameOf(one)));
  }

  /** What the person may do now. */
  gate(): Gate {
    const rounds = this.#ordered;
    const last = rounds.at(-1);
    const now = last ? last.number + Number(last.finished && !this.#isOver(last)) : 1;
    if (this.texts.length === 0) return { step: "label", by_checks: false, round: now };
    const over = rounds.findLast((round) => this.#isOver(round));
    if (!over) return { step: "practise", by_checks: false, round: now };
    const { again, rule } = this.#content;
    if (again !== null && again > over.number)
      return { step: "practise", by_checks: true, round: over.number + 1 };
    if (this.#status(over) === "failed" && rule.then === "practise")
      return { step: "practise", by_checks: false, round: over.number + 1 };
    const step = this.#status(over) === "failed" && rule.then === "stop" ? "stopped" : "label";
    return { step, by_checks: false, round: over.number };
  }

  /** Null where there is no practice and never was. */
  state(): PracticeState | null {
    const result = this.result();
    if (!result) return null;
    const { step, by_checks, round } = this.gate();
    const total = this.texts.length;
    const done = step === "practise" ? total - this.left(round).length : total;
    const shown = result.status === "unfinished" ? null : result;
    return { step, by_checks, round, done, total, result: shown, rule: this.#content.rule };
  }
}

/** Mixes two numbers of 32 bits into one of 64, as crates/project/src/mix.rs does. */
export function mix(a: number, b: number): bigint {
  const u64 = (x: bigint) => BigInt.asUintN(64, x);
  let z = u64(((BigInt(a) << 32n) | BigInt(b)) + 0x9e3779b97f4a7c15n);
  z = u64((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = u64((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return z ^ (z >> 31n);
}
