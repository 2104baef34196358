// What the whole window shares: the open project, who labels, what is asked, jobs, settings.
import { commands, events } from "$bindings";
import type {
  PlanWish,
  AnnotatorId,
  AnnotatorInfo,
  AppInfo,
  AppSettings,
  CorrelationChoice,
  GroupsChoice,
  JobInfo,
  LabelsChanged,
  ModelChanged,
  ProjectInfo,
  QuestionId,
  QuestionInfo,
  RunInfo,
  TextId,
  TextOrder,
} from "$lib/bindings";
import { Drafts } from "$lib/drafts";
import { EncoderStore } from "$lib/encoder.svelte";
import { counted, decimal, fileName } from "$lib/format";
import { asProblem } from "$lib/problems";
import { jobState, jobTitle } from "$lib/jobs";
import { RankingStore } from "$lib/ranking.svelte";
import { HEADLINE, metricName, metricOf, modelName } from "$lib/run-words";
import { RunsStore } from "$lib/runs.svelte";
import { Toasts } from "$lib/toasts.svelte";
import * as platform from "$platform";

export type View = "label" | "disagreement" | "annotators" | "models";
export const VIEWS: readonly View[] = ["label", "disagreement", "annotators", "models"];

export type OpenDialog =
  | "settings"
  | "keys"
  | "question"
  | "questions"
  | "question-edit"
  | "run"
  | "run-delete"
  | "encoder"
  | "encoders"
  | "why"
  | null;

/** Something that ends the work under way: it is asked about first. */
export interface Leaving {
  /** What is done then, for the button: "Stop and …". */
  verb: "close" | "open the other project" | "quit";
  go: () => Promise<unknown>;
}

/** Groups that are being compared. */
export interface ComparisonAtWork {
  job: number;
  question: QuestionId;
  groups: GroupsChoice;
}
type Change = LabelsChanged | ModelChanged;

const FIRST_SETTINGS: AppSettings = {
  theme: "system",
  blur: false,
  reveal: true,
  break_minutes: 0,
  random_share: 0.2,
  text_size: 22,
  letter_keys: true,
  snap_to_words: true,
};

/** How long after the last change the counts are asked for again. */
const COUNTS_LAG_MS = 1200;
/** Kinds of jobs whose failure is told where they were asked for. */
const TOLD_WHERE_ASKED: readonly string[] = ["import", "words"];
/** Work that closing would break off. Encoding and fitting go on by themselves when the project is opened again. */
const LOST_BY_CLOSING: readonly string[] = ["train", "import", "export", "copy"];
/** How long finished work stays on the status line. */
const JOB_STAYS_MS = 6000;

export class App {
  ready = $state(false);
  /** A project is being opened. */
  opening = $state(false);
  info = $state<AppInfo | null>(null);
  settings = $state<AppSettings>(FIRST_SETTINGS);
  project = $state.raw<ProjectInfo | null>(null);
  people = $state.raw<AnnotatorInfo[]>([]);
  jobs = $state.raw<JobInfo[]>([]);
  view = $state<View>("label");
  questionId = $state<QuestionId | null>(null);
  /** The option whose figures were chosen last, of whichever question. */
  optionId = $state<QuestionId | null>(null);
  /** The questions that are on one screen, in their order; none where one is asked at a time. */
  screen = $state.raw<readonly QuestionId[]>([]);
  /** The question that is being changed. */
  editing = $state<QuestionId | null>(null);
  annotatorId = $state<AnnotatorId | null>(null);
  order = $state<TextOrder>("file");
  groupBy = $state<string | null>(null);
  /** What was wanted of a study last. */
  plan = $state.raw<PlanWish | null>(null);
  /** The groups that were compared last. */
  compared = $state.raw<GroupsChoice | null>(null);
  /** Questions that are correlated: all with labels while none is chosen; and the work at hand, by its job. */
  correlated = $state.raw<CorrelationChoice>({ questions: [], runs: [] });
  correlating = $state.raw<number | null>(null);
  /** What was asked to be compared last, until that has ended: its view may be left and come back to. */
  comparison = $state.raw<ComparisonAtWork | null>(null);
  dialog = $state<OpenDialog>(null);
  /** A text that another view wants to be shown in Disagreement. */
  wantedText = $state<TextId | null>(null);
  importing = $state<string | null>(null);
  /** Waits for an answer whether the work under way may be stopped. */
  leaving = $state.raw<Leaving | null>(null);
  /** For screen readers: what began or ended last. */
  announcement = $state("");
  /** The newest change of labels or models, and how many there were. */
  changes = $state(0);
  readonly toasts = new Toasts();
  readonly ranking = new RankingStore();
  readonly runs = new RunsStore();
  readonly encoder = new EncoderStore();
  readonly drafts = new Drafts();

  #counting: ReturnType<typeof setTimeout> | undefined;
  /** How many settings are on their way to the disk, and the last that arrived. */
  #saving = 0;
  #kept: AppSettings = FIRST_SETTINGS;

  readonly question: QuestionInfo | null = $derived(
    this.project?.questions.find((q) => q.id === this.questionId) ?? null,
  );
  /** What the Label view asks: the questions of the screen, or the one that is chosen. */
  readonly asked: readonly QuestionInfo[] = $derived.by(() => {
    const all = this.project?.questions ?? [];
    const together = this.screen.flatMap((id) => all.find((q) => q.id === id) ?? []);
    return together.length > 1 ? together : this.question ? [this.question] : [];
  });
  /** What figures are of: the question, or of a multi-label question one of its options. */
  readonly figured: QuestionInfo | null = $derived(
    this.question?.options.find((option) => option.id === this.optionId) ??
      this.question?.options[0] ??
      this.question,
  );
  readonly figuredId: QuestionId | null = $derived(this.figured?.id ?? null);
  /** Everything that figures can be of. */
  readonly allFigured: QuestionInfo[] = $derived(
    (this.project?.questions ?? []).flatMap((q) => (q.options.length > 0 ? q.options : [q])),
  );
  readonly annotator: AnnotatorInfo | null = $derived(
    this.people.find((a) => a.id === this.annotatorId) ?? null,
  );
  /** What would be broken off by closing the project. */
  readonly works: JobInfo[] = $derived(
    this.jobs.filter((job) => job.state === "running" && LOST_BY_CLOSING.includes(job.kind)),
  );

  /** Begins: settings, what the command line asked for, and listening. */
  async start(): Promise<void> {
    await this.attempt(async () => {
      this.settings = await commands.settings();
      await this.#listen();
      this.info = await commands.appInfo();
      const launch = await commands.launchInfo();
      const open = await commands.project();
      if (open) await this.#show(open);
      else if (launch.project) await this.open(launch.project);
    });
    this.ready = true;
  }

  /** Runs `work`; what it throws becomes a notice. */
  async attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (thrown) {
      // Between two projects there is none: what the old one was still asked for is of no interest any more.
      if (!(this.opening && asProblem(thrown).code === "no-project")) this.toasts.problem(thrown);
      return undefined;
    }
  }

  open(path: string): Promise<boolean> {
    return this.#replace(() => commands.openProject(path));
  }

  create(path: string): Promise<boolean> {
    return this.#replace(() => commands.newProject(path));
  }

  openSample(): Promise<boolean> {
    return this.#replace(() => commands.openSample());
  }

  /** Closes the project; asks first if work is under way. */
  close(): Promise<void> {
    return this.#leave({ verb: "close", go: () => this.#close() });
  }

  /** Ends the application; asks first if work is under way. */
  quit(): Promise<void> {
    return this.#leave({ verb: "quit", go: () => this.attempt(() => commands.quit()) });
  }

  /** What was asked about is done, or the work goes on. */
  async answer(stop: boolean): Promise<void> {
    const leaving = this.leaving;
    this.leaving = null;
    if (stop) await leaving?.go();
  }

  async #leave(leaving: Leaving): Promise<void> {
    if (this.works.length > 0) this.leaving = leaving;
    else await leaving.go();
  }

  /** Opens another project in place of this one. Where that is asked about first, nothing was opened yet. */
  async #replace(open: () => Promise<ProjectInfo>): Promise<boolean> {
    if (this.project && this.works.length > 0) {
      this.leaving = { verb: "open the other project", go: () => this.#opening(open) };
      return false;
    }
    return this.#opening(open);
  }

  async #close(): Promise<void> {
    await this.attempt(() => commands.closeProject());
    this.project = null;
    this.drafts.forget();
    this.people = [];
    this.jobs = [];
    this.importing = null;
    this.dialog = null;
    void platform.setTitle("Dissensus");
  }

  /** A dropped or named file: projects are opened, anything else is imported into the open project or a new one. */
  async take(path: string): Promise<void> {
    if (path.toLowerCase().endsWith(".dissensus")) {
      await this.open(path);
      return;
    }
    if (!this.project) {
      const stem = path.replace(/^.*[\\/]/, "").replace(/\.[^.]*$/, "");
      const where = await this.attempt(() => platform.chooseNewProject(stem || "project"));
      if (!where || !(await this.create(where))) return;
    }
    this.importing = path;
  }

  /** Asks for the project again: counts, questions, embeddings, people. */
  async refresh(): Promise<void> {
    if (!this.project) return;
    await this.attempt(async () => {
      const [project, people] = await Promise.all([commands.project(), commands.annotators()]);
      if (!project) return;
      this.project = project;
      this.people = people;
      this.#keepQuestion();
    });
  }

  show(view: View): void {
    if (!this.project || this.view === view) return;
    this.view = view;
    this.saveChoices();
  }

  /** Shows everything about a text, in the Disagreement view. */
  showText(text: TextId): void {
    this.wantedText = text;
    this.show("disagreement");
  }

  /** Chooses a question, or with an option also its question. */
  ask(question: QuestionId): void {
    const whole = this.project?.questions.find((q) => q.options.some((option) => option.id === question));
    this.questionId = whole?.id ?? question;
    if (whole) this.optionId = question;
    this.saveChoices();
  }

  /** Asks one question at a time from now on. */
  askAlone(question: QuestionId): void {
    this.screen = [];
    this.ask(question);
  }

  /** Asks these on one screen, in this order; fewer than two are asked one at a time. */
  askTogether(questions: readonly QuestionId[]): void {
    const [only] = questions;
    this.screen = questions.length > 1 ? [...questions] : [];
    if (this.screen.length === 0 && only !== undefined) this.questionId = only;
    this.saveChoices();
  }

  labelAs(annotator: AnnotatorId | null): void {
    this.annotatorId = annotator;
    this.saveChoices();
  }

  orderBy(order: TextOrder): void {
    this.order = order;
    this.saveChoices();
  }

  groupWith(attribute: string | null): void {
    this.groupBy = attribute;
    this.saveChoices();
  }

  compareWith(groups: GroupsChoice): void {
    this.compared = groups;
    this.saveChoices();
  }

  /** Adds a person, or finds the person of that name, and labels as them. */
  async join(name: string): Promise<boolean> {
    const known = this.people.find((p) => !p.simulated && p.name.toLowerCase() === name.trim().toLowerCase());
    if (known) {
      this.labelAs(known.id);
      return true;
    }
    const added = await this.attempt(() => commands.addAnnotator(name.trim(), {}));
    if (!added) return false;
    this.people = [...this.people, added];
    this.labelAs(added.id);
    return true;
  }

  async saveSettings(settings: AppSettings): Promise<void> {
    if (this.#saving === 0) this.#kept = this.settings;
    this.#saving++;
    this.settings = settings;
    const result = await this.attempt(() => commands.saveSettings(settings));
    if (result !== undefined) this.#kept = settings;
    // Until the last of several answers the newest is shown; then what was kept, and nothing as if it had been.
    if (--this.#saving === 0) this.settings = this.#kept;
  }

  /** Remembers what was wanted of a study, with the project. */
  keepPlan(plan: PlanWish): void {
    if (JSON.stringify(plan) === JSON.stringify(this.plan)) return;
    this.plan = plan;
    this.saveChoices();
  }

  saveChoices(): void {
    const { annotatorId, questionId, order, view, groupBy, compared, plan, screen } = this;
    const choices = {
      annotator: annotatorId,
      question: questionId,
      order,
      view,
      group_by: groupBy,
      compared,
      plan,
      screen: [...screen],
    };
    void this.attempt(() => commands.saveChoices(choices));
  }

  async encode(): Promise<void> {
    const job = await this.attempt(() => commands.startEncoding());
    if (job) this.#take(job);
  }

  /** Downloads the default encoder and encodes the open project with it. */
  async downloadEncoder(): Promise<boolean> {
    if (!(await this.encoder.fetch())) return false;
    this.toasts.done("The encoder is downloaded");
    await this.attempt(async () => {
      this.info = await commands.appInfo();
    });
    if (this.project) {
      await this.encode();
      await this.refresh();
    }
    return true;
  }

  /** Encodes the open project with the encoder in a folder. */
  async useEncoder(folder: string): Promise<boolean> {
    const job = await this.attempt(() => commands.useEncoder(folder));
    if (job) this.#take(job);
    return job !== undefined;
  }

  async cancel(job: number): Promise<void> {
    await this.attempt(() => commands.cancelJob(job));
  }

  /** Writes a whole copy of the project, as it is now. */
  async saveCopy(path: string): Promise<boolean> {
    const copy = await this.attempt(async () => {
      try {
        return await commands.saveCopy(path);
      } catch (thrown) {
        if (asProblem(thrown).code !== "cancelled") throw thrown;
        this.toasts.note("Saving a copy was stopped", "Nothing was written.");
        return undefined;
      }
    });
    if (!copy) return false;
    // Encoders and checkpoints of runs lie beside the project; models need none of them to open the copy.
    const left = copy.runs_left ? ` The files of its runs stay in ${copy.runs_left}.` : "";
    this.toasts.done(`A copy was saved as ${fileName(copy.path)}`, `${copy.path}${left}`);
    return true;
  }

  /** Asks where to, then {@link saveCopy}. */
  async askForCopy(): Promise<void> {
    const name = this.project?.name ?? "project";
    const path = await this.attempt(() => platform.chooseCopy(name));
    if (path) await this.saveCopy(path);
  }

  /** Puts a description of the program and its last log lines on the clipboard; it holds no text of a project. */
  async copyDiagnostics(): Promise<void> {
    await this.attempt(async () => {
      await platform.copyText(commands.diagnostics());
      this.toasts.done("Diagnostics copied", "They hold no text, label or name of a project.");
    });
  }

  /** Writes a report of these runs. */
  async exportRuns(runs: number[], path: string): Promise<boolean> {
    const done = await this.attempt(async () => {
      await commands.exportRuns(runs, path);
      return true;
    });
    if (done) this.toasts.done(`${counted(runs.length, "run")} written to ${fileName(path)}`, path);
    return done ?? false;
  }

  async #opening(open: () => Promise<ProjectInfo>): Promise<boolean> {
    if (this.opening) return false;
    this.opening = true;
    const done = await this.attempt(async () => {
      await this.#show(await open());
      return true;
    });
    this.opening = false;
    return done ?? false;
  }

  async #show(project: ProjectInfo): Promise<void> {
    const [people, jobs] = await Promise.all([commands.annotators(), commands.jobs()]);
    this.people = people;
    this.jobs = jobs.filter((job) => job.state === "running");
    this.importing = null;
    this.drafts.forget();
    this.ranking.forget();
    this.runs.forget();
    const { choices } = project;
    this.order = choices.order;
    this.groupBy = choices.group_by;
    this.compared = choices.compared;
    this.plan = choices.plan;
    this.screen = choices.screen ?? [];
    this.comparison = null;
    this.correlated = { questions: [], runs: [] };
    this.correlating = null;
    this.view = VIEWS.find((view) => view === choices.view) ?? "label";
    this.questionId = choices.question;
    // Nobody labels in a simulated annotator's name without having chosen to, each time anew.
    this.annotatorId = people.find((p) => p.id === choices.annotator && !p.simulated)?.id ?? null;
    this.project = project;
    this.#keepQuestion();
    void platform.setTitle(`${project.name} · Dissensus`);
  }

  /** The question shown is always one there is. */
  #keepQuestion(): void {
    const questions = this.project?.questions ?? [];
    if (!questions.some((q) => q.id === this.questionId)) this.questionId = questions[0]?.id ?? null;
  }

  async #listen(): Promise<void> {
    const changed = (change: Change) => {
      this.changes += 1;
      this.ranking.hear(change.question);
      // A label of a multi-label question is one of each of its options.
      const asked = this.project?.questions.find((q) => q.id === change.question);
      asked?.options.forEach((option) => this.ranking.hear(option.id));
      // The counts on the status line may lag; labelling must not wait for them.
      clearTimeout(this.#counting);
      this.#counting = setTimeout(() => void this.refresh(), COUNTS_LAG_MS);
    };
    await Promise.all([
      events.jobChanged.listen(({ payload }) => this.#take(payload)),
      events.labelsChanged.listen(({ payload }) => changed(payload)),
      events.modelChanged.listen(({ payload }) => changed(payload)),
      events.projectChanged.listen(() => void this.refresh()),
      events.downloadChanged.listen(({ payload }) => this.encoder.hear(payload)),
      events.openRequested.listen(({ payload }) => void this.take(payload.path)),
      events.closeRequested.listen(() => {
        void commands.closingAsked();
        void this.quit();
      }),
      events.runChanged.listen(({ payload }) => {
        // A run that fails is told by its job.
        if (this.runs.hear(payload))
          this.toasts.done(`${modelName(payload.model)} has finished training`, figures(payload));
      }),
    ]);
  }

  #take(job: JobInfo): void {
    const known = this.jobs.some((j) => j.id === job.id);
    // Beginning and end only: a screen reader must not read out every step.
    if (!known || job.state !== "running") this.announcement = `${jobTitle(job)}: ${jobState(job)}`;
    this.jobs = known ? this.jobs.map((j) => (j.id === job.id ? job : j)) : [...this.jobs, job];
    if (job.state === "running") return;
    if (job.state === "failed" && job.problem && !TOLD_WHERE_ASKED.includes(job.kind))
      this.toasts.problem(job.problem);
    if (job.kind === "encode") void this.refresh();
    setTimeout(
      () => (this.jobs = this.jobs.filter((j) => j.id !== job.id || j.state === "running")),
      JOB_STAYS_MS,
    );
  }
}

/** "Log loss 1.064 · Accuracy 0.553 · ..." */
function figures(run: RunInfo): string | null {
  const known = HEADLINE.filter((key) => metricOf(run, key) !== null);
  return (
    known.map((key) => `${metricName(key)} ${decimal(metricOf(run, key)?.value, 3)}`).join(" · ") || null
  );
}

export const app = new App();
