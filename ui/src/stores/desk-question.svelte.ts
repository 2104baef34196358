// One question on the desk, with its answer about the current text.
import type {
  Answer,
  LabelReceipt,
  LabelTask,
  PersonSpans,
  QuestionInfo,
  Note,
  TextPredictions,
} from "$api/bindings";
import type { QuestionDrafts, QuestionNotes } from "./drafts";
import { assignmentKey } from "$logic/assignment";
import { optionsOf, sameAnswer } from "$kinds/level/levels";
import { isEmpty, NO_NOTE, sameNote } from "$logic/notes";
import { SpanMarks } from "$kinds/spans/span-marks.svelte";
import { answerOfSpans, placedSpans, spansOf } from "$kinds/spans/spans";
import { takesSpans } from "$kinds/kinds";

export class DeskQuestion {
  task = $state.raw<LabelTask | null>(null);
  /** The label given, once it is on disk; null before. */
  given = $state.raw<Answer | null>(null);
  /** The label on its way to the disk. */
  saving = $state.raw<Answer | null>(null);
  /** The predictions; only set once {@link given} is. */
  reveal = $state.raw<TextPredictions | null>(null);
  /** What the others marked, of a question of spans; only ever set once {@link given} is. */
  others = $state.raw<readonly PersonSpans[] | null>(null);
  /** Options put together for this text, not given yet. */
  pending = $state.raw<Answer | null>(null);
  /** The note on the answer. */
  note = $state.raw<Note>(NO_NOTE);
  /** What of it is on disk. */
  #stored = $state.raw<Note>(NO_NOTE);
  /** What is marked in the text, of a question of spans. */
  readonly marks: SpanMarks | null;

  constructor(
    readonly info: QuestionInfo,
    private readonly drafts: QuestionDrafts,
    /** Unsaved notes, by assignment. */
    private readonly waiting: QuestionNotes,
  ) {
    this.marks = takesSpans(info.scale) ? new SpanMarks(info.scale) : null;
  }

  /** Whether the question applies to this text, by its condition. */
  readonly asked: boolean = $derived(this.task?.asked ?? true);
  /** The options that are put together, or were given. */
  readonly picked: readonly number[] = $derived.by(() =>
    optionsOf(this.pending ?? this.given, this.info.scale),
  );
  /** The draft differs from the saved answer. */
  readonly changed: boolean = $derived.by(() =>
    this.marks ? this.marks.changed : this.pending !== null && !sameAnswer(this.pending, this.given),
  );
  /** The unsubmitted answer; null if it equals the saved one. */
  readonly draft: Answer | null = $derived.by(() => {
    if (!this.changed) return null;
    return this.marks ? answerOfSpans(this.marks.spans, this.info.scale) : this.pending;
  });
  /** The note differs from the stored one. */
  readonly unsavedNote: boolean = $derived(!sameNote(this.note, this.#stored));
  /** It waits for an answer, or for a changed one to be given. */
  readonly open: boolean = $derived(this.asked && (this.given === null || this.changed));

  /**
   * Loads a text, or none, with its draft. Options and marks of an answer that was just undone (`undone`)
   * become the draft, unless another answer is current.
   */
  load(task: LabelTask | null, undone: Answer | null = null, typed: Note | null = null): void {
    this.putAway();
    this.task = task;
    this.#stored = task?.note ?? NO_NOTE;
    const key = task ? assignmentKey(task) : "";
    // The note of an undone answer stays; otherwise the note that came with it is offered again.
    const offered = task?.answer === null && isEmpty(this.#stored) ? typed : null;
    this.note = this.waiting.get(key) ?? task?.draft ?? offered ?? this.#stored;
    this.waiting.delete(key);
    this.given = task?.answer ?? null;
    this.show(task);
    const draft = this.#takeUp() ?? (this.given === null ? undone : null);
    if (this.marks) this.#layMarks(this.marks, draft, undone);
    else this.pending = draft?.kind === "options" && !sameAnswer(draft, this.given) ? draft : null;
  }

  /** Stores the draft before the text or the desk changes. */
  putAway(): void {
    if (this.task && this.draft) this.drafts.set(assignmentKey(this.task), this.draft);
    if (this.task && this.unsavedNote) this.waiting.set(assignmentKey(this.task), this.note);
  }

  /** The stored draft of the text. */
  #takeUp(): Answer | null {
    const kept = this.task && this.drafts.get(assignmentKey(this.task));
    if (this.task) this.drafts.delete(assignmentKey(this.task));
    return kept ?? null;
  }

  #layMarks(marks: SpanMarks, draft: Answer | null, undone: Answer | null): void {
    const { text, body } = this.task ?? { text: null, body: "" };
    const spans = (answer: Answer | null) => answer && spansOf(answer, this.info.scale);
    marks.load(text, body, spans(this.given), spans(draft));
    if (undone && draft === null) marks.setDraft(spansOf(undone, this.info.scale));
  }

  /** The answers of others come with a text; they are shown only with an answer. */
  show(shown: Pick<LabelTask, "reveal" | "spans"> | null): void {
    this.reveal = this.given === null ? null : (shown?.reveal ?? null);
    const others = this.given === null ? null : (shown?.spans ?? null);
    this.others = others && placedSpans(others, this.info.scale);
  }

  /** The note was written to disk. */
  setNote(note: Note): void {
    this.#stored = note;
  }

  /** An answer is on disk. What was put together since it was given stays, to be given. */
  accept(answer: Answer, receipt: LabelReceipt): void {
    this.given = answer;
    if (sameAnswer(this.pending, answer)) this.pending = null;
    this.show(receipt);
    this.marks?.setSaved(spansOf(answer, this.info.scale));
  }
}
