// The tour on the sample project: four steps, each with one thing to do, until the ranking has changed.
import { commands } from "$bindings";
import type {
  AnnotatorId,
  AnnotatorInfo,
  DisagreementQuery,
  LabelsChanged,
  ProjectInfo,
  QuestionId,
  QuestionInfo,
  TextId,
} from "$api/bindings";
import { moveBetween, type Move } from "$logic/tour";
import { t } from "$messages/messages.svelte";
import type { RankingStore } from "./ranking.svelte";
import type { Toasts } from "./toasts.svelte";
import type { View } from "$logic/views";
import { remember, remembered } from "./local-storage";

/** What it needs of the window around it. */
interface Host {
  readonly toasts: Toasts;
  readonly project: ProjectInfo | null;
  readonly readOnly: boolean;
  readonly question: QuestionInfo | null;
  readonly annotatorId: AnnotatorId | null;
  readonly annotator: AnnotatorInfo | null;
  readonly view: View;
  readonly ranking: RankingStore;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
  openSample(): Promise<boolean>;
  chooseQuestion(question: QuestionId): void;
  labelAs(annotator: AnnotatorId | null): void;
  show(view: View): void;
  showText(text: TextId): void;
}

export const STEPS = 4;
/** Labels of the second step. */
export const FIRST_LABELS = 3;
/** A person with fewer texts left cannot do the steps. */
const LABELS_NEEDED = 2 * FIRST_LABELS;

export type Step = 1 | 2 | 3 | 4;

/** What a reload of the window must not lose. */
interface Stored {
  project: string;
  question: QuestionId;
  step: Step;
  /** This person's labels when the second step began. */
  first: number | null;
  /** This person's labels when the order below was fetched. */
  base: number | null;
  query: DisagreementQuery | null;
  /** The order of texts before the last label. */
  before: TextId[];
}

/** A move of a text that the last label led to, with the beginning of the text. */
export interface Seen extends Move {
  snippet: string;
}

const NAME = "tour";
const ENDED = "tour-ended";
const isStored = (value: unknown): value is Stored =>
  typeof value === "object" && value !== null && "project" in value && "step" in value && "before" in value;
const isYes = (value: unknown): value is boolean => typeof value === "boolean";

export class Tour {
  #state = $state.raw<Stored | null>(null);
  /** Labels that this person has given with the question, as far as it is known. */
  #labels = $state<number | null>(null);
  /** What changed in the ranking after the last label: nothing (null), or not known yet. */
  seen = $state.raw<Seen | null | undefined>(undefined);
  #looking = false;

  constructor(private readonly host: Host) {}

  /** The step that is shown; none without a tour. */
  get step(): Step | null {
    return this.#state?.project === this.host.project?.path ? (this.#state?.step ?? null) : null;
  }

  /** How many labels of the second step are given. */
  get given(): number {
    return Math.max(0, (this.#labels ?? 0) - (this.#state?.first ?? this.#labels ?? 0));
  }

  /** Whether a text was labelled since the order of the fourth step was fetched. */
  get labelledAgain(): boolean {
    const base = this.#state?.base ?? null;
    return base !== null && (this.#labels ?? 0) > base;
  }

  /** Whether the ranking is on screen and has an order that could change. */
  get isRanked(): boolean {
    const { view, ranking } = this.host;
    return view === "findings-texts" && ranking.order.length > 0 && ranking.needs === null;
  }

  /** Whether it was finished or skipped on this computer. */
  get wasEnded(): boolean {
    return remembered(ENDED, false, isYes);
  }

  /** Opens the sample; the tour begins if it was never ended before. */
  async openExample(): Promise<void> {
    if ((await this.host.openSample()) && !this.wasEnded) await this.#begin();
  }

  /** Opens the sample and begins the tour, whatever was before. */
  async take(): Promise<void> {
    if (await this.host.openSample()) await this.#begin();
  }

  async #begin(): Promise<void> {
    const { host } = this;
    const project = host.project;
    const question = project?.questions[0];
    if (!project || !question || project.texts < LABELS_NEEDED || host.readOnly) {
      host.toasts.note(t("tour.impossible"), t("tour.impossible_text"));
      return;
    }
    host.chooseQuestion(question.id);
    const before = { first: null, base: null, query: null, before: [] };
    this.#state = { project: project.path, question: question.id, step: 1, ...before };
    this.#labels = null;
    this.seen = undefined;
    // A person who has labelled nearly everything in an earlier tour could not do the steps.
    const progress = await this.#progress();
    if (progress && progress.total - progress.done < LABELS_NEEDED) host.labelAs(null);
    host.show("label");
    this.#store();
  }

  /** Goes on with the tour of a window that was loaded again. */
  async resume(): Promise<void> {
    const stored = remembered<Stored | null>(NAME, null, isStored);
    if (stored === null || stored.project !== this.host.project?.path) return;
    this.#state = stored;
    await this.#count();
  }

  /** Another project, or none: the tour ends, and may begin again. */
  leave(): void {
    this.#state = null;
    remember(NAME, null);
  }

  /** Ends it, for good unless it is asked for. */
  end(): void {
    this.leave();
    remember(ENDED, true);
  }

  /** The person has been chosen: labels are counted from now on. */
  async label(): Promise<void> {
    this.#go({ step: 2, first: null });
    this.#labels = (await this.#progress())?.done ?? null;
    this.#go({ first: this.#labels });
  }

  /** Another person labels: the count begins anew. */
  async recount(): Promise<void> {
    const state = this.#state;
    if (!state || state.step === 1) return;
    if (this.host.annotatorId === null) {
      this.#go({ step: 1, first: null });
      return;
    }
    const labels = (await this.#progress())?.done ?? null;
    this.#labels = labels;
    this.#go({ first: labels, base: state.base === null ? null : labels });
  }

  /** The order has been looked at, and is what the next label is compared with. */
  async compare(): Promise<void> {
    const query = this.host.ranking.query;
    if (!query) return;
    const order = await this.host.attempt(() => commands.disagreementRanking(query));
    if (!order) return;
    await this.#count();
    this.seen = undefined;
    this.#go({ step: 4, query, before: order.texts, base: this.#labels });
  }

  /** Looks what the last label has changed. */
  async look(): Promise<void> {
    const state = this.#state;
    const query = state?.query;
    if (!state || !query || this.#looking) return;
    this.#looking = true;
    const seen = await this.host.attempt(async () => {
      const { texts } = await commands.disagreementRanking(query);
      const move = moveBetween(state.before, texts);
      if (!move) return null;
      const [row] = await commands.disagreementRows(query, [move.text]);
      return { ...move, snippet: row?.snippet ?? "" };
    });
    this.#looking = false;
    if (this.#state !== state) return;
    // What could not be fetched is compared again after one more label.
    this.seen = seen ?? null;
    if (seen) this.host.showText(seen.text);
    // Nothing moved: one more label is compared with the same order.
    else this.#go({ base: this.#labels });
  }

  /** A label was given or taken back. */
  async receive({ annotator }: Pick<LabelsChanged, "annotator">): Promise<void> {
    if (this.#state && annotator === this.host.annotatorId) await this.#count();
  }

  async #count(): Promise<void> {
    const progress = await this.#progress();
    this.#labels = progress?.done ?? null;
    const state = this.#state;
    if (state?.step === 2 && state.first !== null && this.given >= FIRST_LABELS) this.#go({ step: 3 });
    else if (this.labelledAgain) this.seen = undefined;
  }

  async #progress() {
    const { annotatorId } = this.host;
    const question = this.#state?.question;
    if (annotatorId === null || question === undefined) return undefined;
    return this.host.attempt(() => commands.progress(annotatorId, [question]));
  }

  #go(change: Partial<Stored>): void {
    if (!this.#state) return;
    this.#state = { ...this.#state, ...change };
    this.#store();
  }

  #store(): void {
    remember(NAME, this.#state);
  }
}
