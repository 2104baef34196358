// One person labelling: the text on the desk, the questions about it, and the way from question to question and from text to text.
import { commands } from "$bindings";
import type {
  AnnotatorId,
  Answer,
  LabelTask,
  Progress,
  QuestionId,
  QuestionInfo,
  TextId,
  TextOrder,
  Undone,
} from "$lib/bindings";
import type { Drafts } from "$lib/drafts";
import { DeskQuestion } from "$lib/desk-question.svelte";
import { sameAnswer } from "$lib/levels";
import { asProblem } from "$lib/problems";
import { VisibleTime } from "$lib/visible-time";

export interface Desk {
  annotator: AnnotatorId;
  /** At least one, in the order in which they are asked; the first one chooses the texts. */
  questions: readonly QuestionInfo[];
  order: TextOrder;
  /** Where what is put together and not given waits. */
  drafts: Drafts;
}

export class LabelDesk {
  readonly questions: readonly DeskQuestion[];
  /** Which of the questions keys answer. */
  at = $state(0);
  progress = $state.raw<Progress | null>(null);
  state = $state<"loading" | "ready" | "done" | "failed">("loading");
  readonly timer = new VisibleTime();

  /** Set by the view: go on by itself after an answer. */
  goOn = false;

  #annotator: AnnotatorId;
  #order: TextOrder;
  #ids: QuestionId[];
  #trail: TextId[] = [];
  #at = -1;
  #ahead: { after: TextId; next: Promise<LabelTask[] | null> } | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  /** How often the desk, and not the person, chose what keys answer. */
  #moves = 0;
  #left = false;

  constructor(
    desk: Desk,
    private readonly fail: (thrown: unknown) => void,
  ) {
    this.#annotator = desk.annotator;
    this.#order = desk.order;
    this.#ids = desk.questions.map(({ id }) => id);
    this.questions = desk.questions.map(
      (info) => new DeskQuestion(info, desk.drafts.of(desk.annotator, info.id)),
    );
  }

  /** The question that keys answer. */
  get question(): DeskQuestion {
    const question = this.questions[this.at] ?? this.questions[0];
    if (!question) throw new Error("a desk has at least one question");
    return question;
  }

  /** The text on the desk, as that question sees it. */
  get task(): LabelTask | null {
    return this.question.task;
  }

  /** More than one question is asked on one screen. */
  get several(): boolean {
    return this.questions.length > 1;
  }

  /** Keys answer this question from now on. */
  focus(at: number): void {
    if (this.questions[at]?.asked) this.at = at;
  }

  /** The next question that waits for an answer, or the one before; null where there is none that way. */
  openBeside(step: 1 | -1): number | null {
    for (let at = this.at + step; at >= 0 && at < this.questions.length; at += step)
      if (this.questions[at]?.open) return at;
    return null;
  }

  /** The next other question that waits for an answer, round the end. */
  nextOpen(): number | null {
    const count = this.questions.length;
    const order = Array.from({ length: count - 1 }, (_, i) => (this.at + 1 + i) % count);
    return order.find((at) => this.questions[at]?.open) ?? null;
  }

  /** Begins with the first text of the order. */
  begin(): Promise<void> {
    return this.#inTurn(async () => {
      try {
        this.progress = await commands.progress(this.#annotator, this.#ids);
        this.#lay(await this.#fetchNext(null));
      } catch (thrown) {
        this.state = "failed";
        throw thrown;
      }
    });
  }

  /** Nothing that is still under way may touch the screen any more; what is put together waits. */
  leave(): void {
    this.#left = true;
    this.questions.forEach((question) => question.putAway());
  }

  /** Another order: the text on the desk stays, what comes after it changes. */
  orderBy(order: TextOrder): Promise<void> {
    this.#order = order;
    this.#ahead = null;
    return this.state === "done" ? this.begin() : Promise.resolve();
  }

  /** Answers the question that has the keys. The same answer once more goes on; another one corrects it. */
  answer(answer: Answer): Promise<void> {
    const [question, text, moves] = [this.question, this.task?.text, this.#moves];
    return this.#inTurn(async () => {
      // The key was meant for the text and the question on screen when it was pressed, and for no other.
      if (text === undefined || text !== this.task?.text || !question.asked) return;
      // Whoever goes elsewhere has answered; where the desk went on meanwhile, the key may have been meant for that.
      if (question !== this.question && moves !== this.#moves) return;
      if (!sameAnswer(question.given, answer)) await this.#record(question, text, answer);
      else if (question === this.question) await this.#advance();
    });
  }

  /** Goes on: forward on the trail, else to the next text of the order. */
  forward(): Promise<void> {
    const text = this.task?.text;
    return this.#inTurn(async () => {
      if (text === this.task?.text) await this.#next();
    });
  }

  /** To the next question that waits for an answer, else to the next text; false where only this one waits, and is not left. */
  goOnFrom(): Promise<boolean | undefined> {
    const [question, text] = [this.question, this.task?.text];
    return this.#inTurn(async () => {
      if (text !== this.task?.text || question !== this.question) return true;
      if (question.open && this.nextOpen() === null) return false;
      await this.#advance();
      return true;
    });
  }

  /** Goes back on the trail, and from its start to the text before in the file. */
  back(): Promise<void> {
    const text = this.task?.text;
    return this.#inTurn(async () => {
      if (text !== this.task?.text) return;
      const before = this.#trail[this.state === "done" ? this.#at : this.#at - 1];
      if (before !== undefined) {
        if (this.state !== "done") this.#at -= 1;
        await this.#return(before);
      } else if (text !== undefined) {
        await this.#beside(text, -1);
      }
    });
  }

  /**
   * Takes back this person's last label, wherever it was and whichever of the questions it answered, and shows that text and question
   * again. Null where there is none; undefined where it failed, or the label was replaced since, which was told.
   */
  undo(): Promise<Undone | null | undefined> {
    return this.#inTurn(async () => {
      const undone = await commands.undoLabel(this.#annotator, this.#ids);
      if (!undone) return null;
      this.progress = undone.progress;
      this.#ahead = null;
      this.#follow(undone.text);
      await this.#return(undone.text, undone);
      this.focus(this.#ids.indexOf(undone.question));
      return undone;
    });
  }

  /** Puts off what is asked about the text and not answered. */
  skip(): Promise<void> {
    const text = this.task?.text;
    return this.#inTurn(async () => {
      if (text === undefined || text !== this.task?.text) return;
      this.progress = await commands.skipText(this.#annotator, this.#ids, text);
      this.#ahead = null;
      await this.#onward(text);
    });
  }

  /** Marks the text for a second look at the question, or takes the mark off. */
  flag(): Promise<void> {
    const [question, text] = [this.question, this.task?.text];
    return this.#inTurn(async () => {
      if (text === undefined || text !== this.task?.text || !question.task) return;
      const on = !question.task.flagged;
      const progress = await commands.flagText(this.#annotator, question.info.id, text, on);
      question.task = { ...question.task, flagged: on };
      this.progress = await this.#progressAfter(progress);
    });
  }

  /** The models have changed: a prediction that was not there when the answer was given may be there now. */
  lookAgain(): Promise<void> {
    const text = this.task?.text;
    const missing = () =>
      this.goOn
        ? []
        : this.questions.filter((q) => q.given !== null && q.reveal === null && q.others === null);
    if (text === undefined || missing().length === 0) return Promise.resolve();
    return this.#inTurn(async () => {
      if (this.task?.text !== text) return;
      for (const question of missing()) {
        // Nobody asked for this: without an answer the screen stays as it is.
        const task = await commands.labelTask(this.#annotator, question.info.id, text).catch(() => null);
        if (task && !this.#left && task.answer !== null) question.show(task);
      }
    });
  }

  async #record(question: DeskQuestion, text: TextId, answer: Answer): Promise<void> {
    question.saving = answer;
    try {
      const duration_ms = this.#timeFor(question);
      const label = { question: question.info.id, annotator: this.#annotator, text, answer, duration_ms };
      const receipt = await commands.recordLabel(label);
      question.take(answer, receipt);
      this.progress = await this.#progressAfter(receipt.progress);
    } catch (thrown) {
      const problem = asProblem(thrown);
      // Of several questions it is said which one was not answered.
      throw this.several ? { ...problem, message: `${question.info.name}: ${problem.message}` } : thrown;
    } finally {
      question.saving = null;
    }
    await this.#askAgain(text);
    // Keys are not taken from a question that was gone to meanwhile, nor from what was put together meanwhile.
    if (this.goOn && question === this.question && !question.changed) await this.#advance();
    else if (!this.questions.some(({ open }) => open)) this.#lookAhead(text);
  }

  /** Only the first answer on a text takes the reading of it, as every answer does where one question is asked: others have no time. */
  #timeFor(question: DeskQuestion): number | null {
    const another = this.questions.some((one) => one !== question && one.given !== null);
    return another ? null : this.timer.elapsed;
  }

  /** How far it is with all questions, after one of them changed; what is on disk is not told to have failed. */
  async #progressAfter(ofOne: Progress): Promise<Progress> {
    if (!this.several) return ofOne;
    return commands.progress(this.#annotator, this.#ids).catch(() => this.progress ?? ofOne);
  }

  /** Looks which questions are asked, now that another one is answered so. */
  async #askAgain(text: TextId): Promise<void> {
    if (!this.several) return;
    for (const question of this.questions.filter(({ info }) => info.only_if !== null)) {
      const { asked } = await commands.labelTask(this.#annotator, question.info.id, text);
      if (question.task) question.task = { ...question.task, asked };
    }
  }

  /** To the next question that waits for an answer; from the last one to the next text. */
  async #advance(): Promise<void> {
    const next = this.nextOpen();
    if (next === null) return this.#next();
    this.#moves += 1;
    this.focus(next);
  }

  async #next(): Promise<void> {
    const onTrail = this.#trail[this.#at + 1];
    const text = this.task?.text;
    if (onTrail !== undefined) {
      this.#at += 1;
      await this.#return(onTrail);
    } else if (text !== undefined) {
      await this.#onward(text);
    }
  }

  /** To the next text of the order. One that was not answered is passed over in the file's own order. */
  async #onward(text: TextId): Promise<void> {
    const passedOver = this.questions.some(({ asked, given }) => asked && given === null);
    if (passedOver && this.#order === "file" && (await this.#beside(text, 1))) return;
    const ahead = this.#ahead?.after === text ? this.#ahead.next : null;
    this.#ahead = null;
    this.#lay(await (ahead ?? this.#fetchNext(text)));
  }

  async #beside(text: TextId, step: number): Promise<boolean> {
    const tasks = await this.#whole(commands.neighbourText(this.#annotator, this.#ids[0] ?? 0, text, step));
    if (!tasks) return false;
    if (step < 0) {
      this.#trail.unshift(tasks[0]?.text ?? text);
      this.#at = 0;
      this.#put(tasks);
    } else {
      this.#lay(tasks);
    }
    return true;
  }

  async #return(text: TextId, undone: Undone | null = null): Promise<void> {
    const tasks = await this.#whole(commands.labelTask(this.#annotator, this.#ids[0] ?? 0, text));
    if (tasks) this.#put(tasks, undone);
  }

  #fetchNext(after: TextId | null): Promise<LabelTask[] | null> {
    return this.#whole(commands.nextText(this.#annotator, this.#ids, this.#order, after));
  }

  /** The text as every question sees it, where it came as the first one does. */
  async #whole(first: Promise<LabelTask | null>): Promise<LabelTask[] | null> {
    const task = await first;
    if (!task) return null;
    const others = this.#ids.slice(1).map((id) => commands.labelTask(this.#annotator, id, task.text));
    const more = await Promise.all(others);
    return [task, ...more.map((other) => ({ ...other, body: task.body, random: task.random }))];
  }

  /** Fetches the next text while this one is still being read, so that going on takes no time. */
  #lookAhead(text: TextId): void {
    const next = this.#fetchNext(text);
    // Should it fail, it is asked for again (and fails aloud) when it is needed.
    next.catch(() => (this.#ahead = null));
    this.#ahead = { after: text, next };
  }

  #lay(tasks: LabelTask[] | null): void {
    const [first] = tasks ?? [];
    if (!tasks || !first) {
      if (!this.#left) {
        this.state = "done";
        this.#at = this.#trail.length - 1;
        this.questions.forEach((question) => question.lay(null));
      }
      return;
    }
    this.#follow(first.text);
    this.#put(tasks);
  }

  #follow(text: TextId): void {
    this.#trail = [...this.#trail.slice(0, this.#at + 1).filter((t) => t !== text), text];
    this.#at = this.#trail.length - 1;
  }

  #put(tasks: LabelTask[], undone: Undone | null = null): void {
    if (this.#left) return;
    this.questions.forEach((question, i) =>
      question.lay(tasks[i] ?? null, undone?.question === question.info.id ? undone.answer : null),
    );
    // Keys begin with what is not answered yet.
    const first = this.questions.findIndex(({ open }) => open);
    this.at = Math.max(0, first >= 0 ? first : this.questions.findIndex(({ asked }) => asked));
    this.#moves += 1;
    this.state = "ready";
    this.timer.restart();
  }

  /** One thing after the other, in the order of the keys. */
  #inTurn<T>(work: () => Promise<T>): Promise<T | undefined> {
    const turn = this.#queue.then(work).catch((thrown: unknown) => {
      this.fail(thrown);
      return undefined;
    });
    this.#queue = turn;
    return turn;
  }
}
