// Answers that were put together and not given yet: whose, to which question, on which text.
import type { AnnotatorId, Answer, QuestionId, Remark } from "$api/bindings";

/** What one person put together for one question, by place. */
export type QuestionDrafts = Map<string, Answer>;

/** What one person says beside answers to one question, by place. */
export type QuestionNotes = Map<string, Remark>;

/** They last as long as the project is open, whatever is shown meanwhile, and are in no file. */
export class Drafts {
  #all = new Map<string, QuestionDrafts>();
  #remarks = new Map<string, QuestionNotes>();

  of(annotator: AnnotatorId, question: QuestionId): QuestionDrafts {
    const key = `${annotator} ${question}`;
    const known = this.#all.get(key) ?? new Map<string, Answer>();
    this.#all.set(key, known);
    return known;
  }

  /** What is said beside answers and not given yet. */
  notesOf(annotator: AnnotatorId, question: QuestionId): QuestionNotes {
    const key = `${annotator} ${question}`;
    const known = this.#remarks.get(key) ?? new Map<string, Remark>();
    this.#remarks.set(key, known);
    return known;
  }

  /** Another project is opened, or none: what is still put away for this one finds no way into the next. */
  forget(): void {
    this.#all = new Map();
    this.#remarks = new Map();
  }
}
