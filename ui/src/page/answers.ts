// One person's answers to the questions on a screen. The same rules: crates/labelling/src/question_set.rs.
import type { Answer, QuestionId, QuestionInfo, TextId } from "$api/bindings";
import { includes } from "$kinds/rules";
import { currentAnswer, isMarked, newestGiven, unretractedAnswers, type PageEvent } from "./events";

/** What is unanswered about a text: at least one question that was not skipped, or only skipped ones. */
export type Unanswered = "open" | "skipped";

/** What holds of one question, text and round. */
interface Place {
  events: PageEvent[];
  answer: PageEvent | undefined;
  /** When it was last answered. */
  given_ms: number | undefined;
  skipped: boolean;
  flagged: boolean;
}

const nameOf = (question: QuestionId, text: TextId, occasion: number): string =>
  `${question}:${text}:${occasion}`;

/** The state after all events, updated by each one. */
export class Answers {
  readonly #questions: ReadonlyMap<QuestionId, QuestionInfo>;
  readonly #places = new Map<string, Place>();
  readonly #seen = new Map<string, number>();
  #answered: number | undefined;

  constructor(questions: readonly QuestionInfo[]) {
    this.#questions = new Map(questions.map((question) => [question.id, question]));
  }

  add(event: PageEvent): void {
    const { question, text, at_ms } = event;
    const seen = nameOf(question, text, 0);
    this.#seen.set(seen, Math.max(this.#seen.get(seen) ?? at_ms, at_ms));
    if (event.answer) this.#answered = Math.max(this.#answered ?? at_ms, at_ms);
    const name = nameOf(question, text, event.occasion);
    const events = [...(this.#places.get(name)?.events ?? []), event];
    const times = unretractedAnswers(events).map(({ at_ms }) => at_ms);
    this.#places.set(name, {
      events,
      answer: currentAnswer(events),
      given_ms: times.length > 0 ? Math.max(...times) : undefined,
      skipped: isMarked(events, "skip", "unskip"),
      flagged: isMarked(events, "flag", "unflag"),
    });
  }

  /** Everything on a question and text in a round, in the order in which it came. */
  events(question: QuestionId, text: TextId, occasion = 1): readonly PageEvent[] {
    return this.#places.get(nameOf(question, text, occasion))?.events ?? [];
  }

  current(question: QuestionId, text: TextId, occasion = 1): PageEvent | undefined {
    return this.#places.get(nameOf(question, text, occasion))?.answer;
  }

  answer(question: QuestionId, text: TextId, occasion = 1): Answer | null {
    return this.current(question, text, occasion)?.answer ?? null;
  }

  isSkipped(question: QuestionId, text: TextId): boolean {
    return this.#places.get(nameOf(question, text, 1))?.skipped ?? false;
  }

  isFlagged(question: QuestionId, text: TextId): boolean {
    return this.#places.get(nameOf(question, text, 1))?.flagged ?? false;
  }

  /** The time of the newest event of any kind on a question and text, in any round. */
  seen_ms(question: QuestionId, text: TextId): number | undefined {
    return this.#seen.get(nameOf(question, text, 0));
  }

  /** The time of the newest answer to any question, taken back or not. */
  get answered_ms(): number | undefined {
    return this.#answered;
  }

  /** The answer to any of these questions that was given last and not taken back. */
  newestGiven(questions: readonly QuestionId[]): PageEvent | undefined {
    const given = [...this.#places.values()].flatMap(({ events }) => unretractedAnswers(events));
    return newestGiven(given.filter(({ question }) => questions.includes(question)));
  }

  /** Whether a question is asked about a text, given the answers of a round. */
  asks(question: QuestionId, text: TextId, occasion = 1): boolean {
    const seen: QuestionId[] = [];
    let at = question;
    for (;;) {
      const only_if = this.#questions.get(at)?.only_if;
      if (!only_if) return true;
      const answer = this.answer(only_if.question, text, occasion);
      if (!answer || !only_if.levels.some((level) => includes(answer, level)) || seen.includes(at))
        return false;
      seen.push(at);
      at = only_if.question;
    }
  }

  /** The unanswered questions that are asked about a text, in their order. */
  open(questions: readonly QuestionId[], text: TextId): QuestionId[] {
    return questions.filter((id) => this.asks(id, text) && !this.current(id, text));
  }

  /** Whether a question that is asked about a text is unanswered; null if none is. */
  left(questions: readonly QuestionId[], text: TextId): Unanswered | null {
    const open = this.open(questions, text);
    if (open.length === 0) return null;
    return open.every((id) => this.isSkipped(id, text)) ? "skipped" : "open";
  }

  /** When a text was last answered, in a round. */
  given_ms(questions: readonly QuestionId[], text: TextId, occasion = 1): number | undefined {
    const times = questions.flatMap((id) => this.#places.get(nameOf(id, text, occasion))?.given_ms ?? []);
    return times.length > 0 ? Math.max(...times) : undefined;
  }

  /** The texts on which an answer of a round holds, with the time of the newest. */
  answeredTexts(questions: readonly QuestionId[], occasion: number): Map<TextId, number> {
    const found = new Map<TextId, number>();
    for (const { answer } of this.#places.values()) {
      if (!answer || answer.occasion !== occasion || !questions.includes(answer.question)) continue;
      found.set(answer.text, Math.max(found.get(answer.text) ?? answer.at_ms, answer.at_ms));
    }
    return found;
  }

  /** The texts that were answered in the first round, with the time of the newest unretracted answer. */
  givenTexts(questions: readonly QuestionId[]): Map<TextId, number> {
    const found = new Map<TextId, number>();
    for (const { given_ms, events } of this.#places.values()) {
      const [first] = events;
      if (!first || given_ms === undefined || first.occasion !== 1 || !questions.includes(first.question))
        continue;
      found.set(first.text, Math.max(found.get(first.text) ?? given_ms, given_ms));
    }
    return found;
  }
}
