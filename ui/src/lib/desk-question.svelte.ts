// One question on the desk, and what was answered to it about the text that lies there.
import type {
  Answer,
  LabelReceipt,
  LabelTask,
  PersonSpans,
  QuestionInfo,
  TextPredictions,
} from "$lib/bindings";
import { optionsOf, sameAnswer } from "$lib/levels";
import { SpanMarks } from "$lib/span-marks.svelte";
import { spansOf } from "$lib/spans";

export class DeskQuestion {
  task = $state.raw<LabelTask | null>(null);
  /** The label given, once it is on disk; null before. */
  given = $state.raw<Answer | null>(null);
  /** The label on its way to the disk. */
  saving = $state.raw<Answer | null>(null);
  /** What the models say; only ever set once {@link given} is. */
  reveal = $state.raw<TextPredictions | null>(null);
  /** What the others marked, of a question of spans; only ever set once {@link given} is. */
  others = $state.raw<readonly PersonSpans[] | null>(null);
  /** Options put together for this text, not given yet. */
  pending = $state.raw<Answer | null>(null);
  /** What is marked in the text, of a question of spans. */
  readonly marks: SpanMarks | null;

  constructor(readonly info: QuestionInfo) {
    this.marks = info.scale.kind === "spans" ? new SpanMarks(info.scale) : null;
  }

  /** Whether it is asked about this text: its condition, if it has one, is met. */
  readonly asked: boolean = $derived(this.task?.asked ?? true);
  /** The options that are put together, or were given. */
  readonly picked: readonly number[] = $derived(optionsOf(this.pending ?? this.given));
  /** Something else was put together than what was given. */
  readonly changed: boolean = $derived.by(() =>
    this.marks ? this.marks.changed : this.pending !== null && !sameAnswer(this.pending, this.given),
  );
  /** It waits for an answer, or for a changed one to be given. */
  readonly open: boolean = $derived(this.asked && (this.given === null || this.changed));

  /** Puts a text before it, or none. */
  lay(task: LabelTask | null): void {
    this.task = task;
    this.given = task?.answer ?? null;
    this.pending = null;
    this.show(task);
    this.marks?.lay(task?.text ?? null, task?.body ?? "", this.given && spansOf(this.given));
  }

  /** What was said of others comes with a text; it counts only beside an answer. */
  show(told: Pick<LabelTask, "reveal" | "spans"> | null): void {
    this.reveal = this.given === null ? null : (told?.reveal ?? null);
    this.others = this.given === null ? null : (told?.spans ?? null);
  }

  /** An answer is on disk. */
  take(answer: Answer, receipt: LabelReceipt): void {
    this.given = answer;
    this.pending = null;
    this.show(receipt);
    if (this.task) this.marks?.lay(this.task.text, this.task.body, spansOf(answer));
  }
}
