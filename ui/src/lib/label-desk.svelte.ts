// One person labelling one question: the text on the desk, what was answered, and the way from text to text.
import { commands } from "$bindings";
import type {
  AnnotatorId,
  Answer,
  LabelTask,
  PersonSpans,
  Progress,
  QuestionId,
  TextId,
  TextOrder,
  TextPredictions,
  Undone,
} from "$lib/bindings";
import { sameAnswer } from "$lib/levels";
import { VisibleTime } from "$lib/visible-time";

export interface Desk {
  annotator: AnnotatorId;
  question: QuestionId;
  order: TextOrder;
}

export class LabelDesk {
  task = $state.raw<LabelTask | null>(null);
  progress = $state.raw<Progress | null>(null);
  /** The label given, once it is on disk; null before. */
  given = $state.raw<Answer | null>(null);
  /** The label on its way to the disk. */
  saving = $state.raw<Answer | null>(null);
  /** What the models say; only ever set once {@link given} is. */
  reveal = $state.raw<TextPredictions | null>(null);
  /** What the others marked, of a question of spans; only ever set once {@link given} is. */
  others = $state.raw<readonly PersonSpans[] | null>(null);
  state = $state<"loading" | "ready" | "done" | "failed">("loading");
  readonly timer = new VisibleTime();

  /** Set by the view: go on by itself after an answer. */
  goOn = false;

  #desk: Desk;
  #trail: TextId[] = [];
  #at = -1;
  #ahead: { after: TextId; next: Promise<LabelTask | null> } | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  #left = false;

  constructor(
    desk: Desk,
    private readonly fail: (thrown: unknown) => void,
  ) {
    this.#desk = desk;
  }

  /** Begins with the first text of the order. */
  begin(): Promise<void> {
    return this.#inTurn(async () => {
      const { annotator, question, order } = this.#desk;
      try {
        this.progress = await commands.progress(annotator, question);
        this.#lay(await commands.nextText(annotator, question, order, null));
      } catch (thrown) {
        this.state = "failed";
        throw thrown;
      }
    });
  }

  /** Nothing that is still under way may touch the screen any more. */
  leave(): void {
    this.#left = true;
  }

  /** Another order: the text on the desk stays, what comes after it changes. */
  orderBy(order: TextOrder): Promise<void> {
    this.#desk = { ...this.#desk, order };
    this.#ahead = null;
    return this.state === "done" ? this.begin() : Promise.resolve();
  }

  /** Gives a label. The same label once more goes on; another one corrects it. */
  answer(answer: Answer): Promise<void> {
    const text = this.task?.text;
    return this.#inTurn(async () => {
      // The key was meant for the text on screen when it was pressed, and for no other.
      if (text === undefined || text !== this.task?.text) return;
      if (sameAnswer(this.given, answer)) return this.#next();
      await this.#record(text, answer);
    });
  }

  /** Goes on: forward on the trail, else to the next text of the order. */
  forward(): Promise<void> {
    const text = this.task?.text;
    return this.#inTurn(async () => {
      if (text === this.task?.text) await this.#next();
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
   * Takes back this person's last label, wherever it was, and shows that text again. Null where there is none; undefined where it
   * failed, or the label was replaced since, which was told.
   */
  undo(): Promise<Undone | null | undefined> {
    return this.#inTurn(async () => {
      const undone = await commands.undoLabel(this.#desk.annotator, this.#desk.question);
      if (!undone) return null;
      this.progress = undone.progress;
      this.#ahead = null;
      this.#follow(undone.text);
      await this.#return(undone.text);
      return undone;
    });
  }

  /** Puts the text off. */
  skip(): Promise<void> {
    const text = this.task?.text;
    return this.#inTurn(async () => {
      if (text === undefined || text !== this.task?.text) return;
      this.progress = await commands.skipText(this.#desk.annotator, this.#desk.question, text);
      this.#ahead = null;
      await this.#onward(text);
    });
  }

  /** Marks the text for a second look, or takes the mark off. */
  flag(): Promise<void> {
    const task = this.task;
    return this.#inTurn(async () => {
      if (!task || task.text !== this.task?.text) return;
      const on = !this.task.flagged;
      this.progress = await commands.flagText(this.#desk.annotator, this.#desk.question, task.text, on);
      this.task = { ...this.task, flagged: on };
    });
  }

  /** The models have changed: a prediction that was not there when the answer was given may be there now. */
  lookAgain(): Promise<void> {
    const text = this.task?.text;
    const missing = () => this.given !== null && this.reveal === null && this.others === null && !this.goOn;
    if (text === undefined || !missing()) return Promise.resolve();
    return this.#inTurn(async () => {
      if (this.task?.text !== text || !missing()) return;
      const { annotator, question } = this.#desk;
      // Nobody asked for this: without an answer the screen stays as it is.
      const task = await commands.labelTask(annotator, question, text).catch(() => null);
      if (task && !this.#left && task.answer !== null) {
        this.reveal = task.reveal;
        this.others = task.spans;
      }
    });
  }

  async #record(text: TextId, answer: Answer): Promise<void> {
    this.saving = answer;
    try {
      const { annotator, question } = this.#desk;
      const duration_ms = this.timer.elapsed;
      const receipt = await commands.recordLabel({ question, annotator, text, answer, duration_ms });
      this.given = answer;
      this.reveal = receipt.reveal;
      this.others = receipt.spans;
      this.progress = receipt.progress;
    } finally {
      this.saving = null;
    }
    if (this.goOn) await this.#next();
    else this.#lookAhead(text);
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
    const { annotator, question, order } = this.#desk;
    if (this.given === null && order === "file" && (await this.#beside(text, 1))) return;
    const ahead = this.#ahead?.after === text ? this.#ahead.next : null;
    this.#ahead = null;
    this.#lay(await (ahead ?? commands.nextText(annotator, question, order, text)));
  }

  async #beside(text: TextId, step: number): Promise<boolean> {
    const { annotator, question } = this.#desk;
    const task = await commands.neighbourText(annotator, question, text, step);
    if (!task) return false;
    if (step < 0) {
      this.#trail.unshift(task.text);
      this.#at = 0;
      this.#put(task);
    } else {
      this.#lay(task);
    }
    return true;
  }

  async #return(text: TextId): Promise<void> {
    this.#put(await commands.labelTask(this.#desk.annotator, this.#desk.question, text));
  }

  /** Fetches the next text while this one is still being read, so that going on takes no time. */
  #lookAhead(text: TextId): void {
    const { annotator, question, order } = this.#desk;
    const next = commands.nextText(annotator, question, order, text);
    // Should it fail, it is asked for again (and fails aloud) when it is needed.
    next.catch(() => (this.#ahead = null));
    this.#ahead = { after: text, next };
  }

  #lay(task: LabelTask | null): void {
    if (!task) {
      if (!this.#left) {
        this.state = "done";
        this.#at = this.#trail.length - 1;
        this.task = null;
        this.given = null;
        this.reveal = null;
        this.others = null;
      }
      return;
    }
    this.#follow(task.text);
    this.#put(task);
  }

  #follow(text: TextId): void {
    this.#trail = [...this.#trail.slice(0, this.#at + 1).filter((t) => t !== text), text];
    this.#at = this.#trail.length - 1;
  }

  #put(task: LabelTask): void {
    if (this.#left) return;
    this.task = task;
    this.given = task.answer;
    this.reveal = task.answer === null ? null : task.reveal;
    this.others = task.answer === null ? null : task.spans;
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
