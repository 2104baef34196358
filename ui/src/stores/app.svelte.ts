// The state that the whole window shares: the open project, the person who labels, shown questions, jobs and
// settings.
import { commands, events } from "$bindings";
import type {
  PlanRequest,
  AnnotatorId,
  AnnotatorInfo,
  AppInfo,
  AppSettings,
  CorrelationChoice,
  GroupsChoice,
  ImportReport,
  JobInfo,
  LabelsChanged,
  ModelChanged,
  PacketInfo,
  ProjectInfo,
  QuestionId,
  QuestionInfo,
  Removal,
  TextFilter,
  TextId,
  TextOrder,
  UpgradeChanged,
  Wanted,
} from "$api/bindings";
import { CareStore } from "./care.svelte";
import { dismissReadable, isReadableDismissed } from "./dismissed";
import { Drafts } from "./drafts";
import { isEncryptedName, isSubmission, routeDrop, type Drop } from "$logic/drops";
import { EncoderStore } from "./encoder.svelte";
import { EncryptionStore } from "./encryption.svelte";
import { GuidelineStore } from "./guideline.svelte";
import { JobList } from "./job-list.svelte";
import { LinkStore } from "./link.svelte";
import { Outputs } from "./outputs";
import { PasteStore } from "./paste.svelte";
import { CAN_BE_SAVED, NEEDS_NEWER, asProblem } from "$words/problems";
import { PeopleStore } from "./people.svelte";
import { PracticeStore } from "./practice.svelte";
import { RankingStore } from "./ranking.svelte";
import { t } from "$messages/messages.svelte";
import { sentence } from "$words/format";
import { headlineWords, modelName } from "$words/run";
import { RunsStore } from "./runs.svelte";
import { SettingsStore } from "./settings-store.svelte";
import { UpdateStore } from "./updates.svelte";
import { StudyStart } from "./study-start.svelte";
import { StudyStore } from "./study.svelte";
import { WatchedFolder } from "./watched-folder.svelte";
import { TextList } from "./text-list.svelte";
import {
  destinationOf,
  PACKET_VIEWS,
  viewNamed,
  type ComparisonAtWork,
  type Destination,
  type Leaving,
  type OpenDialog,
  type View,
} from "$logic/views";
import { Toasts, type ToastAction } from "./toasts.svelte";
import { Tour } from "./tour.svelte";
import * as platform from "$platform";

type Change = LabelsChanged | ModelChanged;

/** Why a project cannot be opened to write that may well be read. */
const READABLE = ["project-locked", "project-read-only", "project-folder-read-only"];

/** Delay after the last change before the counts are fetched again. */
const COUNTS_LAG_MS = 1200;
export class App {
  ready = $state(false);
  /** A project is being opened. */
  opening = $state(false);
  /** How far the file that is being opened is upgraded, if it has an earlier format. */
  upgrade = $state.raw<UpgradeChanged | null>(null);
  info = $state<AppInfo | null>(null);
  project = $state.raw<ProjectInfo | null>(null);
  people = $state.raw<AnnotatorInfo[]>([]);
  view = $state<View>("label");
  /** Counts requests to show the current view again: each resets it to its initial state. */
  viewRequests = $state(0);
  questionId = $state<QuestionId | null>(null);
  /** The option whose figures were selected last, of any question. */
  optionId = $state<QuestionId | null>(null);
  /** The questions that share one screen, in order; empty if one is shown at a time. */
  screen = $state.raw<readonly QuestionId[]>([]);
  /** The question that is being changed. */
  editing = $state<QuestionId | null>(null);
  /** The removal that waits for confirmation. */
  removing = $state.raw<Removal | null>(null);
  annotatorId = $state<AnnotatorId | null>(null);
  order = $state<TextOrder>("file");
  groupBy = $state<string | null>(null);
  /** What was wanted of a study last. */
  plan = $state.raw<PlanRequest | null>(null);
  /** The groups that were compared last. */
  compared = $state.raw<GroupsChoice | null>(null);
  /** Groups that another view wants compared in Findings. */
  requestedGroups = $state.raw<{ groups: GroupsChoice; reason: string } | null>(null);
  /** Questions to correlate (all with labels if none is selected), and the running job. */
  correlated = $state.raw<CorrelationChoice>({ questions: [], runs: [] });
  correlating = $state.raw<number | null>(null);
  /** The last requested comparison of groups until it ends: the view may be left and reopened. */
  comparison = $state.raw<ComparisonAtWork | null>(null);
  dialog = $state<OpenDialog>(null);
  /** A text that another view wants to be shown in Findings. */
  requestedText = $state<TextId | null>(null);
  /** A text that another view wants on the desk. */
  requestedDeskText = $state<TextId | null>(null);
  /** A person that another view wants to be shown in People. */
  requestedPerson = $state<AnnotatorId | null>(null);
  importing = $state<string | null>(null);
  /** The report that Import details shows. */
  imported = $state.raw<ImportReport | null>(null);
  /** Waits for an answer whether the work under way may be stopped. */
  leaving = $state.raw<Leaving | null>(null);
  /** Writes pending changes of a view before the project is closed or replaced. Set by that view. */
  settle: (() => Promise<void>) | null = null;
  /** The newest change of labels or models, and how many there were. */
  changes = $state(0);
  readonly toasts: Toasts = new Toasts((code) =>
    CAN_BE_SAVED.includes(code)
      ? { label: t("project.save_copy"), run: () => this.outputs.chooseCopyPath() }
      : NEEDS_NEWER.includes(code)
        ? { label: t("updates.check"), run: () => this.updates.open() }
        : undefined,
  );
  readonly ranking = new RankingStore();
  readonly texts = new TextList();
  readonly runs = new RunsStore();
  readonly encoder = new EncoderStore(this);
  readonly encryption = new EncryptionStore(this);
  readonly drafts = new Drafts();
  readonly guideline = new GuidelineStore();
  readonly outputs = new Outputs(this);
  readonly paste = new PasteStore(this);
  readonly study = new StudyStore(this);
  readonly watched = new WatchedFolder(this);
  readonly practice = new PracticeStore(this);
  readonly who = new PeopleStore(this);
  readonly care = new CareStore(this);
  readonly link = new LinkStore(this);
  readonly tour = new Tour(this);
  readonly studyStart = new StudyStart();
  readonly #settings = new SettingsStore(
    (work) => this.attempt(work),
    (problem) => this.toasts.problem(problem),
  );
  readonly updates = new UpdateStore(this);
  readonly work = new JobList(this.toasts, (job) => {
    if (job.kind === "encode") void this.refresh();
  });

  /** The tab that was shown last of each destination. */
  #tabs: Partial<Record<Destination, View>> = {};
  #counting: ReturnType<typeof setTimeout> | undefined;

  readonly question: QuestionInfo | null = $derived(
    this.project?.questions.find((q) => q.id === this.questionId) ?? null,
  );
  /** What Label asks: the questions of the screen, or the one that is chosen. */
  readonly shownQuestions: readonly QuestionInfo[] = $derived.by(() => {
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
  /** Whether the project is open to read: nothing can be written to it. */
  get readOnly(): boolean {
    return this.project?.read_only ?? false;
  }

  get settings(): AppSettings {
    return this.#settings.now;
  }

  /** Whether the study shows the answers of others after an answer. */
  get reveals(): boolean {
    return this.project?.reveals ?? false;
  }

  /** Whether texts and pictures are shown without colour: the person or the study wants it. */
  get grey(): boolean {
    return (this.settings.greyscale ?? false) || (this.project?.care.greyscale ?? false);
  }

  /** Hides everything, or shows it again, at any time and without a question. Pending notes are written. */
  stop(): void {
    if (!this.project) return;
    if (!this.care.stopped) {
      void this.attempt(async () => this.settle?.());
      this.dialog = null;
      this.importing = null;
    }
    this.care.stopped = !this.care.stopped;
  }

  saveSettings(settings: AppSettings): Promise<void> {
    return this.#settings.save(settings);
  }

  /** Work in the background that is under way, or has just ended. */
  get jobs(): JobInfo[] {
    return this.work.all;
  }
  /** What would be broken off by closing the project. */
  get works(): JobInfo[] {
    return this.work.lost;
  }
  /** For screen readers: what work began or ended last. */
  get announcement(): string {
    return this.work.announcement;
  }

  /**
   * Starts: loads settings, opens what the command line requested, and listens to events. `speak` reads the
   * language before anything is said in it.
   */
  async start(speak?: () => Promise<void>): Promise<void> {
    await this.attempt(async () => {
      await this.#settings.load();
      await this.#listen();
      await speak?.();
      this.info = await commands.appInfo();
      const { settings_notice } = this.info;
      if (settings_notice) this.toasts.note(t("updates.settings_unread"), settings_notice, true);
      const wanted = await commands.launchInfo();
      const open = await commands.project();
      if (open) await this.#show(open);
      // A tour goes on in a window that was loaded again, and not in a new one.
      if (open) await this.tour.resume();
      else this.tour.leave();
      if (wanted) await this.openWanted(wanted);
    });
    this.ready = true;
    void this.updates.checkWeekly();
  }

  /** Runs `work`; what it throws becomes a notice. */
  async attempt<T>(
    work: () => Promise<T>,
    instead?: (code: string) => ToastAction | undefined,
  ): Promise<T | undefined> {
    try {
      return await work();
    } catch (thrown) {
      // While projects are switched none is open: results for the old one are ignored.
      const between = this.opening || this.study.merging > 0;
      const { code } = asProblem(thrown);
      if (!(between && code === "no-project")) this.toasts.problem(thrown, instead?.(code));
      return undefined;
    }
  }

  open(path: string): Promise<boolean> {
    return isEncryptedName(path) ? this.#openEncrypted(path) : this.#openAsItIs(path);
  }

  #openAsItIs(path: string): Promise<boolean> {
    const toRead = { label: t("project.open_read_only"), run: () => this.openToRead(path) };
    const decrypt = { label: t("encryption.decrypt"), run: () => this.#openEncrypted(path) };
    const instead = (code: string) =>
      READABLE.includes(code) ? toRead : code === "encrypted" ? decrypt : undefined;
    return this.#replace(() => commands.openProject(path), instead);
  }

  /** Decrypts a project to a new file, and opens that. A file that is not encrypted is opened as it is. */
  async #openEncrypted(file: string): Promise<boolean> {
    const path = await this.encryption.decrypted(file);
    return path === null ? false : this.#openAsItIs(path);
  }

  /** Opens a project to look at: also one that is open elsewhere, or on a disk that cannot be written. */
  openToRead(path: string): Promise<boolean> {
    // Files of an earlier format are migrated by the first that opens them to write.
    const toWrite = { label: t("label.read_only_write"), run: () => this.open(path) };
    const instead = (code: string) => (code === "project-older" ? toWrite : undefined);
    return this.#replace(() => commands.openProjectToRead(path), instead);
  }

  /** Does something for which the project is closed and opened again, and shows it as it is then. */
  async reopening<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (!this.project || this.opening) return undefined;
    const { path } = this.project;
    const { view } = this;
    this.opening = true;
    const done = await this.attempt(work);
    this.opening = false;
    if (!(await this.#opening(() => commands.openProject(path), view))) await this.#close();
    return done;
  }

  /** Asks whether something that was added by mistake goes. */
  confirmRemoval(what: Removal): void {
    if (this.readOnly) {
      this.toasts.note(t("shell.read_only_writes"));
      return;
    }
    this.removing = what;
    this.dialog = "remove";
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
    return this.#leave({ verb: "quit", go: () => this.#quit() });
  }

  async #quit(): Promise<void> {
    await this.settle?.();
    await this.attempt(() => commands.quit());
  }

  /** Confirms the action that would interrupt work, or cancels it. */
  async answer(stop: boolean): Promise<void> {
    const leaving = this.leaving;
    this.leaving = null;
    if (stop) await leaving?.go();
  }

  async #leave(leaving: Leaving): Promise<void> {
    if (this.works.length > 0 || this.study.isServing) this.leaving = leaving;
    else await leaving.go();
  }

  /** Replaces the open project. If this needs confirmation, nothing was opened yet. */
  async #replace(
    open: () => Promise<ProjectInfo>,
    instead?: (code: string) => ToastAction | undefined,
  ): Promise<boolean> {
    if (this.project && (this.works.length > 0 || this.study.isServing)) {
      this.leaving = { verb: "open", go: () => this.#opening(open, undefined, instead) };
      return false;
    }
    return this.#opening(open, undefined, instead);
  }

  async #close(): Promise<void> {
    await this.settle?.();
    await this.attempt(() => commands.closeProject());
    this.project = null;
    this.tour.leave();
    this.care.forget();
    this.drafts.forget();
    this.texts.forget();
    this.study.forget();
    this.practice.forget();
    this.guideline.forget();
    this.people = [];
    this.work.begin([]);
    this.importing = null;
    this.imported = null;
    this.dialog = null;
    this.watched.follow();
    void platform.setTitle("Dissensus");
  }

  /** What files that are dropped now would belong to; none where no project is open. */
  get droppedOn(): View | null {
    return this.project && this.view;
  }

  /** Files were dropped. */
  drop(paths: readonly string[]): void {
    if (this.guideline.onPictures) {
      this.guideline.onPictures(paths);
      return;
    }
    this.#takeIn(routeDrop(paths, this.droppedOn));
  }

  /** Opens what the system passes to the window: a link after a question, a project, or other files. */
  async openWanted({ project, files, read_only: toRead, link }: Wanted): Promise<void> {
    if (link !== null) await this.link.receive(link);
    const first = project ?? (toRead ? files[0] : undefined);
    if (first === undefined) {
      this.#takeIn(routeDrop(files, null));
      return;
    }
    if (files.length > 0) this.toasts.note(t("project.drop_single"), t("project.drop_single_text"));
    await (toRead ? this.openToRead(first) : this.open(first));
  }

  #takeIn(drop: Drop): void {
    if (drop.kind === "nothing") return;
    if (drop.kind === "merge") {
      if (drop.left.length > 0)
        this.toasts.note(t("project.drop_submissions"), t("project.drop_submissions_text"));
      void this.study.merge(drop.files);
      return;
    }
    if (drop.left.length > 0) this.toasts.note(t("project.drop_single"), t("project.drop_single_text"));
    void this.openPath(drop.file);
  }

  /**
   * Opens a file: merges submissions, opens projects, and imports anything else into the open project or a
   * new one.
   */
  async openPath(file: string): Promise<void> {
    if (isSubmission(file)) {
      await this.study.merge([file]);
      return;
    }
    const path = isEncryptedName(file) ? await this.encryption.decrypted(file) : file;
    if (path === null) return;
    if (path.toLowerCase().endsWith(".dissensus")) {
      await this.open(path);
      return;
    }
    if (this.readOnly) {
      this.toasts.note(t("shell.read_only_writes"), t("project.import_read_only"));
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
      const [project, people] = await Promise.all([
        commands.project(),
        commands.annotators(),
        this.guideline.refresh(true),
      ]);
      if (!project) return;
      this.#noteBackup(project);
      this.project = project;
      this.people = people;
      this.#keepQuestion();
    });
  }

  /** Goes to a destination, to the tab that was shown last there; from another tab of it to its first. */
  go(to: Destination): void {
    const there = destinationOf(this.view) === to;
    this.show(there ? to : (this.#tabs[to] ?? to));
  }

  show(view: View): void {
    if (!this.project) return;
    if (this.project.packet && !PACKET_VIEWS.includes(view)) return;
    // The list of texts leads to the desk: a person who opens Label wants to label.
    if (view !== "label-list") this.#tabs[destinationOf(view)] = view;
    if (this.view === view) {
      this.viewRequests += 1;
      return;
    }
    this.view = view;
    this.saveChoices();
  }

  /** Shows everything about a text, among the texts of Findings. */
  showText(text: TextId): void {
    this.requestedText = text;
    this.show("findings-texts");
  }

  /** Lays a text on the desk of Label. */
  labelText(text: TextId): void {
    this.requestedDeskText = text;
    this.show("label");
  }

  /** Shows a text that was searched for: on the desk if the person labels there, else its findings. */
  goToText(text: TextId): void {
    const labelling = destinationOf(this.view) === "label";
    if (this.project?.packet || (labelling && this.annotator !== null)) this.labelText(text);
    else if (this.question) this.showText(text);
    else {
      this.texts.forget();
      this.texts.selected = text;
      this.show("label-list");
    }
  }

  /** Lists texts, those that a filter leaves. */
  listTexts(filter: TextFilter): void {
    this.texts.search = "";
    this.texts.filter = filter;
    this.show("label-list");
  }

  /** Shows everything about a person, among the annotators of People. */
  showPerson(person: AnnotatorId): void {
    this.requestedPerson = person;
    this.show("people");
  }

  /** Compares two groups in Findings; `reason` states why these. */
  showGroups(groups: GroupsChoice, reason: string): void {
    this.requestedGroups = { groups, reason };
    this.show("findings-texts");
  }

  /** Chooses a question, or with an option also its question. */
  showFigures(question: QuestionId): void {
    const whole = this.project?.questions.find((q) => q.options.some((option) => option.id === question));
    this.questionId = whole?.id ?? question;
    if (whole) this.optionId = question;
    this.saveChoices();
  }

  /** Asks one question at a time from now on. */
  chooseQuestion(question: QuestionId): void {
    this.screen = [];
    this.showFigures(question);
  }

  /** Shows these questions on one screen in this order; with fewer than two, one at a time. */
  chooseQuestions(questions: readonly QuestionId[]): void {
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
    // A name similar to an existing one is added only after confirmation.
    const another = {
      label: t("project.another_person", { name: name.trim() }),
      run: async () => this.#added(await this.attempt(() => commands.addNewAnnotator(name.trim(), {}))),
    };
    const instead = (code: string) => (code === "near-name" ? another : undefined);
    return this.#added(await this.attempt(() => commands.addAnnotator(name.trim(), {}), instead));
  }

  #added(person: AnnotatorInfo | undefined): boolean {
    if (!person) return false;
    this.people = [...this.people, person];
    this.labelAs(person.id);
    return true;
  }

  /** Removes a person who was added by mistake; a person who has labelled since is kept, with a message. */
  async removeAnnotator({ id, name }: AnnotatorInfo): Promise<void> {
    const found = await this.attempt(() => commands.removal({ annotator: id }));
    if (!found) return;
    if (found.stays !== null) {
      this.toasts.note(t("project.stays", { name }), found.stays);
      return;
    }
    if (await this.reopening(() => commands.remove({ annotator: id })))
      this.toasts.done(t("project.removed", { name }));
  }

  /** Stores the settings of a plan with the project. */
  savePlan(plan: PlanRequest): void {
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

  /** Stops the upgrade of the file that is being opened, which stays as it was. */
  async cancelUpgrade(): Promise<void> {
    await this.attempt(() => commands.cancelUpgrade());
  }

  async cancel(job: number): Promise<void> {
    await this.attempt(() => commands.cancelJob(job));
  }

  async #opening(
    open: () => Promise<ProjectInfo>,
    view?: View,
    instead?: (code: string) => ToastAction | undefined,
  ): Promise<boolean> {
    if (this.opening) return false;
    this.opening = true;
    const done = await this.attempt(async () => {
      await this.settle?.();
      const project = await this.#unlessCancelled(open);
      if (!project) return false;
      await this.#show(project, view);
      return true;
    }, instead);
    this.opening = false;
    this.upgrade = null;
    return done ?? false;
  }

  /** The project; none if its upgrade was cancelled, which is no problem. */
  async #unlessCancelled(open: () => Promise<ProjectInfo>): Promise<ProjectInfo | null> {
    try {
      return await open();
    } catch (thrown) {
      const { code, message } = asProblem(thrown);
      if (code !== "cancelled") throw thrown;
      this.toasts.note(t("project.not_opened"), sentence(message));
      return null;
    }
  }

  /** Shows a project as it was left; a new one at its findings, or at the desk if it has no labels. */
  async #show(project: ProjectInfo, view?: View): Promise<void> {
    this.guideline.forget();
    const [people, jobs] = await Promise.all([
      commands.annotators(),
      commands.jobs(),
      this.guideline.refresh(true),
    ]);
    this.people = people;
    this.work.begin(jobs);
    this.importing = null;
    this.imported = null;
    if (project.journal_notice) this.toasts.note(t("project.journal_moved"), project.journal_notice, true);
    if (project.sync_notice) this.toasts.note(t("project.folder_synced"), project.sync_notice, true);
    if (project.network_notice) this.toasts.note(t("updates.on_network"), project.network_notice, true);
    this.#noteReadable(project);
    this.#noteBackup(project);
    // If the same project is shown again, the desk keeps its state.
    if (project.path !== this.project?.path) this.care.forget();
    if (this.project && project.path !== this.project.path) this.tour.leave();
    this.drafts.forget();
    this.ranking.forget();
    this.texts.forget();
    this.runs.forget();
    this.study.forget();
    this.requestedDeskText = null;
    this.practice.forget();
    const { choices } = project;
    this.order = choices.order;
    this.groupBy = choices.group_by;
    this.compared = choices.compared;
    this.plan = choices.plan;
    this.screen = choices.screen ?? [];
    this.comparison = null;
    this.correlated = { questions: [], runs: [] };
    this.correlating = null;
    this.#tabs = {};
    this.view = view ?? viewNamed(choices.view) ?? (project.labels > 0 ? "findings" : "label");
    this.questionId = choices.question;
    // Nobody labels in a simulated annotator's name without having chosen to, each time anew.
    this.annotatorId = people.find((p) => p.id === choices.annotator && !p.simulated)?.id ?? null;
    if (project.packet) this.#takePacket(project.packet);
    this.project = project;
    this.#keepQuestion();
    this.watched.follow();
    void platform.setTitle(`${project.name} · Dissensus`);
  }

  /** Until it is dismissed for this project: its owner may want others to read it. */
  #noteReadable({ readable_notice, path }: ProjectInfo): void {
    if (!readable_notice || isReadableDismissed(path)) return;
    const label = t("project.readable_dismiss");
    const act = { label, run: () => dismissReadable(path) };
    this.toasts.note(t("project.readable_by_others"), readable_notice, true, act);
  }

  /** Once, when an automatic backup has failed: nothing else stops. */
  #noteBackup({ backup_notice }: ProjectInfo): void {
    if (backup_notice && backup_notice !== this.project?.backup_notice)
      this.toasts.note(t("backups.failed"), backup_notice, true);
  }

  /** A packet is for one person, who answers all of its questions on one screen. */
  #takePacket({ annotator, questions }: PacketInfo): void {
    this.view = "label";
    this.annotatorId = annotator;
    this.questionId = questions[0] ?? null;
    this.screen = questions.length > 1 ? questions : [];
  }

  /** The question shown is always one there is. */
  #keepQuestion(): void {
    const questions = this.project?.questions ?? [];
    if (!questions.some((q) => q.id === this.questionId)) this.questionId = questions[0]?.id ?? null;
  }

  async #listen(): Promise<void> {
    const changed = (change: Change) => {
      this.changes += 1;
      this.ranking.receive(change.question);
      // A label of a multi-label question is one of each of its options.
      const asked = this.project?.questions.find((q) => q.id === change.question);
      asked?.options.forEach((option) => this.ranking.receive(option.id));
      // The counts on the status line may lag; labelling must not wait for them.
      clearTimeout(this.#counting);
      this.#counting = setTimeout(() => void this.refresh(), COUNTS_LAG_MS);
    };
    await Promise.all([
      events.jobChanged.listen(({ payload }) => this.work.receive(payload)),
      events.labelsChanged.listen(({ payload }) => {
        changed(payload);
        void this.tour.receive(payload);
      }),
      events.modelChanged.listen(({ payload }) => changed(payload)),
      events.projectChanged.listen(() => void this.refresh()),
      events.downloadChanged.listen(({ payload }) => this.encoder.receive(payload)),
      events.packetDownloadChanged.listen(({ payload }) => this.link.progress(payload)),
      events.upgradeChanged.listen(({ payload }) => {
        if (this.opening) this.upgrade = payload;
      }),
      events.openRequested.listen(({ payload }) => void this.openWanted(payload)),
      events.closeRequested.listen(() => {
        void commands.closingRequested();
        void this.quit();
      }),
      events.runChanged.listen(({ payload }) => {
        // A failed run is reported by its job.
        if (this.runs.receive(payload))
          this.toasts.done(
            t("project.run_finished", { model: modelName(payload.model) }),
            headlineWords(payload),
          );
      }),
    ]);
  }
}

export const app = new App();
