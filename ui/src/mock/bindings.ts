// The commands and events of the window, played by an invented project. Never part of a production build.
import { answerOf } from "./answers";
import { levelsOf } from "$kinds/level/level-list";
import { idsOf } from "$kinds/scale";
import { guideline } from "./guideline";
import { history } from "./log";
import type { commands as RealCommands, events as RealEvents } from "$api/bindings";
import type * as view from "$api/bindings";
import type { Assignment } from "$logic/assignment";
import { sameNote } from "$logic/notes";
import { MockBackups } from "./backups";
import { MockCare } from "./care";
import { compare, refusal } from "./compare";
import { contentsOf, exportFormats, LEFT_BLANK } from "./exporting";
import { correlate, pointsOf } from "./correlate";
import { GUESSED, imported, preview } from "./importing";
import { MockPanels } from "./panels";
import { MockPractice } from "./practice";
import { MockRemoval } from "./removal";
import { MockRuns } from "./runs";
import { slips } from "./slips";
import { whoDiffers } from "./who-differs";
import { MockServing } from "./serving";
import { MockMasks } from "./masks";
import { MockStudy } from "./study";
import {
  entropy,
  labelKey,
  makeWorld,
  mean,
  pairwise,
  predict,
  seeded,
  type Person,
  type Text,
  withOptions,
  answered,
  kept,
} from "./world";
import { plan } from "./plan";
import { problem, refuse } from "./refusals";
import { explain, explainWords } from "./explain";
import { readLink } from "./links";
import { PSEUDO, remember } from "./shown";
import { MockTexts } from "./texts";
import { MockWords } from "./words";

/** The passphrase of encrypted files. */
const PASSPHRASE = "quiet harbour seven";
const wrongPassphrase = (file: string): view.Problem => ({
  code: "passphrase-wrong",
  message: `this is not the passphrase of ${file}: check it, or ask the person who encrypted the file`,
  detail: null,
});

const asked = new URLSearchParams(globalThis.location?.search ?? "");
const size = Number(asked.get("texts") ?? 160);
const first = Number(asked.get("question") ?? 1);

/** The invented project; its first text may be one's own: `?body=`. With `?empty` it holds nothing. */
function made() {
  const world = makeWorld(asked.has("empty") ? 0 : size);
  if (asked.has("empty")) Object.assign(world, { people: [], questions: [] });
  const [text] = world.texts;
  if (text) text.body = asked.get("body") ?? text.body;
  return world;
}

let world = made();
let open = false;
let readOnly = asked.has("readonly");
let revision = 1;
/** As on a computer without an encoder: `?encoder=none`. */
let missing = asked.get("encoder") === "none";
let given: { question: number; annotator: number; text: number; before: number | undefined }[] = [];
let flags = new Set<string>();
let skips = new Set<string>();
let choices: view.ProjectChoices = emptyChoices();
/** The open packet: its person, and its assignments in order. */
let handed: { annotator: number; items: Assignment[] } | null = null;
let again = new Map<string, view.Answer>();
let submittedAt: number | null = null;

// The packet of the first person: `?packet`.
if (asked.has("packet"))
  playPacket(
    1,
    world.texts.slice(0, 12).map(({ id }) => ({ text: id, occasion: 1 })),
  );

/** What was decided about texts, the last first. */
let decided: view.DecisionInfo[] = [];
const questionOrOption = (q: number) =>
  world.questions.find(({ id, options }) => id === q || options.some((option) => option.id === q)) ??
  question(q);

function discussionOf(q: number, text: number): view.TextTalk {
  const { id, scale } = questionOrOption(q);
  const answers = world.people.flatMap((person) => {
    const label = current(id, person.id, text);
    if (label === undefined) return [];
    const answer = answered(world, scale, label);
    const stored = noteOf(id, person.id, text);
    const note = stored.note ?? (person.id === 2 ? "I read this as irony." : null);
    const { name } = person;
    const note_again = { note: null, reasons: [], confidence: null };
    const marks = { before: [], again: null, note_again, flagged: false, masked: false };
    const shown = { guideline: null, consent_version: null };
    return [{ annotator: person.id, name, answer, ...marks, ...shown, ...stored, note }];
  });
  const decisions = decided.filter((one) => one.question === id && one.text === text);
  return { question: id, text, answers, decisions };
}

/** Opens as the packet of a person from now on. */
export function playPacket(annotator: number, items: Assignment[]): void {
  handed = { annotator, items };
}

/** The disk of the project. */
const DISK: view.DiskInfo = {
  encryption: "not_encrypted",
  sentence:
    "The system does not encrypt the disk of this project: anyone who has the disk can read it. Use an encrypted disk (LUKS, FileVault, BitLocker), unless the drive itself or another program encrypts this one.",
};

/** Projects opened before; none with `?first`. */
const RECENT: view.RecentProject[] = [
  {
    path: "/home/you/Documents/Comments.dissensus",
    name: "Comments",
    opened_at: Date.now() - 3.6e6,
    exists: true,
    sample: false,
  },
  {
    path: "/home/you/Documents/Councils 2026.dissensus",
    name: "Councils 2026",
    opened_at: Date.now() - 9e7,
    exists: true,
    sample: false,
  },
  {
    path: "/media/usb/Old study.dissensus",
    name: "Old study",
    opened_at: Date.now() - 9e8,
    exists: false,
    sample: false,
  },
];

/** Notes by question, person and text. */
const notes = new Map<string, view.Note>();
const noteOf = (q: number, annotator: number, text: number): view.Note =>
  notes.get(labelKey(q, annotator, text)) ?? { note: null, reasons: [], confidence: null };
const notesOfLaterRounds = new Map<string, view.Note>();
/** What was typed and not given; it outlives the window. */
const drafts = new Map<string, view.Note>();

const againKey = (q: number, annotator: number, { text, occasion }: Assignment) =>
  `${labelKey(q, annotator, text)}:${occasion}`;
/** Whether something of a packet is still to be answered. */
const isUnanswered = (annotator: number, q: number, item: Assignment) =>
  item.occasion > 1
    ? !again.has(againKey(q, annotator, item))
    : current(q, annotator, item.text) === undefined;
/** The last comparison of groups, and the job that makes one. */
let compared: view.GroupComparison | null = null;
const COMPARISON = 7;
/** The last correlation of questions, and the job that makes one. */
let correlated: view.QuestionCorrelation | null = null;
const CORRELATION = 8;
let settings: view.AppSettings = firstSettings();
/** Whether the study shows others' views after an answer, as the sample project does. */
let reveals = !asked.has("noreveal");
let studyLanguage: view.Language | null = null;

/** The project's runs; tests move them with `runs.step()`. */
export const runs = new MockRuns(() => world, emit, first, Number(asked.get("crowd") ?? 0));
runs.reset(asked.get("runs") === "none");
// In a browser the run at work moves by itself.
if (import.meta.env.MODE === "mock") setInterval(() => open && runs.step(), 1500);

/**
 * Models of words; fitting takes a moment in a browser. With `?read` those of the first question are fitted.
 */
const words = new MockWords(
  () => world,
  (job) => emit("jobChanged", job),
  import.meta.env.MODE === "mock" ? 600 : 1,
);
words.forget(asked.has("read") ? [first] : []);

/** The attribute questions, and their answers. */
let form: view.AttributeForm = { attributes: [] };
let consent: view.ConsentState = { in_effect: null, versions: [] };
const formAnswers = new Map<number, Record<string, string | null | undefined>>();

/** The study; in a browser `?study=12` has handed out packets to that many people. */
const care = new MockCare(
  () => world,
  (annotator, text) => world.questions.some(({ id }) => flags.has(labelKey(id, annotator, text))),
);
const panels = new MockPanels(() => world);
const texts = new MockTexts(
  () => world,
  () => ({
    flags,
    skips,
    noted: (q, annotator, text) => {
      const { note, reasons, confidence } = noteOf(q, annotator, text);
      return note !== null || reasons.length > 0 || confidence !== null;
    },
    revision: () => revision,
    packet: () => {
      const first = world.questions[0];
      return handed && first ? { annotator: handed.annotator, questions: [first.id] } : null;
    },
  }),
);
/** The practice; tests set its texts. */
export let practice = newPractice();

const removal = new MockRemoval(() => world);
const backups = new MockBackups(asked.get("backups"));

function newPractice(): MockPractice {
  return new MockPractice(
    (id) => questionOrOption(id),
    (id) => world.texts.find((text) => text.external_id === id),
    (id) => world.people.find((person) => person.id === id)?.name ?? "",
  );
}

export const study = new MockStudy(
  () => world,
  () => emit("projectChanged", []),
);

export const masks = new MockMasks(
  () => world,
  () => study.report().people.reduce((sum, person) => sum + person.packets, 0),
);

export const serving = new MockServing(() => study.report());

function emptyChoices(): view.ProjectChoices {
  return {
    annotator: null,
    question: first,
    order: "file",
    view: asked.get("view"),
    screen: [],
    group_by: "age",
    compared: null,
    plan: null,
  };
}

/** When updates were last looked for, and what was found: with `?update` there is a newer version. */
let checkedAt: number | null = null;
function updateState(): view.UpdateState {
  const newer: view.NewVersion = {
    version: "0.2.0",
    date: "2026-12-01",
    notes: "- Panels of people are saved by name.\n- <b>Faster</b> import of tables.\n- Updates on request.",
    page: "https://example.org/dissensus/releases/tag/v0.2.0",
  };
  return {
    version: "0.1.0",
    checked_at: checkedAt,
    newer: checkedAt !== null && asked.has("update") ? newer : null,
    managed: asked.has("managed")
      ? "Dissensus was installed as a Flatpak, so it makes no check itself."
      : null,
    due: checkedAt === null,
  };
}

function firstSettings(): view.AppSettings {
  const theme = asked.get("theme");
  return {
    theme: theme === "light" || theme === "dark" ? theme : "system",
    language: asked.get("language") as view.Language | null,
    blur: asked.has("blur"),
    greyscale: asked.has("grey"),
    break_minutes: 0,
    random_share: 0.2,
    text_size: 22,
    letter_keys: true,
    snap_to_words: true,
    backups: true,
    check_updates: false,
  };
}

/** As it was when the page was loaded; for tests. */
export function reset(): void {
  notes.clear();
  notesOfLaterRounds.clear();
  drafts.clear();
  guideline.versions = [];
  world = made();
  guideline.versions = [];
  open = false;
  readOnly = false;
  revision = 1;
  given = [];
  flags = new Set();
  skips = new Set();
  choices = emptyChoices();
  compared = null;
  correlated = null;
  settings = firstSettings();
  studyLanguage = null;
  reveals = !asked.has("noreveal");
  missing = asked.get("encoder") === "none";
  runs.reset(asked.get("runs") === "none");
  words.forget();
  study.forget();
  masks.forget();
  serving.stop();
  texts.measured = false;
  form = { attributes: [] };
  consent = { in_effect: null, versions: [] };
  formAnswers.clear();
  practice = newPractice();
  panels.forgetAll();
  backups.begin();
  care.forget();
  handed = null;
  again = new Map();
  submittedAt = null;
  decided = [];
  listeners.clear();
}

type Heard = (event: { payload: never }) => void;
const listeners = new Map<string, Set<Heard>>();
if (asked.has("study")) study.begin(Number(asked.get("study")) || 12);

/** Says an event; for tests and for the commands below. */
export function emit(name: keyof typeof RealEvents, payload: unknown): void {
  remember(payload);
  listeners.get(name)?.forEach((listener) => listener({ payload: payload as never }));
}

function event(name: keyof typeof RealEvents) {
  return {
    listen: (listener: Heard) => {
      if (!listeners.has(name)) listeners.set(name, new Set());
      listeners.get(name)?.add(listener);
      return Promise.resolve(() => listeners.get(name)?.delete(listener));
    },
  };
}

export const events = {
  closeRequested: event("closeRequested"),
  downloadChanged: event("downloadChanged"),
  openRequested: event("openRequested"),
  packetDownloadChanged: event("packetDownloadChanged"),
  jobChanged: event("jobChanged"),
  labelsChanged: event("labelsChanged"),
  modelChanged: event("modelChanged"),
  projectChanged: event("projectChanged"),
  runChanged: event("runChanged"),
  upgradeChanged: event("upgradeChanged"),
} as unknown as typeof RealEvents;

const everyQuestion = () => world.questions.flatMap((q) => [q, ...q.options]);
const question = (id: number) =>
  everyQuestion().find((q) => q.id === id) ?? refuse("unknown", ["question", id]);
const textOf = (id: number) => world.texts[id - 1] ?? refuse("unknown", ["text", id]);
/** The answer of a person as a number: for an option or a type, 1 if the answer contains it. */
function current(q: number, a: number, t: number): number | undefined {
  const whole = world.questions.find(({ options }) => options.some(({ id }) => id === q));
  const label = world.labels.get(labelKey(whole?.id ?? q, a, t));
  if (!whole || label === undefined) return label;
  const at = whole.options.findIndex(({ id }) => id === q);
  const answer = answered(world, whole.scale, label);
  if (answer.kind === "spans") return answer.value.some(({ kind }) => kind === at) ? 1 : 0;
  return answer.kind === "options" && answer.value.includes(at) ? 1 : 0;
}

/** What the others marked in a text. */
function marked(annotator: number, q: number, text: number): view.PersonSpans[] | null {
  const { scale } = question(q);
  if (scale.kind !== "spans" || !reveals) return null;
  return world.people.flatMap(({ id, name }) => {
    const label = id === annotator ? undefined : current(q, id, text);
    const answer = label === undefined ? null : answered(world, scale, label);
    return answer?.kind === "spans" ? [{ annotator: id, name, spans: answer.value }] : [];
  });
}

function project(): view.ProjectInfo {
  const labels = world.labels.size;
  return {
    path: "/home/you/Documents/Comments.dissensus",
    name: "Comments",
    texts: world.texts.length,
    annotators: world.people.length,
    annotators_without_labels: world.people.filter((p) => p.labels === 0).length,
    labels,
    questions: world.questions.map((q) => ({
      ...q,
      labels: Math.round(labels / world.questions.length),
      annotators_with_labels: world.people.filter((p) => p.labels > 0).length,
    })),
    attributes: [
      { name: "age", values: ["18–29", "30–44", "45–59", "60+"] },
      { name: "role", values: ["reader", "moderator", "author"] },
    ],
    simulated_notice: world.people.some((p) => p.simulated)
      ? "The eight annotators that come with this sample are simulated: a stated formula computed their labels, and no person judged these comments."
      : null,
    encoding: missing
      ? {
          version: null,
          encoded: 0,
          total: size,
          problem: problem("encoder-missing", [
            "all-MiniLM-L6-v2",
            "/home/you/.local/share/dissensus/models",
            "download it in the window (Settings, Encoder), or place a folder all-MiniLM-L6-v2 in one of these",
          ]),
        }
      : {
          version: "all-MiniLM-L6-v2/53aa51172d14/mean/256",
          encoded: size,
          total: size,
          problem: null,
        },
    choices,
    reveals: reveals && !handed,
    language: studyLanguage,
    labels_after_shown: 0,
    care: care.study,
    read_only: readOnly,
    journal_notice: null,
    sync_notice: null,
    network_notice: null,
    readable_notice: null,
    backup_notice: null,
    packet: handed && {
      annotator: handed.annotator,
      questions: world.questions.map(({ id }) => id).slice(0, 1),
    },
  };
}

/** Whether a question applies to a person and a text. */
function isAsked(q: number, annotator: number, text: number): boolean {
  const { only_if } = question(q);
  if (!only_if) return true;
  const { scale } = question(only_if.question);
  const label = current(only_if.question, annotator, text);
  if (label === undefined || !isAsked(only_if.question, annotator, text)) return false;
  const answer = answered(world, scale, label);
  if (answer.kind === "cannot-say") return false;
  const held =
    answer.kind === "level"
      ? [answer.value]
      : answer.kind === "options"
        ? answer.value
        : answer.value.map(({ kind }) => kind);
  return held.some((level) => only_if.levels.includes(level));
}

/** The questions of a text that apply and are not answered. */
const openQuestions = (annotator: number, qs: readonly number[], text: number) =>
  qs.filter((q) => isAsked(q, annotator, text) && current(q, annotator, text) === undefined);

function progress(annotator: number, qs: readonly number[]): view.Progress {
  if (handed) {
    const left = handed.items.filter((item) => isUnanswered(annotator, qs[0] ?? 0, item)).length;
    const [total, done] = [handed.items.length, handed.items.length - left];
    return { today: done, done, total, skipped: 0, flagged: 0 };
  }
  const [only] = qs;
  if (only !== undefined && qs.length === 1 && !question(only).only_if) return progressOf(annotator, only);
  const texts = world.texts.filter(({ id }) => qs.some((q) => isAsked(q, annotator, id)));
  const open = texts.map(({ id }) => [id, openQuestions(annotator, qs, id)] as const);
  const done = open.filter(([, left]) => left.length === 0);
  return {
    today: done.length,
    done: done.length,
    total: texts.length,
    skipped: open.filter(
      ([id, left]) => left.length > 0 && left.every((q) => skips.has(labelKey(q, annotator, id))),
    ).length,
    flagged: texts.filter(({ id }) => qs.some((q) => flags.has(labelKey(q, annotator, id)))).length,
  };
}

function progressOf(annotator: number, q: number): view.Progress {
  const prefix = `${q}:${annotator}:`;
  const mine = [...world.labels.keys()].filter((key) => key.startsWith(prefix)).length;
  const open = world.texts.filter(({ id }) => !world.labels.has(labelKey(q, annotator, id)));
  const left_out = open.filter(({ body }) => care.excludes(annotator, body)).length;
  return {
    today: given.filter((g) => g.annotator === annotator && g.question === q).length,
    done: mine,
    total: world.texts.length - left_out,
    left_out,
    skipped: [...skips].filter((key) => key.startsWith(prefix)).length,
    flagged: [...flags].filter((key) => key.startsWith(prefix)).length,
  };
}

function reveal(annotator: number, q: number, text: Text): view.TextPredictions | null {
  if (question(q).scale.kind === "spans") return null;
  const others = world.people.filter((p) => p.id !== annotator);
  const rows = others.map((p) => predict(question(q), text, p));
  const me = world.people.find((p) => p.id === annotator);
  const counts = observed(q, text, others);
  const sum = counts.reduce((a, b) => a + b, 0);
  return {
    others: mean(rows),
    mine: me ? predict(question(q), text, me) : mean(rows),
    annotators: others.length,
    observed: sum > 0 ? counts.map((n) => n / sum) : null,
    // As the window's: over everybody, this person included.
    pairwise: pairwise(me ? [...rows, predict(question(q), text, me)] : rows),
  };
}

function draftAt(q: number, annotator: number, assignment: Assignment, given: view.Note): view.Note | null {
  const typed = drafts.get(againKey(q, annotator, assignment));
  return typed && !sameNote(typed, given) ? typed : null;
}

function taskAgain(annotator: number, q: number, assignment: Assignment): view.LabelTask {
  const answer = again.get(againKey(q, annotator, assignment)) ?? null;
  const first = task(annotator, q, textOf(assignment.text));
  const note = notesOfLaterRounds.get(againKey(q, annotator, assignment)) ?? noteOf(-1, -1, -1);
  const draft = draftAt(q, annotator, assignment, note);
  return { ...first, occasion: assignment.occasion, answer, note, draft, reveal: null, spans: null };
}

function task(annotator: number, q: number, text: Text, random = false): view.LabelTask {
  const level = current(q, annotator, text.id) ?? null;
  return {
    occasion: 1,
    text: text.id,
    external_id: text.external_id,
    body: text.body,
    group: null,
    asked: isAsked(q, annotator, text.id),
    answer: level === null ? null : answered(world, question(q).scale, level),
    note: noteOf(q, annotator, text.id),
    draft: draftAt(q, annotator, { text: text.id, occasion: 1 }, noteOf(q, annotator, text.id)),
    flagged: flags.has(labelKey(q, annotator, text.id)),
    skipped: skips.has(labelKey(q, annotator, text.id)),
    random,
    reveal: level === null || !reveals ? null : reveal(annotator, q, text),
    spans: level === null ? null : marked(annotator, q, text.id),
  };
}

function observed(q: number, text: Text, people: Person[]): number[] {
  const counts = question(q).scale.levels.map(() => 0);
  for (const person of people) {
    const level = current(q, person.id, text.id);
    if (level !== undefined) counts[level] = (counts[level] ?? 0) + 1;
  }
  return counts;
}

function scores(q: number, rows: number[][]): view.DisagreementScores {
  const pair = pairwise(rows);
  const ordinal = question(q).scale.kind === "ordinal";
  const levels = mean(rows);
  const split = ordinal ? (4 * variance(levels)) / (levels.length - 1) ** 2 : pair;
  const within = rows.reduce((s, r) => s + entropy(r), 0) / Math.max(1, rows.length);
  return {
    pairwise: pair,
    pairwise_interval: [Math.max(0, pair - 0.07), Math.min(1, pair + 0.06)],
    pairwise_maximum: 1 - 1 / levels.length,
    split,
    split_interval: [Math.max(0, split - 0.04), Math.min(1, split + 0.03)],
    far_apart: ordinal ? pair * 0.6 : null,
    far_apart_maximum: ordinal ? 2 / 3 : null,
    mean_level: ordinal ? levelOfMean(levels) : null,
    agreement: ordinal ? 1 - 2 * split : null,
    between: 0.31,
    divergence: entropy(mean(rows)) - within,
    uncertainty: within,
    level_variance: ordinal ? pair * 1.4 : null,
  };
}

const levelOfMean = (p: number[]) => p.reduce((s, x, k) => s + x * k, 0);
const variance = (p: number[]) => p.reduce((s, x, k) => s + x * (k - levelOfMean(p)) ** 2, 0);

/** What ranks a text. */
function measured(by: view.DisagreementMeasure, s: view.DisagreementScores): number {
  const of: Partial<Record<view.DisagreementMeasure, number | null>> = {
    pairwise: s.pairwise,
    divergence: s.divergence,
    uncertainty: s.uncertainty,
    far_apart: s.far_apart,
    between: s.between,
  };
  return of[by] ?? s.split ?? 0;
}

function chosen(query: view.DisagreementQuery): Person[] {
  return world.people.filter((p) =>
    Object.entries(query.attributes).every(([k, v]) => p.attributes[k] === v),
  );
}

/** The border that divides these shares of levels most equally. */
function borderOf(shares: readonly (number | null)[]): view.Border {
  const above = shares.map((_, at) => shares.slice(at).reduce<number>((sum, p) => sum + (p ?? 0), 0));
  let level = 1;
  above.forEach((share, at) => {
    if (at > 0 && Math.abs(share - 0.5) < Math.abs((above[level] ?? 0) - 0.5)) level = at;
  });
  const share = above[level] ?? 0;
  return { level, above: share, interval: [Math.max(0, share - 0.08), Math.min(1, share + 0.08)] };
}

function row(query: view.DisagreementQuery, text: Text): view.DisagreementRow {
  const people = chosen(query);
  const rows = people.map((p) => predict(question(query.question), text, p));
  const counts = observed(query.question, text, people);
  const n = counts.reduce((a, b) => a + b, 0);
  const figures = scores(query.question, rows);
  const value = measured(query.by, figures);
  return {
    text: text.id,
    external_id: text.external_id,
    snippet: text.body.slice(0, 280),
    distribution: mean(rows),
    scores: figures,
    value,
    interval: query.by === "labels" ? null : [Math.max(0, value - 0.04), Math.min(1, value + 0.03)],
    rank: 1,
    band: [1, 12],
    who: null,
    severity: null,
    compared: 0,
    border: question(query.question).scale.levels.length > 2 ? borderOf(mean(rows)) : null,
    two_camps: false,
    who_above: null,
    sides: null,
    observed_split: n < 2 ? null : variance(counts.map((c) => c / n)),
    observed: counts,
    observed_pairwise: n < 2 ? null : 1 - counts.reduce((s, c) => s + c * (c - 1), 0) / (n * (n - 1)),
  };
}

function learn(q: number, annotator: number, text: number): void {
  const person = world.people.find((p) => p.id === annotator);
  const level = current(q, annotator, text);
  if (person && level !== undefined && question(q).scale.kind !== "spans") {
    const middle = (question(q).scale.levels.length - 1) / 2;
    person.severity += 0.25 * (level - middle - textOf(text).heat - person.severity);
  }
  revision += 1;
  emit("labelsChanged", { question: q, text, annotator, revision });
}

export { TRAINING_SETTINGS } from "$api/bindings";

export const commands: typeof RealCommands = {
  appInfo: async () => ({
    version: "0.1.0",
    encoder: "all-MiniLM-L6-v2",
    encoder_problem: null,
    device: "cpu",
    device_reason: "auto: this build has no GPU support",
    settings_notice: null,
  }),
  encryptedFiles: async (files) => files.filter((file) => file.endsWith(".age")),
  decryptedPath: async (file) => file.replace(/\.age$/, ""),
  decryptFile: async (file, _target, passphrase) => {
    if (passphrase !== PASSPHRASE) throw wrongPassphrase(file);
    return null;
  },
  unlockFiles: async (files, passphrase) => {
    const locked = files.find((file) => file.endsWith(".age"));
    if (locked !== undefined && passphrase !== PASSPHRASE) throw wrongPassphrase(locked);
    return files.map((file) => file.replace(/\.age$/, ""));
  },
  lockFiles: async () => null,
  diskInfo: async () => DISK,
  saveCopy: async (path) => ({ path, bytes: 622_592, runs: null, runs_left: null }),
  diagnostics: async () =>
    "Dissensus 0.1.0 on linux x86_64, 8 cores, cpu\nno project is open\nlast 0 lines of the log:\n",
  launchInfo: async () => {
    const [project, link] = [asked.get("open"), asked.get("link")];
    if (project === null && link === null) return null;
    return { project, files: [], read_only: asked.has("readonly"), link };
  },
  readLink: async (link) => readLink(link),
  openPage: async () => null,
  downloadPacket: async () => {
    emit("packetDownloadChanged", { done: 2e5, total: 5e5 });
    await new Promise((resolve) => setTimeout(resolve, import.meta.env.MODE === "mock" ? 3000 : 0));
    return null;
  },
  cancelPacket: async () => null,
  recentProjects: async () => (asked.has("first") ? [] : RECENT),
  forgetRecent: async () => null,
  backups: async () => backups.list(),
  backUp: async () => backups.make(project().name),
  backupChanges: async (id) => backups.changes(id),
  restoreBackup: async (id, target) => backups.restore(id, target),
  deleteBackup: async (id) => (backups.delete(id), null),
  openGuide: async () => null,
  settings: async () => settings,
  updateState: async () => updateState(),
  checkUpdates: async () => {
    checkedAt = Date.now();
    return updateState();
  },
  cancelUpdateCheck: async () => null,
  saveSettings: async (next) => ((settings = next), null),
  setStudyCare: async (next) => {
    care.study = next;
    emit("projectChanged", []);
    return null;
  },
  textGroups: async () => [],
  care: async (annotator) => care.info(annotator),
  setOwnCare: async (annotator, own) => care.choose(annotator, own),
  readText: async (annotator, text) => care.read(annotator, text),
  goOnToday: async (annotator) => care.goOn(annotator),
  setLanguage: async (chosen) => {
    studyLanguage = chosen;
    emit("projectChanged", []);
    return null;
  },
  setReveal: async (on) => {
    reveals = on;
    emit("projectChanged", []);
    return null;
  },
  closingRequested: async () => null,
  quit: async () => null,
  encoderOffer: async () => ({
    name: "all-MiniLM-L6-v2",
    about: "Small and quick: 6 layers, 22 million parameters. The default.",
    licence: "Apache-2.0",
    bytes: 91_335_000,
    files: [
      {
        path: "config.json",
        bytes: 612,
        sha256: "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
      },
      {
        path: "model.safetensors",
        bytes: 90_868_376,
        sha256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
      },
    ],
    source: "huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
    folder: "/home/you/.local/share/dissensus/models/all-MiniLM-L6-v2",
    installed: !missing,
  }),
  downloadEncoder: async () => {
    emit("downloadChanged", { done: 4e7, total: 91_335_000, file: "model.safetensors" });
    await new Promise((resolve) => setTimeout(resolve, 400));
    missing = false;
    return null;
  },
  cancelDownload: async () => null,
  useEncoder: async () => ((missing = false), job("running", 0)),
  newProject: async () => ((open = true), project()),
  openProject: async (path) => {
    if (path.includes("Councils")) {
      refuse("project-locked", [path, "dissensus-window, process 21199"]);
    }
    [open, readOnly] = [true, false];
    return project();
  },
  openProjectToRead: async () => {
    [open, readOnly] = [true, true];
    return project();
  },
  openSample: async () => {
    [open, readOnly] = [true, false];
    return project();
  },
  cancelUpgrade: async () => null,
  closeProject: async () => ((open = false), null),
  project: async () => (open ? project() : null),
  addQuestion: async (name, prompt, scale, only_if, help, definitions) => {
    const added = withOptions({
      id: world.questions.length + 1,
      name,
      prompt,
      help,
      scale,
      definitions: scale.levels.map((_, at) => definitions[at] ?? ""),
      cannot_say: false,
      cannot_say_answers: 0,
      only_if,
      note_form: { reasons: [], confidence: false },
      labels: 0,
      annotators_with_labels: 0,
      edits: { edits: [], labels_before: 0 },
    });
    world.questions.push(added);
    return added;
  },
  changeQuestion: async (id, { prompt, help, levels, cannot_say, only_if, note_form }) => {
    world.questions = world.questions.map((q) => {
      if (q.id !== id) return q;
      let next = Math.max(...idsOf(q.scale), q.scale.levels.length - 1) + 1;
      const wanted = levels ?? levelsOf(q.scale, q.definitions);
      const ids = wanted.map(({ from }) => from ?? next++);
      const scale = { ...q.scale, levels: wanted.map(({ name }) => name), ids };
      const definitions = wanted.map(({ definition }) => definition);
      const edited = { at: Date.now(), parts: ["level_names" as const] };
      const edits = { edits: [...q.edits.edits, edited], labels_before: q.labels };
      return withOptions({ ...q, prompt, help, definitions, cannot_say, only_if, note_form, scale, edits });
    });
    return null;
  },
  consent: async () => consent,
  setConsent: async (body) => {
    const { versions } = consent;
    if (body === null) return (consent = { in_effect: null, versions });
    const number = versions.length + 1;
    const added = { version: `${number}`.padStart(64, "0"), number, at: Date.now(), body, people: [] };
    return (consent = { in_effect: number, versions: [...versions, added] });
  },
  consentLeft: async (annotator) => {
    const asked = consent.versions.find(({ number }) => number === consent.in_effect);
    const id = world.people.find((one) => one.id === annotator)?.external_id ?? "";
    return !asked || asked.people.includes(id) ? null : { ...asked, people: [] };
  },
  agree: async (annotator, version) => {
    const id = world.people.find((one) => one.id === annotator)?.external_id ?? "";
    const people = (one: view.ConsentText) => [
      ...one.people.filter((other) => other !== id),
      ...(one.version === version ? [id] : []),
    ];
    consent = { ...consent, versions: consent.versions.map((one) => ({ ...one, people: people(one) })) };
    return null;
  },
  attributeForm: async () => form,
  setAttributeForm: async (next) => (form = next),
  formLeft: async (annotator) => ({
    attributes: form.attributes.filter(({ name }) => !(name in (formAnswers.get(annotator) ?? {}))),
  }),
  answerForm: async (annotator, answers) => {
    const passed = Object.fromEntries(form.attributes.map(({ name }) => [name, null]));
    formAnswers.set(annotator, { ...passed, ...formAnswers.get(annotator), ...answers });
    return null;
  },
  findTexts: async (query, offset, limit, lookFor) => texts.find(query, offset, limit, lookFor),
  measureLongTexts: async () => texts.measure(),
  overview: async (readingAs) => texts.overview(readingAs),
  overviewAgreement: async (question) => texts.agreement(question),
  levelUses: async (id) =>
    world.questions
      .filter((q) => q.id === id)
      .flatMap(({ scale }) => idsOf(scale))
      .map((level) => ({
        level,
        words: id === 1 && level < 5 ? "12 answers use" : null,
        answered: id === 1 && level < 5,
      })),
  scaleTemplates: async () => [
    {
      name: "yes-no-unsure",
      title: "Yes, no, unsure",
      scale: { kind: "choice", levels: ["yes", "no", "unsure"] },
    },
  ],
  annotators: async () => world.people.map(({ severity: _, noise: __, ...person }) => person),
  addAnnotator: async (name, attributes) => {
    const plain = (other: string) =>
      other
        .normalize("NFKD")
        .replaceAll(/[\s\u0300-\u036f]/g, "")
        .toLowerCase();
    const near = world.people.find((p) => p.name !== name && plain(p.name) === plain(name));
    if (near) return refuse("near-name", [name, near.external_id]);
    return commands.addNewAnnotator(name, attributes);
  },
  addNewAnnotator: async (name, attributes) => {
    const id = world.people.length + 1;
    const person: Person = {
      id,
      external_id: name,
      name,
      attributes: { ...attributes } as Record<string, string>,
      simulated: false,
      imported: false,
      labels: 0,
      severity: 0,
      noise: 1,
    };
    world.people.push(person);
    return person;
  },
  changeAnnotator: async (id, name, set, unset) => {
    const at = world.people.findIndex((p) => p.id === id);
    const person = world.people[at];
    if (!person) return refuse("unknown", ["annotator", id]);
    const kept = Object.entries(person.attributes).filter(([key]) => !unset.includes(key));
    const attributes = { ...Object.fromEntries(kept), ...(set as Record<string, string>) };
    world.people[at] = { ...person, name: name ?? person.name, attributes };
    return null;
  },
  traces: async (id) => {
    const person = world.people.find((p) => p.id === id);
    if (!person) return refuse("unknown", ["annotator", id]);
    const { external_id, name, labels } = person;
    return {
      annotator: id,
      external_id,
      name,
      answers: labels,
      packets: 1,
      texts: 12,
      nameless: 2,
      runs: 3,
      copies: ["/home/you/studies/Forum comments.dissensus.before-v13"],
      look_alikes: [],
    };
  },
  removal: async (what) => removal.preview(what),
  remove: async (what) => removal.remove(what),
  withdraw: async (id) => {
    const answers = world.people.find((p) => p.id === id)?.labels ?? 0;
    world.people = world.people.filter((p) => p.id !== id);
    const gone = { answers, packets: 1, texts: 12, nameless: 2, runs: 3 };
    return { ...gone, encoder_changed: false, cleaned: true, copies: [] };
  },
  saveChoices: async (next) => ((choices = next), null),
  importPreview: async (path, given) => preview(world.texts, path, given),
  importPreviewAsLastTime: async (path) => {
    const guess = await commands.importPreview(path, GUESSED);
    if (!path.includes("as last time")) return guess;
    const columns = { ...guess.columns, group: "source", attributes: [] };
    const found = await commands.importPreview(path, { ...GUESSED, columns });
    return { ...found, as_last_time: true };
  },
  pasteRows: async (pasted, header) => {
    if (pasted.trim() === "") return refuse("no-rows");
    return {
      path: `/home/you/pasted/Pasted ${header === null ? "at first" : "again"}.csv`,
      header: header ?? pasted.includes("\t"),
    };
  },
  forgetPasted: async () => null,
  forgetOpened: async () => null,
  importFile: async (path, given) => imported(preview(world.texts, path, given), given),
  exportFormats: async () => exportFormats(),
  exportContents: async (request) => contentsOf(world, request),
  stopExportContents: async () => null,
  exportForProgram: async (_path, request) => contentsOf(world, request),
  exportPredictions: async () => ({
    texts: world.texts.length,
    people: world.people.length,
    people_without_labels: 1,
    rows: world.texts.length * world.people.length,
  }),
  exportSummary: async (_path, request) => ({
    question: request.question ?? "rude",
    rows: request.of === "texts" ? world.texts.length : world.people.length,
    labels: world.labels.size,
    not_converged: [],
    suppressed: 0,
    left_blank: [],
    identifiable: request.of === "people" && request.pseudonyms ? 2 : 0,
  }),
  exportProject: async (_path, pseudonyms) => ({
    rows: world.labels.size,
    suppressed: pseudonyms ? 3 : 0,
    left_blank: pseudonyms ? LEFT_BLANK : [],
    identifiable: pseudonyms ? 2 : 0,
  }),
  writeInstitutionPapers: async (folder) => ({
    folder,
    files: ["README.md", "papers.html", "sbom.cdx.json", "papers.json"],
    bytes: 900_000,
    open: 34,
  }),
  writeReport: async (folder) => ({
    folder,
    files: ["report.html", "reproduce.json"],
    bytes: 310_000,
    figures: 9,
    tables: 12,
    questions: ["offensiveness"],
    labels: world.labels.size,
    suppressed: 3,
    left_blank: LEFT_BLANK,
    identifiable: 2,
    notes: [],
  }),
  nextText: async (annotator, qs, order, after) => {
    const q = qs[0] ?? 0;
    if (handed) {
      const next = handed.items.find((item) => item.text !== after && isUnanswered(annotator, q, item));
      return next
        ? next.occasion > 1
          ? taskAgain(annotator, q, next)
          : task(annotator, q, textOf(next.text))
        : null;
    }
    const open = world.texts.filter(
      (t) =>
        t.id !== after &&
        !practice.is(t.id) &&
        !care.excludes(annotator, t.body) &&
        openQuestions(annotator, qs, t.id).some((left) => !skips.has(labelKey(left, annotator, t.id))),
    );
    const random = seeded(annotator * 1000 + open.length);
    const pick = order === "file" ? open[0] : open[Math.floor(random() * open.length)];
    return pick
      ? task(
          annotator,
          q,
          pick,
          order !== "file" && order !== "random" && random() < (settings.random_share ?? 0),
        )
      : null;
  },
  labelTask: async (annotator, q, text, occasion) => {
    if (!everyQuestion().some(({ id }) => id === q)) return refuse("no-question");
    const of = world.texts[text - 1] ?? refuse("no-such-text", [text]);
    return occasion > 1 ? taskAgain(annotator, q, { text, occasion }) : task(annotator, q, of);
  },
  neighbourText: async (annotator, q, text, step) => {
    const neighbour = world.texts[text - 1 + step];
    return neighbour ? task(annotator, q, neighbour) : null;
  },
  progress: async (annotator, qs) => progress(annotator, qs),
  recordLabel: async ({ question: q, annotator, text, answer }, { note }) => {
    const shown = reveal(annotator, q, textOf(text));
    const key = labelKey(q, annotator, text);
    given.push({ question: q, annotator, text, before: world.labels.get(key) });
    world.labels.set(key, kept(world, answer));
    notes.set(key, note);
    skips.delete(key);
    setTimeout(() => learn(q, annotator, text), 0);
    return {
      progress: progress(annotator, [q]),
      reveal: reveals ? shown : null,
      spans: marked(annotator, q, text),
    };
  },
  recordAgain: async ({ question: q, annotator, text, answer }, { note }, occasion) => {
    notesOfLaterRounds.set(againKey(q, annotator, { text, occasion }), note);
    again.set(againKey(q, annotator, { text, occasion }), answer);
    return { progress: progress(annotator, [q]), reveal: null, spans: null };
  },
  saveNote: async (annotator, q, text, { note }) => {
    notes.set(labelKey(q, annotator, text), note);
    return null;
  },
  saveDraft: async (annotator, q, text, occasion, typed) => {
    const key = againKey(q, annotator, { text, occasion });
    if (typed) drafts.set(key, typed);
    else drafts.delete(key);
    return null;
  },
  remarks: async ({ words, annotator, flagged }) =>
    world.questions.flatMap((q) =>
      world.people.flatMap((person) =>
        world.texts.flatMap((text) => {
          const key = labelKey(q.id, person.id, text.id);
          const note = noteOf(q.id, person.id, text.id);
          const [flag, skipped] = [flags.has(key), skips.has(key)];
          if (!notes.has(key) && !flag && !skipped) return [];
          if ((annotator ?? person.id) !== person.id || (flagged && !flag)) return [];
          const all = `${note.note ?? ""} ${note.reasons.join(" ")} ${text.body}`.toLowerCase();
          if (!all.includes(words.toLowerCase())) return [];
          const label = current(q.id, person.id, text.id);
          const answer = label === undefined ? null : (q.scale.levels[label] ?? null);
          return [
            {
              question: q.id,
              question_name: q.name,
              text: text.id,
              text_id: text.external_id,
              body: text.body,
              annotator: person.id,
              annotator_name: person.name,
              occasion: 1,
              answer,
              ...note,
              flagged: flag,
              skipped,
              guideline: null,
              at: Date.UTC(2026, 10, 1),
            },
          ];
        }),
      ),
    ),
  guideline: async () => guideline.versions.at(-1) ?? null,
  guidelineVersions: async () => guideline.versions,
  writeGuideline: async (written) => guideline.write(written),
  guidelineAgreement: async () => guideline.agreement(),
  picture: async (name) => guideline.picture(name),
  readPicture: async () => guideline.picture("0011223344556677"),
  textTalk: async (question, text) => discussionOf(question, text),
  decide: async ({ question: q, text, outcome, answer, comment, by }) => {
    const { id, name, scale } = questionOrOption(q);
    decided = decided.map((one) =>
      one.question === id && one.text === text ? { ...one, holds: false } : one,
    );
    decided.unshift({
      question: id,
      question_name: name,
      text,
      text_id: null,
      outcome,
      answer,
      answer_name: answer?.kind === "level" ? (scale.levels[answer.value] ?? null) : null,
      comment,
      by,
      at: Date.UTC(2026, 10, 1) + decided.length,
      holds: outcome !== "reopened",
    });
    return discussionOf(q, text);
  },
  practiceState: async (annotator) => practice.state(annotator),
  nextPractice: async (annotator) => practice.next(annotator),
  recordPractice: async (answer) => practice.record(answer),
  practiceSetup: async () => practice.setup(),
  setPracticeText: async (question, textId, answer, reason) => {
    practice.set(question, textId, answer, reason);
    return practice.setup();
  },
  setPracticeRule: async ({ pass, within, then }) => {
    const { rule } = practice;
    practice.rule = {
      pass: pass ?? rule.pass,
      within: within ?? rule.within,
      then: then ?? rule.then,
    };
    return practice.setup();
  },
  checkRule: async () => ({ rule: practice.checkRule }),
  setCheckRule: async (rule) => ({ rule: (practice.checkRule = rule) }),
  attentionChecks: async () => study.checks,
  setAttentionCheck: async (id, text_id, answer, reason) => {
    const text = world.texts.find((one) => one.external_id === text_id);
    if (!text) return refuse("no-such-text", [text_id]);
    const { name, scale } = questionOrOption(id);
    study.checks = study.checks.filter((one) => one.question !== id || one.text !== text.id);
    if (answer?.kind === "level") {
      const of = { question: id, question_name: name, text: text.id, text_id, body: text.body };
      const answer_name = scale.levels[answer.value] ?? "";
      study.checks.push({ ...of, answer, answer_name, reason, given: 0, right: 0 });
    }
    return [...study.checks];
  },
  askPanel: async (request, compared, order, top) => panels.ask(request, compared, order, top),
  panelOnText: async (request, compared, text) => panels.ask(request, compared, "unsure", 1, text),
  savedPanels: async () => panels.kept(),
  savePanel: async (name, request) => panels.keep(name, request),
  forgetPanel: async (name) => panels.forget(name),
  openPacket: async () => {
    if (!handed) return null;
    const { annotator, items } = handed;
    const left = items.filter((item) => isUnanswered(annotator, world.questions[0]?.id ?? 0, item)).length;
    const name = world.people.find(({ id }) => id === annotator)?.name ?? "";
    return {
      annotator: name,
      wanted: items.length,
      given: items.length - left,
      handed_in: submittedAt,
      since: 0,
      practice: practice.state(annotator),
    };
  },
  handIn: async (file) => {
    submittedAt = Date.now();
    const items = handed?.items ?? [];
    return { file, bytes: 60_000, given: items.length, wanted: items.length };
  },
  undoLabel: async (annotator, qs) => {
    const at = given.findLastIndex((g) => g.annotator === annotator && qs.includes(g.question));
    const [last] = at < 0 ? [] : given.splice(at, 1);
    if (!last) return null;
    const q = last.question;
    const key = labelKey(q, annotator, last.text);
    const level = world.labels.get(key) ?? 0;
    if (last.before === undefined) world.labels.delete(key);
    else world.labels.set(key, last.before);
    const { scale } = question(q);
    const now = last.before === undefined ? null : answered(world, scale, last.before);
    const answer = answered(world, scale, level);
    const note = noteOf(q, annotator, last.text);
    notes.delete(key);
    const undone = { question: q, text: last.text, occasion: 1, answer, note, now };
    return { ...undone, progress: progress(annotator, qs) };
  },
  skipText: async (annotator, qs, text) => {
    for (const q of openQuestions(annotator, qs, text)) skips.add(labelKey(q, annotator, text));
    return progress(annotator, qs);
  },
  flagText: async (annotator, q, text, on) => {
    const key = labelKey(q, annotator, text);
    if (on) flags.add(key);
    else flags.delete(key);
    return progress(annotator, [q]);
  },
  disagreementRanking: async (query) => {
    const people = chosen(query);
    const found = world.texts.filter((t) =>
      t.body.toLowerCase().includes((query.search ?? "").toLowerCase()),
    );
    const ranked = found
      .map((t) => {
        const figures = scores(
          query.question,
          people.map((p) => predict(question(query.question), t, p)),
        );
        return {
          id: t.id,
          figures,
          value: measured(query.by, figures),
          counts: observed(query.question, t, people),
        };
      })
      .sort((a, b) => b.value - a.value || a.id - b.id);
    return {
      revision,
      texts: ranked.map((t) => t.id),
      values: ranked.map((t) => t.value),
      means: ranked.flatMap((t) => (t.figures.mean_level === null ? [] : [t.figures.mean_level])),
      splits: ranked.map((t) => t.figures.split),
      observed_means: ranked.map((t) => t.figures.mean_level),
      observed_splits: ranked.map((t) => t.figures.split),
      labels: ranked.map((t) => t.counts.reduce((a, b) => a + b, 0)),
      annotators: people.length,
      annotators_without_labels: people.filter((p) => p.labels === 0).length,
      remark: null,
      estimation: null,
      needs: null,
      ties: query.by === "combined" && ranked.length > 40 ? [30, 8] : [],
      label_weight: null,
      basis:
        query.by === "combined"
          ? "Ordered by labels and prediction: 6 labels of a text count 22 %, as learned from held-out labels of 160 texts."
          : null,
      by_labels: false,
    };
  },
  disagreementRows: async (query, texts) => texts.map((t) => row(query, textOf(t))),
  textDetail: async (query, text, groupBy, readingAs, showHidden) =>
    detail(query, textOf(text), groupBy, readingAs, showHidden),
  nearestAgreedTexts: async (_, text) =>
    world.texts
      .filter((t) => t.id !== text)
      .slice(0, 5)
      .map((t, i) => ({
        text: t.id,
        external_id: t.external_id,
        snippet: t.body.slice(0, 280),
        similarity: 0.9 - i / 10,
        answer: answerOf(0),
        labels: 4,
      })),
  explain: async (query, readingAs, showHidden) => explain(world, query, readingAs, showHidden),
  explainWords: async (query) => explainWords(world, query),
  wordHeat: async (query, text, readingAs, showHidden) =>
    words.heat(query.question, chosen(query), textOf(text), readingAs, showHidden, missing),
  fitWords: async (q) => words.fit(q),
  compareGroups: async (q, groups) => {
    const refused = refusal(world, groups);
    if (refused) throw refused;
    compared = compare(world, q, groups, revision);
    const done = { ...job("finished", 3), id: COMPARISON, kind: "compare", title: "groups", total: 3 };
    setTimeout(() => emit("jobChanged", done));
    return COMPARISON;
  },
  groupComparison: async (q, groups) =>
    compared?.question === q && JSON.stringify(compared.groups) === JSON.stringify(groups) ? compared : null,
  correlateQuestions: async (choice) => {
    correlated = correlate(world, choice, revision);
    const done = { ...job("finished", 3), id: CORRELATION, kind: "correlate", title: "questions", total: 3 };
    setTimeout(() => emit("jobChanged", done));
    return CORRELATION;
  },
  questionCorrelation: async (choice) =>
    correlated && JSON.stringify(correlated.choice) === JSON.stringify(choice) ? correlated : null,
  correlationPoints: async (choice, a, b) => pointsOf(world, choice, a, b),
  annotatorReport: async (q) => report(q),
  measureAnnotators: async () => 0,
  encodersHere: async () => [
    {
      name: "all-MiniLM-L6-v2",
      about: "Small and quick: 6 layers, 22 million parameters. The default.",
      in_use: true,
    },
    {
      name: "multilingual-e5-small-q4",
      about:
        "About a hundred languages: 12 layers, 118 million parameters, 4-bit weights (not the file of the model hub).",
      in_use: false,
    },
    { name: "/home/you/encoders/own", about: null, in_use: false },
  ],
  tryEncoders: async (q, names) => ({
    question: q,
    labels: 728,
    against: names[0] ?? "",
    trials: names
      .map((name, i) => ({
        name,
        log_loss: 1.006 - 0.021 * i,
        standard_error: 0.011,
        difference: -0.021 * i,
        difference_error: i === 0 ? 0 : 0.006,
        clearly_better: i > 0,
        in_use: i === 0,
      }))
      .reverse(),
  }),
  plan: async (q, request) => plan(world, q, request),
  studyDraft: async (request) => study.draft(request),
  handOut: async (request, folder, format) => study.handOut(request, folder, format),
  writePacketsAgain: async (people, folder, format) => study.writeAgain(people, folder, format),
  studyReport: async () => study.report(),
  maskSettings: async () => masks.settings(),
  setMasks: async (rules) => masks.set(rules),
  previewMasks: async (query) => masks.preview(query),
  nameCandidates: async () => masks.candidates(),
  wordsOfColumn: async (column) => masks.column(column),
  invite: async (request) => serving.invite(request),
  serving: async () => (open ? serving.info() : null),
  stopInviting: async () => {
    serving.stop();
    return null;
  },
  saveLinks: async () => serving.saveLinks(),
  history: async (request) => history(world, request),
  mergeFiles: async (files, consent) => study.merge(files, consent),
  collectFolder: async (_, folder) => study.collect(folder),
  unlockFolder: async (_, passphrase) => {
    const [locked] = study.locked;
    if (locked !== undefined && passphrase !== PASSPHRASE) throw wrongPassphrase(locked);
    return study.unlock();
  },
  whoDiffers: async (q) => whoDiffers(world, q, project().attributes),
  slips: async (q, annotator) => slips(world, q, annotator),
  trainDefaults: async (q, model, tuning) => runs.defaultsOf(q, model, tuning),
  auxiliaryCandidates: async (q, project) => runs.auxiliaryCandidates(q, project),
  startRun: async (wanted) => runs.start(wanted),
  resumeRun: async (id) => runs.resume(id),
  runs: async () => runs.list(),
  runDetail: async (id) => runs.detail(id),
  compareRuns: async (a, b) => runs.compare(a, b),
  useRun: async (id) => runs.use(id),
  activeModel: async (question) => ({
    question,
    encoder: "all-MiniLM-L6-v2/53aa51172d14/mean/256",
    pooling: "mean",
    precision: "fp32",
    run: runs.list().find((run) => run.predicts)?.id ?? null,
    tuned: runs.list().find((run) => run.predicts)?.tuning === "lora",
    model: "multilevel",
    fitted_on: 728,
    learned_since: 0,
    fitted_at: Date.now() - 6e4,
    labels: 728,
  }),
  deleteRun: async (id) => runs.delete(id),
  exportRuns: async () => null,
  startEncoding: async () => job("running", 0),
  jobs: async () => (asked.has("job") ? [job("running", 61)] : []),
  cancelJob: async (id) => {
    if (!words.cancel(id) && !runs.cancel(id)) emit("jobChanged", job("cancelled", 61));
    return null;
  },
};

/** The command, with the data of its answers remembered. */
const remembering =
  (command: (...given: never[]) => Promise<unknown>) =>
  async (...given: never[]) => {
    const answer = await command(...given);
    remember(answer);
    return answer;
  };

if (PSEUDO)
  for (const [name, command] of Object.entries(commands))
    Object.assign(commands, { [name]: remembering(command as Parameters<typeof remembering>[0]) });

function job(state: view.WorkState, done: number): view.JobInfo {
  return {
    id: 1,
    kind: "encode",
    title: "all-MiniLM-L6-v2",
    state,
    done,
    total: 160,
    seconds_left: 12,
    note: null,
    problem: null,
  };
}

function detail(
  query: view.DisagreementQuery,
  text: Text,
  groupBy: string | null,
  readingAs: number | null,
  showHidden: boolean,
): view.TextDetail {
  const q = query.question;
  const people = chosen(query);
  const rows = people.map((p) => ({ p, d: predict(question(q), text, p) }));
  const expected = (d: number[]) => d.reduce((s, x, k) => s + x * k, 0);
  const values = [...new Set(people.map((p) => (groupBy && p.attributes[groupBy]) || "not known"))];
  return {
    text: text.id,
    external_id: text.external_id,
    body: text.body,
    group: "thread-12",
    split: "train",
    metadata: [
      ["source", "town forum"],
      ["posted", "2026-03-02"],
    ],
    scores:
      people.length < 2
        ? null
        : scores(
            q,
            rows.map((r) => r.d),
          ),
    needs: people.length < 2 ? "People can differ once there are two of them, and this is one person." : null,
    annotators: rows
      .sort((a, b) => expected(a.d) - expected(b.d))
      .map(({ p, d }) => {
        const level = current(q, p.id, text.id) ?? null;
        const blind = p.id === readingAs && level === null && !showHidden;
        return {
          annotator: p.id,
          name: p.name,
          attributes: p.attributes,
          simulated: p.simulated,
          distribution: blind ? null : d,
          hidden: blind,
          expected: blind ? null : expected(d),
          observed: level === null ? null : answered(world, question(q).scale, level),
          labels: 104,
        };
      }),
    groups:
      groupBy && people.length > 1
        ? values.flatMap((value) => {
            const blind = (p: Person) =>
              p.id === readingAs && current(q, p.id, text.id) === undefined && !showHidden;
            const members = rows.filter(
              (r) => (r.p.attributes[groupBy] || "not known") === value && !blind(r.p),
            );
            if (members.length === 0) return [];
            return {
              value,
              annotators: members.length,
              distribution: mean(members.map((r) => r.d)),
              observed: null,
              labels: 0,
              gap: null,
              gap_interval: null,
              significant: false,
            };
          })
        : [],
    differences: [],
    cannot_say: 0,
    severity: null,
  };
}

function report(q: number): view.AnnotatorReport {
  return {
    question: q,
    alpha: 0.52,
    alpha_metric: question(q).scale.kind === "ordinal" ? "ordinal" : "nominal",
    map_share: 0.71,
    remark: null,
    estimation: null,
    // As after a run has tuned the encoder: `?tuned`.
    held_out_measured: true,
    held_out_note: asked.has("tuned")
      ? "112 texts are left out of the test: the encoder was tuned on their labels."
      : null,
    annotators: world.people.map((p, i) => {
      const counts = question(q).scale.levels.map(() => 0);
      for (const t of world.texts) {
        const level = current(q, p.id, t.id);
        if (level !== undefined) counts[level] = (counts[level] ?? 0) + 1;
      }
      const labels = counts.reduce((a, b) => a + b, 0);
      const few = labels < 5;
      return {
        id: p.id,
        external_id: p.external_id,
        name: p.name,
        attributes: p.attributes,
        simulated: p.simulated,
        labels,
        level_counts: counts,
        cannot_say: 0,
        alpha_without: few ? null : 0.47 + ((i * 37) % 11) / 100,
        severity: few ? null : p.severity,
        severity_sd: few ? null : 0.12 + i / 60,
        consistency: few ? null : { value: 0.8 + i / 15, interval: [0.6 + i / 15, 1.1 + i / 15], p: null },
        held_out_accuracy: few ? null : 0.55 + ((i * 13) % 17) / 100,
        baseline_accuracy: few ? null : 0.38 + ((i * 7) % 9) / 100,
        common_accuracy: few ? null : 0.36,
        held_out_distance: few || question(q).scale.kind !== "ordinal" ? null : 0.52 + i / 50,
        baseline_distance: few || question(q).scale.kind !== "ordinal" ? null : 0.78 + i / 50,
        common_distance: few || question(q).scale.kind !== "ordinal" ? null : 0.81 + i / 50,
        held_out_labels: few ? 0 : Math.round(labels * 0.3),
        agreement_with_others: few
          ? null
          : { value: 0.46 + i / 90, interval: [0.42 + i / 90, 0.5 + i / 90], p: null },
        shared_texts: labels,
        timed_labels: few ? 0 : Math.round(labels * 0.6),
        seconds_per_label: few ? null : 4.2 + i / 2,
        flags: asked.has("flags")
          ? [
              {
                kind: "one-level",
                words: "Gave 3 on all of 91 labels: of people who use it as the others do, 0.01 % would.",
              },
            ]
          : [],
        x: few ? null : p.severity * 0.6,
        y: few ? null : Math.sin(i * 2.2) * 0.5,
      };
    }),
  };
}
