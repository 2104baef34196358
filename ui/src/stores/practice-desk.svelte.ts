// The desk of one person in practice: the text, the answer and its feedback.
import { commands } from "$bindings";
import type {
  AnnotatorId,
  Answer,
  LabelTask,
  PracticeFeedback,
  PracticeTask,
  QuestionInfo,
} from "$api/bindings";
import { DeskQuestion } from "./desk-question.svelte";
import type { PracticeStore } from "./practice.svelte";
import { NO_NOTE } from "$logic/notes";

export class PracticeDesk {
  /** The question about the current text; null if there is none. */
  question = $state.raw<DeskQuestion | null>(null);
  /** The feedback to the answer; null until it is on disk. */
  feedback = $state.raw<PracticeFeedback | null>(null);
  /** The answer is on its way to the disk. */
  saving = $state(false);
  /** Which answer of the round is at hand, from 1, and of how many. */
  at = $state(1);
  total = $state(1);
  #round = 1;
  #fetching = false;

  constructor(
    private readonly annotator: AnnotatorId,
    private readonly practice: PracticeStore,
    private readonly questions: () => readonly QuestionInfo[],
    private readonly fail: (thrown: unknown) => void,
  ) {}

  /** Whether there is a current text. */
  get open(): boolean {
    return this.question !== null;
  }

  get task(): LabelTask | null {
    return this.question?.task ?? null;
  }

  /** Records the answer and shows its feedback. Only the first answer counts, so a second is refused. */
  async answer(answer: Answer): Promise<void> {
    const { question, task } = this;
    if (!question || !task || this.feedback || this.saving) return;
    this.saving = true;
    try {
      const { annotator } = this;
      const given = { annotator, question: question.info.id, text: task.text, answer };
      const feedback = await commands.recordPractice(given);
      question.given = answer;
      this.feedback = feedback;
      this.practice.setState(feedback.state);
    } catch (thrown) {
      this.fail(thrown);
    } finally {
      this.saving = false;
    }
  }

  /** The next text of the round, or its result at the end. */
  async next(): Promise<void> {
    if (this.#fetching || this.saving) return;
    this.#fetching = true;
    try {
      // Between two rounds the result of the previous one is shown first.
      const task = this.#isOver() ? null : await commands.nextPractice(this.annotator);
      this.feedback = null;
      this.question = task && this.#laid(task);
    } catch (thrown) {
      this.fail(thrown);
    } finally {
      this.#fetching = false;
    }
  }

  /** The answer at hand was the last of its round. */
  #isOver(): boolean {
    const state = this.feedback?.state;
    return state !== undefined && (state.step !== "practise" || state.round !== this.#round);
  }

  #laid(task: PracticeTask): DeskQuestion | null {
    const info = this.questions().find(({ id }) => id === task.question);
    if (!info) return null;
    const { text, external_id, body } = task;
    this.#round = task.round;
    this.at = (this.practice.state?.done ?? 0) + 1;
    this.total = this.practice.state?.total ?? this.at;
    const question = new DeskQuestion(info, new Map(), new Map());
    const fresh = { group: null, occasion: 1, asked: true, answer: null, note: NO_NOTE, draft: null };
    const marks = { flagged: false, skipped: false, random: false, reveal: null, spans: null };
    question.load({ text, external_id, body, ...fresh, ...marks });
    return question;
  }
}
