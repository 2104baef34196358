// Words of the mock project: who marked them, expected marks of a toy model, and a fit that takes a moment.
import type * as view from "$api/bindings";
import { TextUnits } from "$logic/text-units";
import { answered, labelKey, type Person, type Text, type World } from "./world";
import { refuse } from "./refusals";

const JOB = 9;
const STEPS = 5;

/** The words of a text, as characters. */
function wordsOf(body: string): { start: number; end: number }[] {
  const units = new TextUnits(body);
  return units.words
    .filter(({ start, end }) => /[\p{L}\p{N}]/u.test(body.slice(start, end)))
    .map(({ start, end }) => ({ start: units.pointOf(start), end: units.pointOf(end) }));
}

/** The probability that a person marks a word that a share of `answers` marked: the strict more often. */
function likely(marked: number, answers: number, severity: number): number {
  const share = (marked + 0.05) / (answers + 1);
  return 1 / (1 + Math.exp(-(Math.log(share / (1 - share)) + severity)));
}

export class MockWords {
  /** Questions with a fitted model of words. */
  #read = new Set<view.QuestionId>();
  #stop: (() => void) | null = null;

  constructor(
    readonly world: () => World,
    readonly emit: (job: view.JobInfo) => void,
    readonly pause: number,
  ) {}

  forget(read: readonly view.QuestionId[] = []): void {
    this.#read = new Set(read);
    this.#stop = null;
  }

  /** The question with spans, and which of its types this is. */
  #typeOf(id: view.QuestionId): { question: view.QuestionInfo; kind: number } {
    const question = this.world().questions.find(
      ({ scale, options }) => scale.kind === "spans" && options.some((type) => type.id === id),
    );
    if (!question) return refuse("no-spans", [id]);
    return { question, kind: question.options.findIndex((type) => type.id === id) };
  }

  heat(
    id: view.QuestionId,
    people: readonly Person[],
    text: Text,
    readingAs: number | null,
    showHidden: boolean,
    missing: boolean,
  ): view.WordHeat {
    const world = this.world();
    const { question, kind } = this.#typeOf(id);
    const answers = people.flatMap((person) => {
      const label = world.labels.get(labelKey(question.id, person.id, text.id));
      const answer = label === undefined ? null : answered(world, question.scale, label);
      return answer?.kind === "spans" ? [{ person, spans: answer.value }] : [];
    });
    const visible = people.filter(
      ({ id: who }) => showHidden || who !== readingAs || answers.some(({ person }) => person.id === who),
    );
    const read = this.#read.has(question.id);
    const needs = visible.length < 2 ? "people" : missing ? "encoder" : read ? null : "fit";
    const words = wordsOf(text.body).map(({ start, end }) => {
      const marked = answers.filter(({ spans }) =>
        spans.some((span) => span.kind === kind && span.start < end && start < span.end),
      );
      const rows = visible.map(({ severity }) => likely(marked.length, answers.length, severity));
      return {
        start,
        end,
        marked_by: marked.map(({ person }) => person.id),
        expected: needs ? null : rows.reduce((sum, p) => sum + p, 0) / rows.length,
        differ: needs ? null : differ(rows),
      };
    });
    return {
      words,
      answers: answers.length,
      people: needs ? 0 : visible.length,
      needs,
      reader_left_out: visible.length < people.length,
      fitted_on: needs ? null : { answers: answers.length, now: answers.length, tuned: false },
    };
  }

  async fit(id: view.QuestionId): Promise<view.WordModelReport> {
    const question = this.world().questions.find((one) => one.id === id) ?? this.#typeOf(id).question;
    const stopped = new Promise<"stopped">((stop) => (this.#stop = () => stop("stopped")));
    for (let done = 0; done < STEPS; done += 1) {
      this.emit(job(question.name, "running", done));
      const paused = new Promise<"on">((on) => setTimeout(() => on("on"), this.pause));
      if ((await Promise.race([paused, stopped])) === "on") continue;
      this.emit(job(question.name, "cancelled", done));
      refuse("cancelled");
    }
    this.#read.add(question.id);
    this.#stop = null;
    this.emit(job(question.name, "finished", STEPS));
    return {
      question: question.name,
      answers: 0,
      texts: 0,
      encoder: "",
      types: [],
      tuned: false,
      seconds: 1,
    };
  }

  /** True where the job was one of words. */
  cancel(id: number): boolean {
    if (id !== JOB) return false;
    this.#stop?.();
    this.#stop = null;
    return true;
  }
}

/** The chance that two of them differ. */
function differ(rows: readonly number[]): number {
  const sum = rows.reduce((all, p) => all + p, 0);
  const ordered = rows.reduce((all, p) => all + p * (rows.length - 1 - (sum - p)), 0);
  return (2 * ordered) / (rows.length * (rows.length - 1));
}

function job(title: string, state: view.WorkState, done: number): view.JobInfo {
  return {
    id: JOB,
    kind: "word_model",
    title,
    state,
    done,
    total: STEPS,
    seconds_left: null,
    note: null,
    problem: null,
  };
}
