// The runs of the project: the list, updated by events while runs go on.
import { commands } from "$bindings";
import { SvelteMap } from "svelte/reactivity";
import type {
  JointQuestion,
  ModelKind,
  Problem,
  QuestionId,
  RunInfo,
  TrainChoices,
  Tuning,
} from "$api/bindings";
import { asProblem } from "$words/problems";

/** What the next new run begins with. */
interface LastChoice {
  model: ModelKind;
  tuning: Tuning;
  /** Questions that were learned together; none of one alone. */
  joint?: JointQuestion[];
}

export class RunsStore {
  /** Newest first, of every question. */
  list = $state.raw<RunInfo[]>([]);
  /** True once the list has been fetched. */
  loaded = $state(false);
  problem = $state.raw<Problem | null>(null);
  /** The run that is looked at, by question, so that coming back finds it again. */
  readonly chosen = new SvelteMap<QuestionId, number>();

  /** Runs that this window has seen at work: their end is news. */
  readonly #going = new Set<number>();
  /** Events received while the list was loading; they are newer than the list. */
  #heard = new Map<number, RunInfo>();
  /** Runs that are being deleted: their events are ignored. */
  readonly #leaving = new Set<number>();
  #last = new Map<QuestionId, LastChoice>();
  #turn = 0;

  /** Another project. */
  forget(): void {
    this.#turn += 1;
    this.list = [];
    this.loaded = false;
    this.problem = null;
    this.chosen.clear();
    this.#going.clear();
    this.#heard.clear();
    this.#leaving.clear();
    this.#last.clear();
  }

  /** Asks for the list. Rows that did not change stay the same objects. */
  async load(): Promise<void> {
    const mine = ++this.#turn;
    this.#heard = new Map();
    try {
      const found = await commands.runs();
      if (mine !== this.#turn) return;
      const ids = new Set(found.map((run) => run.id));
      const fresh = [...this.#heard.values()].filter((run) => !ids.has(run.id));
      this.list = [...fresh, ...found.map((run) => this.#heard.get(run.id) ?? run)]
        .filter((run) => !this.#leaving.has(run.id))
        .sort(newestFirst);
      this.list.filter((run) => run.state === "running").forEach((run) => this.#going.add(run.id));
      this.problem = null;
    } catch (thrown) {
      if (mine === this.#turn) this.problem = asProblem(thrown);
    } finally {
      if (mine === this.#turn) this.loaded = true;
    }
  }

  /** A run began, moved or ended. True where one that was seen at work has ended well: that is news, once. */
  receive(run: RunInfo): boolean {
    if (this.#leaving.has(run.id)) return false;
    this.#heard.set(run.id, run);
    const known = this.list.some((r) => r.id === run.id);
    const list = known ? this.list.map((r) => (r.id === run.id ? run : r)) : [run, ...this.list];
    this.list = known ? list : list.sort(newestFirst);
    if (run.state === "running") {
      this.#going.add(run.id);
      return false;
    }
    return this.#going.delete(run.id) && run.state === "finished";
  }

  get(id: number | null): RunInfo | null {
    return this.list.find((run) => run.id === id) ?? null;
  }

  /** Runs of a question, newest first. */
  of(question: QuestionId | null): RunInfo[] {
    return this.list.filter((run) => run.question === question);
  }

  /** Model and tuning of the last started run, else of the newest run, else the recommended ones. */
  lastChoice(question: QuestionId): LastChoice {
    const newest = this.of(question)[0];
    return (
      this.#last.get(question) ??
      (newest ? { model: newest.model, tuning: newest.tuning } : { model: "multilevel", tuning: "frozen" })
    );
  }

  /** Starts a run and returns its row. */
  async start(choices: TrainChoices): Promise<number> {
    const id = await commands.startRun(choices);
    // A quick one may have ended by now.
    if (this.#heard.get(id)?.state === undefined) this.#going.add(id);
    const { model, tuning, joint } = choices;
    this.#last.set(choices.question, joint?.length ? { model, tuning, joint } : { model, tuning });
    await this.load();
    this.chosen.set(choices.question, id);
    return id;
  }

  async resume(id: number): Promise<void> {
    await commands.resumeRun(id);
    this.#going.add(id);
    await this.load();
  }

  /** Chooses which run predicts; none for the live model. */
  async use(id: number | null): Promise<void> {
    await commands.useRun(id);
    await this.load();
  }

  async delete(id: number): Promise<void> {
    await commands.deleteRun(id);
    this.#leaving.add(id);
    this.#going.delete(id);
    this.list = this.list.filter((run) => run.id !== id);
    await this.load();
    // A project may give the number of a run that is gone to a new one.
    this.#leaving.delete(id);
  }
}

function newestFirst(a: RunInfo, b: RunInfo): number {
  return (b.started_at ?? 0) - (a.started_at ?? 0) || b.id - a.id;
}
