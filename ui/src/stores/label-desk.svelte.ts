// The desk of one person: the current text, its questions, and moving between questions and texts.
import { commands } from "$bindings";
import type {
  AnnotatorId,
  Answer,
  LabelTask,
  Progress,
  QuestionId,
  QuestionInfo,
  Note,
  TextId,
  TextOrder,
  Undone,
} from "$api/bindings";
import type { Drafts } from "./drafts";
import { assignmentKey, type Assignment } from "$logic/assignment";
import { DeskQuestion } from "./desk-question.svelte";
import { sameAnswer } from "$kinds/level/levels";
import { t } from "$messages/messages.svelte";
import { asProblem } from "$words/problems";
import { NoteDrafts } from "./note-drafts";
import { VisibleTime } from "./visible-time";

interface Desk {
  annotator: AnnotatorId;
  /** At least one, in the order on screen; the first one determines the texts. */
  questions: readonly QuestionInfo[];
  order: TextOrder;
  /** A packet is open: texts come in the order of the packet, some of them twice. */
  assigned?: boolean;
  /** The store of unsubmitted answers. */
  drafts: Drafts;
  /** The version of the guideline that is on screen. */
  guideline?: () => string | null;
  /** What spares the person. */
  care?: DeskCare;
}

/** What the desk asks of care. */
interface DeskCare {
  /** The progress before the first text. */
  begin(): Promise<void>;
  /** A text is read, or something was done with it. */
  read(text: TextId): Promise<void>;
  /** No further text today. */
  ended(): boolean;
}

export class LabelDesk {
  readonly questions: readonly DeskQuestion[];
  /** Which of the questions keys answer. */
  at = $state(0);
  progress = $state.raw<Progress | null>(null);
  /** `finished`: the daily limit is reached, though texts remain. */
  state = $state<"loading" | "ready" | "done" | "finished" | "failed">("loading");
  readonly timer = new VisibleTime();

  /** Set by the view: go on by itself after an answer. */
  goOn = $state(false);
  /** The last answer, while it is current. */
  last = $state.raw<{ question: QuestionInfo; answer: Answer } | null>(null);
  /** A note is being written: the desk does not go on by itself under it. */
  writing = $state(false);

  #annotator: AnnotatorId;
  #order: TextOrder;
  #ids: QuestionId[];
  #assigned: boolean;
  #guideline: () => string | null;
  #care: DeskCare | null;
  #trail: Assignment[] = [];
  #at = -1;
  #ahead: { after: string; next: Promise<LabelTask[] | null> } | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  /** How often the desk, and not the person, chose what keys answer. */
  #moves = 0;
  #left = false;
  #settled = false;
  /** The text that was skipped, as long as nothing was done since. */
  #skipped: Assignment | null = null;
  #typed: NoteDrafts;

  constructor(
    desk: Desk,
    private readonly fail: (thrown: unknown) => void,
  ) {
    this.#annotator = desk.annotator;
    this.#order = desk.order;
    this.#assigned = desk.assigned ?? false;
    this.#guideline = desk.guideline ?? (() => null);
    this.#care = desk.care ?? null;
    this.#ids = desk.questions.map(({ id }) => id);
    this.#typed = new NoteDrafts(desk.annotator, fail);
    this.questions = desk.questions.map(
      (info) =>
        new DeskQuestion(
          info,
          desk.drafts.of(desk.annotator, info.id),
          desk.drafts.notesOf(desk.annotator, info.id),
        ),
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

  /** Names the current text and its annotation round; undefined if there is none. */
  get #here(): string | undefined {
    return this.task ? assignmentKey(this.task) : undefined;
  }

  /** Several questions share one screen. */
  get severalQuestions(): boolean {
    return this.questions.length > 1;
  }

  /** Keys answer this question from now on. */
  focus(at: number): void {
    if (this.questions[at]?.asked) this.at = at;
  }

  /** The next question that waits for an answer, or the one before; null where there is none that way. */
  adjacentOpen(step: 1 | -1): number | null {
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

  /** Begins with the first text of the order, or with another one. */
  begin(wanted: TextId | null = null): Promise<void> {
    return this.#inTurn(async () => {
      try {
        await this.#care?.begin();
        this.progress = await commands.progress(this.#annotator, this.#ids);
        const assignment = wanted === null ? null : { text: wanted, occasion: 1 };
        this.#lay(
          await (assignment ? this.#whole(this.#task(this.#ids[0] ?? 0, assignment)) : this.#fetchNext(null)),
        );
      } catch (thrown) {
        this.state = "failed";
        throw thrown;
      }
    });
  }

  /** To any text, answered or not; what comes after it goes on from there. */
  goTo(text: TextId): Promise<void> {
    return this.#inTurn(async () => {
      this.#skipped = null;
      const tasks = await this.#whole(this.#task(this.#ids[0] ?? 0, { text, occasion: 1 }));
      this.#ahead = null;
      this.#lay(tasks);
    });
  }

  /** Pending requests may no longer change the screen; drafts are stored. */
  leave(): void {
    if (!this.#settled) this.#keepRemarks();
    this.#left = true;
    this.questions.forEach((question) => question.putAway());
  }

  /** Writes everything that is pending before another project is opened. */
  async settle(): Promise<void> {
    this.#keepRemarks();
    for (let last: unknown = null; last !== this.#queue;) {
      last = this.#queue;
      await last;
    }
    await this.#typed.settle();
    this.#settled = true;
  }

  /** Another order: the text on the desk stays, what comes after it changes. */
  orderBy(order: TextOrder): Promise<void> {
    this.#order = order;
    this.#ahead = null;
    return this.state === "done" ? this.begin() : Promise.resolve();
  }

  /** Topics or the limit have changed: the next text is fetched again, the current one stays. */
  choiceChanged(): Promise<void> {
    this.#ahead = null;
    if (this.state === "done" || this.state === "finished") return this.begin();
    return this.#inTurn(async () => {
      this.progress = await commands.progress(this.#annotator, this.#ids);
    }).then(() => undefined);
  }

  /** Answers the question that has the keys. The same answer once more goes on; another one corrects it. */
  answer(answer: Answer): Promise<void> {
    const [question, assignment, here, moves] = [this.question, this.task, this.#here, this.#moves];
    return this.#inTurn(async () => {
      // The key was meant for the text and the question on screen when it was pressed, and for no other.
      if (!assignment || here !== this.#here || !question.asked) return;
      // A person who moved on has answered; if the desk moved on meanwhile, the key may have been meant for
      // that.
      if (question !== this.question && moves !== this.#moves) return;
      if (!sameAnswer(question.given, answer)) await this.#record(question, assignment, answer);
      else if (question === this.question) await this.#advance();
    });
  }

  /** Goes on: forward on the trail, else to the next text of the order. */
  forward(): Promise<void> {
    const here = this.#here;
    return this.#inTurn(async () => {
      this.#skipped = null;
      if (here === this.#here) await this.#next();
    });
  }

  /** Goes from an answer to the next open question, else to the next text; false if there is no answer. */
  goOnFrom(): Promise<boolean | undefined> {
    const [question, here] = [this.question, this.#here];
    return this.#inTurn(async () => {
      if (here !== this.#here || question !== this.question) return true;
      if (question.open) return false;
      await this.#advance();
      return true;
    });
  }

  /** Whether {@link back} leads to an earlier text. */
  get leadsBack(): boolean {
    return this.#trail[this.#at] !== undefined;
  }

  /** Goes back on the trail, and from its start to the text before in the file. */
  back(): Promise<void> {
    const [assignment, here] = [this.task, this.#here];
    return this.#inTurn(async () => {
      if (here !== this.#here) return;
      this.#skipped = null;
      const over = this.state === "done" || this.state === "finished";
      const before = this.#trail[over ? this.#at : this.#at - 1];
      if (before !== undefined) {
        if (!over) this.#at -= 1;
        await this.#return(before);
      } else if (assignment) {
        await this.#neighbour(assignment, -1);
      }
    });
  }

  /**
   * Goes back to the text that was skipped last, if nothing was done since. Otherwise undoes this person's
   * last label of any of the questions, and shows its text and question. Null if there is none; undefined if
   * it failed or the label was replaced since, which was reported.
   */
  undo(): Promise<Undone | "skip" | null | undefined> {
    return this.#inTurn(async () => {
      const skipped = this.#skipped;
      if (skipped) {
        this.#skipped = null;
        this.#ahead = null;
        this.#follow(skipped);
        await this.#return(skipped);
        return "skip";
      }
      const undone = await commands.undoLabel(this.#annotator, this.#ids);
      if (!undone) return null;
      this.last = null;
      this.progress = undone.progress;
      this.#ahead = null;
      this.#follow(undone);
      await this.#return(undone, undone);
      this.focus(this.#ids.indexOf(undone.question));
      return undone;
    });
  }

  /** Skips the open questions of the text. */
  skip(): Promise<void> {
    const [assignment, here] = [this.task, this.#here];
    return this.#inTurn(async () => {
      if (!assignment || here !== this.#here) return;
      this.progress = await commands.skipText(this.#annotator, this.#ids, assignment.text);
      this.#ahead = null;
      await this.#onward(assignment);
      this.#skipped = assignmentOf(assignment);
    });
  }

  /** Marks the text for a second look at the question, or takes the mark off. */
  flag(): Promise<void> {
    const [question, text] = [this.question, this.task?.text];
    return this.#inTurn(async () => {
      if (text === undefined || text !== this.task?.text || !question.task) return;
      const on = !question.task.flagged;
      const progress = await commands.flagText(this.#annotator, question.info.id, text, on);
      await this.#care?.read(text);
      question.task = { ...question.task, flagged: on };
      this.progress = await this.#progressAfter(progress);
    });
  }

  /** Sets the note of the current question. It is saved with the answer, or by itself if there is one. */
  setNote(note: Note): void {
    this.#settled = false;
    const { task, question } = this;
    if (!task) return;
    question.note = note;
    this.#keepTyped(question, task);
  }

  /** Stores unsaved notes, so that they survive the window. */
  #keepTyped(question: DeskQuestion, assignment: Assignment): void {
    // Nothing is typed about a text that left the desk.
    const here = question.task !== null && assignmentKey(question.task) === assignmentKey(assignment);
    const typed = here && question.unsavedNote ? question.note : null;
    this.#typed.store(question.info.id, assignment, typed);
  }

  /** Saves notes on saved answers; other notes are saved with the answer. */
  saveNote(question: DeskQuestion = this.question): Promise<void> {
    const answered = question.given !== null || question.saving !== null;
    return answered ? this.#keep(question) : Promise.resolve();
  }

  /** Saves the notes of texts that leave the desk. A note of a later round waits for its answer. */
  #keepRemarks(): void {
    for (const question of this.questions) void this.#keep(question);
  }

  #keep(question: DeskQuestion): Promise<void> {
    const left = { task: question.task, note: question.note, given: question.given };
    const { task } = left;
    if (!task || !question.unsavedNote) return Promise.resolve();
    const { id } = question.info;
    const { text, occasion } = task;
    const guideline = this.#guideline();
    return this.#inTurn(async () => {
      // If the text is still current, a later answer may already include the note.
      const here = question.task === task;
      const { note, given } = here ? question : left;
      if (here && !question.unsavedNote) return;
      const details = { note, guideline };
      if (occasion > 1 && given === null) return;
      if (occasion > 1 && given !== null) {
        const label = { question: id, annotator: this.#annotator, text, answer: given, duration_ms: null };
        await commands.recordAgain(label, details, occasion);
      } else {
        await commands.saveNote(this.#annotator, id, text, details);
      }
      if (question.task === task) question.setNote(note);
      this.#keepTyped(question, task);
    });
  }

  /** The models have changed: a prediction that was not there when the answer was given may be there now. */
  lookAgain(): Promise<void> {
    const [assignment, here] = [this.task, this.#here];
    const missing = () =>
      this.goOn
        ? []
        : this.questions.filter((q) => q.given !== null && q.reveal === null && q.others === null);
    if (!assignment || missing().length === 0) return Promise.resolve();
    return this.#inTurn(async () => {
      if (this.#here !== here) return;
      for (const question of missing()) {
        // Nobody requested this: without an answer the screen is unchanged.
        const task = await this.#task(question.info.id, assignment).catch(() => null);
        if (task && !this.#left && task.answer !== null) question.show(task);
      }
    });
  }

  async #record(question: DeskQuestion, assignment: Assignment, answer: Answer): Promise<void> {
    question.saving = answer;
    this.#skipped = null;
    try {
      const duration_ms = this.#timeFor(question);
      const { text, occasion } = assignment;
      const label = { question: question.info.id, annotator: this.#annotator, text, answer, duration_ms };
      const details = { note: question.note, guideline: this.#guideline() };
      const before = question.task?.draft != null || question.unsavedNote;
      const receipt = await (occasion > 1
        ? commands.recordAgain(label, details, occasion)
        : commands.recordLabel(label, details));
      question.accept(answer, receipt);
      question.setNote(details.note);
      if (before && question.task) this.#keepTyped(question, question.task);
      this.last = { question: question.info, answer };
      this.progress = await this.#progressAfter(receipt.progress);
    } catch (thrown) {
      if (!this.severalQuestions) throw thrown;
      const problem = asProblem(thrown);
      // With several questions, the message names the open one.
      const named = { question: question.info.name, problem: problem.message };
      throw { ...problem, message: t("desk.problem_of_question", named) };
    } finally {
      question.saving = null;
    }
    await this.#care?.read(assignment.text);
    await this.#askAgain(assignment);
    // The focus stays on a question that was selected meanwhile, and on drafts made meanwhile.
    const byItself = this.goOn && !this.writing;
    if (byItself && question === this.question && !question.changed) await this.#advance(true);
    else if (!this.questions.some(({ open }) => open)) this.#lookAhead(assignment);
  }

  /** Only the first answer on a text gets the reading time; the others have no time. */
  #timeFor(question: DeskQuestion): number | null {
    const another = this.questions.some((one) => one !== question && one.given !== null);
    return another ? null : this.timer.elapsed;
  }

  /** Refreshes the progress of all questions after a change; errors are not reported as a failed save. */
  async #progressAfter(ofOne: Progress): Promise<Progress> {
    if (!this.severalQuestions) return ofOne;
    return commands.progress(this.#annotator, this.#ids).catch(() => this.progress ?? ofOne);
  }

  /** Updates which questions apply, after an answer to another one. */
  async #askAgain(assignment: Assignment): Promise<void> {
    if (!this.severalQuestions) return;
    for (const question of this.questions.filter(({ info }) => info.only_if !== null)) {
      const { asked } = await this.#task(question.info.id, assignment);
      if (question.task) question.task = { ...question.task, asked };
    }
  }

  /** To the next question that waits for an answer; from the last one to the next text. */
  async #advance(byItself = false): Promise<void> {
    const next = this.nextOpen();
    if (next === null) return this.#next(byItself);
    this.#moves += 1;
    this.focus(next);
  }

  async #next(byItself = false): Promise<void> {
    const onTrail = this.#trail[this.#at + 1];
    const assignment = this.task;
    if (onTrail !== undefined) {
      this.#at += 1;
      await this.#return(onTrail);
    } else if (assignment) {
      await this.#onward(assignment, byItself);
    }
  }

  /** To the next text of the order. One that was not answered is passed over in the file's own order. */
  async #onward(assignment: Assignment, byItself = false): Promise<void> {
    const passedOver = this.questions.some(({ asked, given }) => asked && given === null);
    const inFile = this.#order === "file" && !this.#assigned;
    if (passedOver && inFile && (await this.#neighbour(assignment, 1))) return;
    const ahead = this.#ahead?.after === assignmentKey(assignment) ? this.#ahead.next : null;
    this.#ahead = null;
    const next = await (ahead ?? this.#fetchNext(assignment));
    // Notes that were started meanwhile belong to this text.
    if (byItself && this.writing)
      this.#ahead = { after: assignmentKey(assignment), next: Promise.resolve(next) };
    else this.#lay(next);
  }

  async #neighbour(assignment: Assignment, step: number): Promise<boolean> {
    const first = commands.neighbourText(this.#annotator, this.#ids[0] ?? 0, assignment.text, step);
    const tasks = await this.#whole(first);
    if (!tasks) return false;
    if (step < 0) {
      this.#trail.unshift(assignmentOf(tasks[0] ?? assignment));
      this.#at = 0;
      this.#put(tasks);
    } else {
      this.#lay(tasks);
    }
    return true;
  }

  async #return(assignment: Assignment, undone: Undone | null = null): Promise<void> {
    const tasks = await this.#whole(this.#task(this.#ids[0] ?? 0, assignment));
    if (tasks) this.#put(tasks, undone);
  }

  #task(question: QuestionId, { text, occasion }: Assignment): Promise<LabelTask> {
    return commands.labelTask(this.#annotator, question, text, occasion);
  }

  #fetchNext(after: Assignment | null): Promise<LabelTask[] | null> {
    return this.#whole(commands.nextText(this.#annotator, this.#ids, this.#order, after?.text ?? null));
  }

  /** The text as every question sees it, where it came as the first one does. */
  async #whole(first: Promise<LabelTask | null>): Promise<LabelTask[] | null> {
    const task = await first;
    if (!task) return null;
    const others = this.#ids.slice(1).map((id) => this.#task(id, task));
    const more = await Promise.all(others);
    return [task, ...more.map((other) => ({ ...other, body: task.body, random: task.random }))];
  }

  /** Fetches the next text while this one is still being read, so that going on takes no time. */
  #lookAhead(assignment: Assignment): void {
    const next = this.#fetchNext(assignment);
    // If it fails, it is fetched again (with an error message) when it is needed.
    next.catch(() => (this.#ahead = null));
    this.#ahead = { after: assignmentKey(assignment), next };
  }

  #lay(tasks: LabelTask[] | null): void {
    const [first] = tasks ?? [];
    if (!tasks || !first || this.#care?.ended()) {
      if (!this.#left) {
        this.state = tasks && first ? "finished" : "done";
        this.#at = this.#trail.length - 1;
        this.#keepRemarks();
        this.questions.forEach((question) => question.load(null));
      }
      return;
    }
    this.#follow(first);
    this.#put(tasks);
  }

  #follow(assignment: Assignment): void {
    const key = assignmentKey(assignment);
    const before = this.#trail.slice(0, this.#at + 1).filter((other) => assignmentKey(other) !== key);
    this.#trail = [...before, assignmentOf(assignment)];
    this.#at = this.#trail.length - 1;
  }

  #put(tasks: LabelTask[], undone: Undone | null = null): void {
    if (this.#left) return;
    this.#keepRemarks();
    this.questions.forEach((question, i) =>
      undone?.question === question.info.id
        ? question.load(tasks[i] ?? null, undone.answer, undone.note)
        : question.load(tasks[i] ?? null),
    );
    // The focus starts at the first open question.
    const first = this.questions.findIndex(({ open }) => open);
    this.at = Math.max(0, first >= 0 ? first : this.questions.findIndex(({ asked }) => asked));
    this.#moves += 1;
    this.state = "ready";
    this.timer.restart();
    const [task] = tasks;
    if (task) void this.#care?.read(task.text);
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

/** What names a text on the trail, and nothing else of it. */
function assignmentOf({ text, occasion }: Assignment): Assignment {
  return { text, occasion };
}
