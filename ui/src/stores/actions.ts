// The actions by name, as used by the rail, the keys and the palette.
import { named, NAMED, type ActionId, type Named } from "$logic/action-table";
import { app } from "./app.svelte";
import type { Theme } from "$api/bindings";
import { commands } from "$bindings";
import { viewActions } from "./view-actions.svelte";
import { t } from "$messages/messages.svelte";
import { destinationOf, PACKET_VIEWS, TABS, type Destination, type View } from "$logic/views";
import { zoom } from "./zoom.svelte";
import * as platform from "$platform";

interface Action {
  /** Where it can be done: always, with a project or a packet open, or only where all of a study is. */
  with: "anything" | "project" | "study";
  /** Also while a dialog is open. */
  always?: boolean;
  /** It writes to the project: not where that is open to read. */
  writes?: boolean;
  /** What else has to be so. */
  when?: () => boolean;
  /** Does it. Without it the view on screen does, where it offers to; */
  run?: () => unknown;
  /** or this view, which is shown first. */
  view?: View;
  /** Other English words under which it is looked for; never shown. */
  words?: string;
}

const shownIn = (view: View) => (PACKET_VIEWS.includes(view) ? "project" : "study");
const go = (to: Destination, words: string): Action => ({
  with: shownIn(to),
  run: () => app.go(to),
  words: `view show ${words}`,
});
const show = (view: View, words: string): Action => ({
  with: shownIn(view),
  run: () => app.show(view),
  words: `view tab show ${words}`,
});
/** So many tabs on, round the end. */
const turn = (by: number): Action => ({
  with: "project",
  when: () => tabsHere().length > 1,
  run: () => {
    const tabs = tabsHere();
    const next = tabs[(tabs.indexOf(app.view) + by + tabs.length) % tabs.length];
    if (next) app.show(next);
  },
});
const wear = (theme: Theme): Action => ({
  with: "anything",
  when: () => app.settings.theme !== theme,
  run: () => app.saveSettings({ ...app.settings, theme }),
  words: "theme appearance mode colors",
});

async function open(): Promise<void> {
  const path = await app.attempt(() => platform.chooseProject());
  if (path) await app.open(path);
}

async function openToRead(): Promise<void> {
  const path = await app.attempt(() => platform.chooseProject());
  if (path) await app.openToRead(path);
}

async function bringIn(): Promise<void> {
  const path = await app.attempt(() => platform.chooseImport());
  if (path) app.importing = path;
}

const tabsHere = () => TABS[destinationOf(app.view)];
const copying = () => app.jobs.some((job) => job.kind === "copy" && job.state === "running");
const hasQuestion = () => app.question !== null;
const dialog = (which: NonNullable<typeof app.dialog>) => () => (app.dialog = which);

const ACTIONS: Record<ActionId, Action> = {
  palette: { with: "anything", run: dialog("palette") },
  "view.findings": go("findings", "overview summary disagreement"),
  "view.findings-texts": show("findings-texts", "disagreement ranking map contested"),
  "view.label": go("label", "desk annotate answer"),
  "view.label-list": show("label-list", "texts find search"),
  "view.people": go("people", "annotators"),
  "view.people-study": show("people-study", "handed out packets progress"),
  "view.models": go("models", "runs training"),
  "view.project": go("project", "settings questions import export close"),
  "tab.next": turn(1),
  "tab.previous": turn(-1),
  "data.import": { with: "study", writes: true, run: bringIn, words: "load csv jsonl conll file" },
  "data.paste": {
    with: "study",
    writes: true,
    run: () => app.paste.fromClipboard(),
    words: "paste clipboard spreadsheet rows lines import",
  },
  "data.remove-import": {
    with: "study",
    writes: true,
    run: () => app.confirmRemoval("last_import"),
    words: "undo import delete file mistake",
  },
  "data.export": {
    with: "study",
    run: dialog("export"),
    words: "save csv jsonl file write label studio prodigy doccano",
  },
  "data.report": {
    with: "study",
    run: dialog("report"),
    words: "paper appendix latex figures data statement",
  },
  "data.institution": {
    with: "study",
    run: () => app.outputs.writeInstitutionPapers(),
    words: "help ethics irb dpia gdpr privacy consent sbom licences compliance review board",
  },
  "question.add": { with: "study", writes: true, run: dialog("question"), words: "new scale" },
  "question.list": { with: "study", when: hasQuestion, run: dialog("questions"), words: "edit screen" },
  "disagreement.groups": { with: "study", when: hasQuestion, view: "findings-texts", words: "women men" },
  "disagreement.questions": {
    with: "study",
    when: () => app.allFigured.length > 1,
    view: "findings-texts",
    words: "correlation",
  },
  "annotators.slips": { with: "study", when: hasQuestion, view: "people", words: "mistakes errors" },
  "annotators.plan": { with: "study", when: hasQuestion, view: "people-study", words: "sample size plan" },
  "people.form": {
    with: "study",
    run: dialog("people-form"),
    words: "attributes demographics gender age form",
  },
  "guideline.write": { with: "study", run: dialog("guideline"), words: "codebook instructions manual" },
  "study.remarks": { with: "study", view: "people-study", words: "search comments flags" },
  "study.practice": {
    with: "study",
    when: hasQuestion,
    run: dialog("practice"),
    words: "training qualification quiz",
  },
  "study.checks": { with: "study", when: hasQuestion, run: dialog("checks"), words: "gold test questions" },
  "study.log": { with: "study", run: dialog("log"), words: "history audit events changes" },
  "study.settings": { with: "study", run: dialog("study-settings"), words: "reveal others limit harm grey" },
  "study.plan": {
    with: "study",
    writes: true,
    when: hasQuestion,
    view: "people-study",
    words: "assign packets hand out",
  },
  "study.invite": {
    with: "study",
    writes: true,
    when: hasQuestion,
    view: "people-study",
    words: "serve server links browser network online join prolific",
  },
  "study.take-in": {
    with: "study",
    writes: true,
    run: () => app.study.chooseFilesToMerge(),
    words: "merge packets import",
  },
  "study.watch": {
    with: "study",
    writes: true,
    run: () => app.watched.choose(),
    words: "merge drop sync nextcloud dropbox onedrive network share collect",
  },
  "study.hand-in": {
    with: "project",
    writes: true,
    when: () => app.project?.packet != null && !platform.sendsAnswers(),
    run: dialog("hand-in"),
    words: "packet",
  },
  "study.hand-in-encrypted": {
    with: "project",
    writes: true,
    when: () => app.project?.packet != null && !platform.IS_PAGE,
    run: dialog("hand-in-encrypted"),
    words: "packet passphrase password encrypt age",
  },
  "project.new": { with: "anything", run: dialog("new-project"), words: "create file" },
  "project.open": { with: "anything", run: open, words: "file load" },
  "project.open-to-read": { with: "anything", run: openToRead, words: "file load review look" },
  "project.to-write": {
    with: "project",
    when: () => app.readOnly,
    run: () => app.project && app.open(app.project.path),
    words: "edit label",
  },
  "project.sample": { with: "anything", run: () => app.openSample(), words: "example demo" },
  "project.copy": {
    with: "project",
    when: () => !copying(),
    run: () => app.outputs.chooseCopyPath(),
    words: "backup",
  },
  "project.copy-encrypted": {
    with: "project",
    when: () => !copying(),
    run: dialog("copy-encrypted"),
    words: "passphrase password encrypt protect backup age",
  },
  "project.backups": {
    with: "anything",
    run: dialog("backups"),
    words: "restore recover undo lost go back earlier version",
  },
  "project.close": { with: "project", run: () => app.close(), words: "leave" },
  "encoder.get": { with: "anything", run: dialog("encoder"), words: "download model embeddings" },
  "encoder.compare": { with: "study", writes: true, run: dialog("encoders"), words: "embeddings" },
  "app.stop": {
    with: "project",
    always: true,
    run: () => app.stop(),
    words: "break pause leave enough calm",
  },
  "app.care": { with: "anything", run: dialog("care"), words: "exposure limit blur grey harm words" },
  "app.settings": { with: "anything", run: dialog("settings"), words: "preferences options" },
  "app.keys": { with: "anything", run: dialog("keys"), words: "help bindings remap" },
  "app.guide": {
    with: "anything",
    run: () => app.attempt(() => commands.openGuide()),
    words: "help documentation book manual",
  },
  "app.tour": { with: "anything", run: () => app.tour.take(), words: "help introduction first steps" },
  "app.update": { with: "anything", run: () => app.updates.open(), words: "upgrade version new release" },
  "app.diagnostics": { with: "anything", run: () => app.outputs.copyDiagnostics(), words: "report log bug" },
  "theme.light": wear("light"),
  "theme.dark": wear("dark"),
  "theme.system": wear("system"),
  "zoom.in": { with: "anything", always: true, run: () => zoom.step(1), words: "zoom bigger" },
  "zoom.out": { with: "anything", always: true, run: () => zoom.step(-1), words: "zoom" },
  "zoom.reset": { with: "anything", always: true, run: () => zoom.set(100), words: "zoom 100" },
  "app.quit": { with: "anything", always: true, run: () => app.quit(), words: "exit" },
  "label.undo": { with: "project", writes: true },
  "label.skip": { with: "project", writes: true },
  "label.flag": { with: "project", writes: true },
  "label.note": { with: "project", writes: true },
  "label.cannot-say": { with: "project", writes: true, words: "unsure unknown no answer" },
  "label.help": { with: "project", words: "definitions levels instructions" },
  "label.guideline": { with: "project", when: () => app.guideline.current !== null },
  "label.look": { with: "project" },
  "texts.search": { with: "project", view: "label-list", words: "find list" },
  "texts.filter": { with: "project" },
  "texts.disagreement": { with: "study", when: hasQuestion },
  "texts.remove": { with: "study", writes: true, words: "delete" },
  "disagreement.refresh": { with: "study" },
  "disagreement.search": { with: "study", view: "findings-texts", when: hasQuestion, words: "find" },
  "models.new": { with: "study", writes: true, view: "models", when: hasQuestion, words: "train model" },
};

/** Whether a dialog is open that must be answered first. */
export function isCovered(): boolean {
  const covered =
    app.dialog !== null ||
    app.importing !== null ||
    app.leaving !== null ||
    app.study.merged !== null ||
    app.care.stopped;
  // Views have dialogs of their own.
  return covered || document.querySelector(".dialog-veil") !== null;
}

/** What can be done in a page with one packet. */
const ON_PAGE = /^(view\.label|tab\.|study\.hand-in|app\.(stop|care)|theme\.|label\.|texts\.(search|filter))/;

/** Whether the action exists for the open project, even if it is disabled at the moment. */
export function belongs(id: ActionId): boolean {
  if (platform.IS_PAGE && !ON_PAGE.test(id)) return false;
  const { project } = app;
  const needs = ACTIONS[id].with;
  if (needs !== "anything" && !project) return false;
  // The holder of a packet labels; everything else belongs to the study.
  return !(needs === "study" && project?.packet);
}

/** Whether the action is enabled; open dialogs are not considered here. */
export function can(id: ActionId): boolean {
  const action = ACTIONS[id];
  if (!belongs(id)) return false;
  if (action.writes && app.readOnly) return false;
  if (action.when && !action.when()) return false;
  return action.run !== undefined || action.view !== undefined || viewActions.get(id) !== undefined;
}

/** Does it, where it can be done. */
export function perform(id: ActionId): void {
  if (!can(id)) return;
  const { run, view } = ACTIONS[id];
  viewActions.forget();
  if (run) void run();
  else {
    // Opening the view again would close the requested mode.
    if (view && app.view !== view) app.show(view);
    viewActions.request(id);
  }
}

/** Whether a key may do it now. */
export function isFree(id: ActionId): boolean {
  return can(id) && (ACTIONS[id].always === true || !isCovered());
}

/** All enabled actions in the order of the table, with the search words of each. */
export function possible(): (Named & { words: string })[] {
  return NAMED.filter(({ id }) => id !== "palette" && can(id)).map(({ id }) => ({
    ...named(id),
    name: id.startsWith("view.") ? t("actions.go_to", { view: named(id).name }) : named(id).name,
    words: ACTIONS[id].words ?? "",
  }));
}
