// The practice of the invented project: as the program does it, for one round after another.
import type * as view from "$api/bindings";
import type { Text } from "./world";
import { refuse } from "./refusals";

interface Round {
  answers: Map<string, boolean>;
}

const keyOf = ({ question, text }: { question: number; text: number }) => `${question}:${text}`;

export class MockPractice {
  rule: view.PracticeRule = { pass: 0.8, within: 0, then: "go-on" };
  checkRule: view.CheckRule | null = null;
  texts: view.PracticeTextInfo[] = [];
  #rounds = new Map<number, Round[]>();

  constructor(
    private readonly question: (id: number) => view.QuestionInfo,
    private readonly text: (id: string) => Text | undefined,
    private readonly name: (annotator: number) => string,
  ) {}

  is(text: number): boolean {
    return this.texts.some((one) => one.text === text);
  }

  set(question: number, textId: string, answer: view.Answer | null, reason: string): void {
    const text = this.text(textId);
    if (!text) refuse("no-such-text", [textId]);
    const { name, scale } = this.question(question);
    this.texts = this.texts.filter((one) => one.question !== question || one.text !== text.id);
    if (answer === null) return;
    const answer_name = answer.kind === "level" ? (scale.levels[answer.value] ?? "") : "";
    const of = { question, question_name: name, text: text.id, text_id: textId, body: text.body };
    this.texts.push({ ...of, answer, answer_name, reason, given: 0, right: 0 });
  }

  #of(annotator: number): Round[] {
    const known = this.#rounds.get(annotator) ?? [];
    this.#rounds.set(annotator, known);
    return known;
  }

  #isOver(round: Round): boolean {
    return this.texts.every((one) => round.answers.has(keyOf(one)));
  }

  result(annotator: number): view.PracticeResult | null {
    if (this.texts.length === 0) return null;
    const rounds = this.#of(annotator);
    const over = rounds.findLast((round) => this.#isOver(round));
    const shown = over ?? rounds.at(-1);
    const right = [...(shown?.answers.values() ?? [])].filter(Boolean).length;
    const of = shown?.answers.size ?? 0;
    const status = !over ? "unfinished" : right >= (this.rule.pass ?? 0) * of - 1e-9 ? "passed" : "failed";
    return { status, rounds_begun: rounds.length, right, of };
  }

  state(annotator: number): view.PracticeState | null {
    const result = this.result(annotator);
    if (!result) return null;
    const rounds = this.#of(annotator);
    const last = rounds.at(-1);
    const { then } = this.rule;
    const failed = result.status === "failed";
    const open = result.status === "unfinished" || (failed && then === "practise");
    const step = open ? "practise" : failed && then === "stop" ? "stopped" : "label";
    const over = last !== undefined && this.#isOver(last);
    const round = Math.max(1, rounds.length + (open && over ? 1 : 0));
    const done = open ? (over ? 0 : (last?.answers.size ?? 0)) : this.texts.length;
    const shown = result.status === "unfinished" ? null : result;
    return { step, by_checks: false, round, done, total: this.texts.length, result: shown, rule: this.rule };
  }

  next(annotator: number): view.PracticeTask | null {
    const state = this.state(annotator);
    if (state?.step !== "practise") return null;
    const round = this.#of(annotator)[state.round - 1];
    const one = this.texts.find((text) => !round?.answers.has(keyOf(text)));
    if (!one) return null;
    const { question, text, text_id, body } = one;
    return { question, text, external_id: text_id, body, round: state.round };
  }

  record({ annotator, question, text, answer }: view.NewPracticeAnswer): view.PracticeFeedback {
    const state = this.state(annotator);
    const one = this.texts.find((other) => other.question === question && other.text === text);
    if (!one || !state) return refuse("practice-not-there", [text]);
    const rounds = this.#of(annotator);
    const round = rounds[state.round - 1] ?? { answers: new Map<string, boolean>() };
    if (!rounds.includes(round)) rounds.push(round);
    const right = JSON.stringify(answer) === JSON.stringify(one.answer);
    round.answers.set(keyOf(one), right);
    if (state.round === 1) [one.given, one.right] = [one.given + 1, one.right + Number(right)];
    const now = this.state(annotator) ?? state;
    return { right, answer: one.answer, answer_name: one.answer_name, reason: one.reason, state: now };
  }

  setup(): view.PracticeSetup {
    const people = [...this.#rounds].flatMap(([annotator, rounds]): view.PracticePerson[] => {
      const result = this.result(annotator);
      if (!result || rounds.length === 0) return [];
      const name = this.name(annotator);
      const of = (round: Round) => [...round.answers.values()];
      const infos = rounds.map((round) => ({
        right: of(round).filter(Boolean).length,
        of: round.answers.size,
        finished: this.#isOver(round),
      }));
      return [{ annotator: name, name, ...result, rounds: infos }];
    });
    return { rule: this.rule, texts: [...this.texts], people };
  }
}
