// Writes unsaved notes to disk as they are typed, so that they survive the window.
import { commands } from "$bindings";
import type { AnnotatorId, QuestionId, Note } from "$api/bindings";
import { assignmentKey, type Assignment } from "$logic/assignment";

/** One write at a time; changes during a write are written next, and only the newest. */
export class NoteDrafts {
  #newest = new Map<string, () => Promise<unknown>>();
  #writing: Promise<void> | null = null;

  constructor(
    private readonly annotator: AnnotatorId,
    private readonly fail: (thrown: unknown) => void,
  ) {}

  /** Stores the note of an assignment; null deletes it, once it is saved with an answer. */
  store(question: QuestionId, assignment: Assignment, typed: Note | null): void {
    const { text, occasion } = assignment;
    this.#newest.set(`${question} ${assignmentKey(assignment)}`, () =>
      commands.saveDraft(this.annotator, question, text, occasion, typed),
    );
    this.#writing ??= this.#write();
  }

  /** Everything that was typed so far is on disk. */
  async settle(): Promise<void> {
    await this.#writing;
  }

  async #write(): Promise<void> {
    for (let next = this.#take(); next; next = this.#take()) await next().catch(this.fail);
    this.#writing = null;
  }

  #take(): (() => Promise<unknown>) | null {
    for (const [key, write] of this.#newest) {
      this.#newest.delete(key);
      return write;
    }
    return null;
  }
}
