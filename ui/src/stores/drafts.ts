// Unsubmitted answers by person, question and assignment.
import type { AnnotatorId, Answer, QuestionId, Note } from "$api/bindings";

/** Unsubmitted answers of one person to one question, by assignment. */
export type QuestionDrafts = Map<string, Answer>;

/** Unsaved notes of one person on one question, by assignment. */
export type QuestionNotes = Map<string, Note>;

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

  /** Notes that are not saved yet. */
  notesOf(annotator: AnnotatorId, question: QuestionId): QuestionNotes {
    const key = `${annotator} ${question}`;
    const known = this.#remarks.get(key) ?? new Map<string, Note>();
    this.#remarks.set(key, known);
    return known;
  }

  /** Another project is opened, or none: drafts are dropped. */
  forget(): void {
    this.#all = new Map();
    this.#remarks = new Map();
  }
}
