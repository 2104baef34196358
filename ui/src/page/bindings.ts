// The commands that the desk uses, for a packet that is embedded in a page. Everything else refuses.
import type { commands as RealCommands, events as RealEvents } from "$api/bindings";
import type * as view from "$api/bindings";
import type { AnnotatorId } from "$api/bindings";
import type { PacketDesk } from "./desk";
import { problem, refuse } from "./problems";
import { session, type Session } from "./session";

const packet = (): Session => session.current ?? raise();

function raise(): never {
  throw problem("not-in-a-page");
}

type Heard = (event: { payload: never }) => void;
const listeners = new Map<string, Set<Heard>>();

function emit(name: keyof typeof RealEvents, payload: unknown): void {
  listeners.get(name)?.forEach((listener) => listener({ payload: payload as never }));
}

/** What changes the packet: the window shows afterwards what there is now. */
export async function changing<T>(work: Promise<T>): Promise<T> {
  const done = await work;
  session.current?.sender?.changed();
  emit("projectChanged", []);
  return done;
}

/** The desk, for what only the person of the packet may do. */
function deskOf(annotator: AnnotatorId): PacketDesk {
  const { desk } = packet();
  desk.mayAnswer(annotator);
  return desk;
}

const desk: Partial<typeof RealCommands> = {
  appInfo: async () => packet().appInfo(),
  launchInfo: async () => null,
  project: async () => packet().project(),
  annotators: async () => [packet().content.annotator],
  recentProjects: async () => [],
  jobs: async () => [],
  settings: async () => packet().settings(),
  saveSettings: async (settings) => (await packet().saveSettings(settings), null),
  saveChoices: async (choices) => (packet().saveChoices(choices), null),

  nextText: async (_, questions, __, after) => packet().desk.nextText(questions, after),
  labelTask: async (_, question, text, occasion) => packet().desk.labelTask(question, text, occasion),
  neighbourText: async (_, question, text, step) => packet().desk.neighbourText(question, text, step),
  findTexts: async (query, offset, limit, lookFor) => packet().desk.findTexts(query, offset, limit, lookFor),
  progress: async (_, questions) => packet().desk.progress(questions),
  recordLabel: (label, details) => changing(packet().desk.recordLabel(label, details)),
  recordAgain: (label, details, occasion) => changing(packet().desk.recordAgain(label, details, occasion)),
  saveNote: async (annotator, question, text, details) => {
    await changing(deskOf(annotator).saveNote(question, text, details));
    return null;
  },
  saveDraft: async (annotator, question, text, occasion, typed) => {
    await deskOf(annotator).saveDraft(question, text, occasion, typed);
    return null;
  },
  undoLabel: async (annotator, questions) => changing(deskOf(annotator).undoLabel(questions)),
  skipText: async (annotator, questions, text) => changing(deskOf(annotator).skipText(questions, text)),
  flagText: async (annotator, question, text, on) => changing(deskOf(annotator).flagText(question, text, on)),

  practiceState: async () => packet().desk.practiceState(),
  nextPractice: async () => packet().desk.nextPractice(),
  recordPractice: (answer) => changing(packet().desk.recordPractice(answer)),
  formLeft: async () => packet().desk.formLeft(),
  answerForm: async (annotator, answers) => (await changing(deskOf(annotator).answerForm(answers)), null),
  consentLeft: async () => packet().desk.consentLeft(),
  agree: async (annotator, version) => (await changing(deskOf(annotator).agree(version)), null),
  care: async () => packet().desk.careInfo(),
  readText: async (annotator, text) => deskOf(annotator).readText(text),
  goOnToday: async (annotator) => deskOf(annotator).goOnToday(),
  setOwnCare: async (annotator, own) => changing(deskOf(annotator).setOwnCare(own)),
  textGroups: async () => [],
  openPacket: async () => packet().desk.openPacket(),
  handIn: (file) => changing(packet().handIn(file)),

  guideline: async () => packet().content.guideline,
  guidelineVersions: async () =>
    (packet().content.guideline ? [packet().content.guideline] : []) as view.GuidelineInfo[],
  picture: async (name) =>
    packet().content.pictures.find((one) => one.name === name) ?? refuse("guideline-picture"),
};

export const commands = new Proxy(desk as typeof RealCommands, {
  get: (known, name: keyof typeof RealCommands) => known[name] ?? (async () => raise()),
});

export const events = new Proxy({} as typeof RealEvents, {
  get: (_, name: string) => ({
    listen: (listener: Heard) => {
      const those = listeners.get(name) ?? new Set();
      listeners.set(name, those.add(listener));
      return Promise.resolve(() => those.delete(listener));
    },
  }),
});
