// From the first page to the plan of a study: once its project has texts and a question, the plan opens.
import type { ProjectInfo } from "$api/bindings";

/** What is done next in a project that was made to plan a study. */
export type Next = "question.add" | "study.plan" | null;

export class StudyStart {
  /** The next new project is one. */
  #wanted = false;
  #path = $state<string | null>(null);
  #asked = false;

  /** A project is about to be made to plan a study. */
  want(): void {
    this.#wanted = true;
  }

  /** The dialog of a new project was left without one. */
  forget(): void {
    this.#wanted = false;
    this.#path = null;
  }

  /** A project was made in that dialog. */
  made(path: string | undefined): void {
    this.#path = this.#wanted ? (path ?? null) : null;
    [this.#wanted, this.#asked] = [false, false];
  }

  /** What to do now. A question is asked for once; who declines it goes on alone. */
  next(project: ProjectInfo | null): Next {
    if (this.#path === null || project?.path !== this.#path || project.texts === 0) return null;
    if (project.questions.length > 0) return this.#end("study.plan");
    if (this.#asked) return null;
    this.#asked = true;
    return "question.add";
  }

  #end(next: Next): Next {
    this.#path = null;
    return next;
  }
}
