// A small invented project for a plain browser and for tests: texts, people, and a toy model of their
// judgements.
import type { AnnotatorInfo, Answer, QuestionInfo, Scale, Span, TextId } from "$api/bindings";
import { idAt } from "$kinds/scale";
import { spanSet } from "$kinds/spans/spans";
import { TextUnits } from "$logic/text-units";

const OPENINGS = [
  "Honestly,",
  "Not going to lie,",
  "As someone who was there,",
  "Read the article again:",
  "To whoever wrote this,",
  "Third time this week:",
];
const MIDDLES: [string, number][] = [
  ["thank you for taking the time to explain how the new bus lanes work.", -2.4],
  ["the soup recipe needs twice the salt and half the patience.", -2.1],
  ["I think the council got this one wrong, and here is why.", -1.2],
  ["you clearly did not read past the headline.", -0.2],
  ["only a fool would pay that much for a bicycle lock.", 0.6],
  ["people who park like this should lose their licence for good.", 0.2],
  ["nobody asked for your opinion, so keep it to yourself.", 1.0],
  ["what a bunch of clowns, the whole committee.", 1.3],
  ["your cooking is an insult to everyone who owns a stove.", 0.9],
  ["go back to school before you comment on anything ever again.", 1.6],
  ["you are the reason this neighbourhood cannot have nice things.", 1.1],
  ["shut up, you pathetic little man.", 2.5],
];
const ENDINGS = ["", " Just saying.", " Am I the only one who noticed?", " 🙃", " Have a good weekend all."];

/** A question without notes, help or options. */
const plain = {
  help: { text: "", low: "", high: "" },
  definitions: [] as string[],
  cannot_say: false,
  cannot_say_answers: 0,
  note_form: { reasons: [] as string[], confidence: false },
  edits: { edits: [], labels_before: 0 },
};

export interface Text {
  id: TextId;
  external_id: string;
  body: string;
  /** How offensive, on the toy model's scale. */
  heat: number;
}

export interface Person extends AnnotatorInfo {
  severity: number;
  noise: number;
}

/** A generator of numbers in [0, 1) that gives the same ones each time (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const NAMES = ["Amara", "Bruno", "Chiara", "Dmitri", "Elif", "Farid", "Greta", "Hiro"];
const AGES = ["18–29", "30–44", "45–59", "60+"];
const ROLES = ["moderator", "reader", "reader", "author"];

export interface World {
  texts: Text[];
  people: Person[];
  /** The last imported file, while it can be removed. */
  lastImport: string | null;
  questions: QuestionInfo[];
  /** Levels by `question:annotator:text`; of a question of spans their index below. */
  labels: Map<string, number>;
  /** Sets of spans that were marked. */
  spans: Span[][];
}

export const labelKey = (question: number, annotator: number, text: TextId) =>
  `${question}:${annotator}:${text}`;

/** The invented project. */
export function makeWorld(size: number): World {
  const random = seeded(7);
  const texts = Array.from({ length: size }, (_, i): Text => {
    const [middle, heat] = MIDDLES[i % MIDDLES.length] ?? ["", 0];
    const body = `${OPENINGS[Math.floor(i / 12) % OPENINGS.length]} ${middle}${ENDINGS[i % ENDINGS.length]}`;
    return {
      id: i + 1,
      external_id: `c-${String(i + 1).padStart(4, "0")}`,
      body,
      heat: heat + (random() - 0.5),
    };
  });
  const third = texts[2];
  if (third) third.body = longText();
  const people = NAMES.map((name, i): Person => ({
    id: i + 1,
    external_id: name.toLowerCase(),
    name,
    attributes: { age: AGES[i % 4] ?? "", role: ROLES[(i * 3) % 4] ?? "" },
    simulated: true,
    imported: true,
    labels: 0,
    severity: (i - 3.5) * 0.55,
    noise: 0.7 + random() * 0.6,
  }));
  const questions: QuestionInfo[] = [
    {
      id: 1,
      name: "offensiveness",
      prompt: "How offensive is this comment?",
      scale: { kind: "ordinal", levels: ["1", "2", "3", "4", "5"] },
      options: [],
      only_if: null,
      ...plain,
      labels: 0,
      annotators_with_labels: 0,
    },
    {
      id: 2,
      name: "remove",
      prompt: "Should a moderator remove this comment?",
      scale: { kind: "binary", levels: ["keep", "remove"] },
      options: [],
      only_if: null,
      ...plain,
      labels: 0,
      annotators_with_labels: 0,
    },
    {
      id: 3,
      name: "what kind of comment this is, in one of a dozen words",
      prompt:
        "Which of these describes the tone of the comment best, if you think of it as said to a neighbour across the fence?",
      scale: {
        kind: "choice",
        levels: [
          "friendly",
          "neutral",
          "sarcastic",
          "angry",
          "mocking",
          "threatening",
          "condescending towards a group of people",
          "condescending",
          "sad",
          "Donaudampfschifffahrtsgesellschaft",
          "off-topic",
          "spam",
        ],
      },
      options: [],
      only_if: null,
      ...plain,
      labels: 0,
      annotators_with_labels: 0,
    },
  ];
  questions.push(
    withOptions({
      id: 4,
      name: "passages",
      prompt: "Which words make this comment unfriendly?",
      scale: { kind: "spans", levels: ["insult", "order or threat", "scorn"] },
      only_if: null,
      ...plain,
      labels: 0,
      annotators_with_labels: 0,
    }),
  );
  const world: World = { texts, people, lastImport: "labels.csv", questions, labels: new Map(), spans: [] };
  seedLabels(world, random);
  return world;
}

function longText(): string {
  const part =
    "I have lived on this street for thirty-one years and I have never seen a consultation handled like this one. " +
    "Nobody rang a bell, nobody put a note through the door, and then one morning there are cones. ";
  return Array.from({ length: 9 }, (_, i) => `${part}That was visit number ${i + 1}.`).join("\n\n");
}

function seedLabels(world: World, random: () => number): void {
  for (const question of world.questions) {
    for (const text of world.texts) {
      for (const person of world.people) {
        if (random() < 0.35) continue;
        if (question.scale.kind === "spans") {
          const key = labelKey(question.id, person.id, text.id);
          world.labels.set(key, world.spans.push(seedSpans(text, person, random)) - 1);
          continue;
        }
        const p = predict(question, text, person);
        let left = random();
        const level = p.findIndex((share) => (left -= share) < 0);
        world.labels.set(labelKey(question.id, person.id, text.id), Math.max(0, level));
      }
    }
  }
}

/** Words that people mark, and as what. */
const MARKED: [string, number][] = [
  ["fool", 0],
  ["bunch of clowns", 0],
  ["pathetic little man", 0],
  ["an insult to everyone", 2],
  ["go back to school", 1],
  ["shut up", 1],
  ["keep it to yourself", 1],
  ["nobody asked for your opinion", 2],
  ["did not read past the headline", 2],
  ["lose their licence", 1],
  ["you are the reason", 2],
];

/** What this person marks in a text: stricter people more, and some of them a word less. */
function seedSpans(text: Text, person: Person, random: () => number): Span[] {
  const units = new TextUnits(text.body);
  return spanSet(
    MARKED.flatMap(([words, kind]) => {
      const at = text.body.indexOf(words);
      if (at < 0 || random() > sigmoid(1.2 + person.severity)) return [];
      const from = random() < 0.3 ? units.nextWord(at) : at;
      const start = from < at + words.length ? from : at;
      const other = random() < 0.15 ? (kind + 1) % 3 : kind;
      return [{ start: units.pointOf(start), end: units.pointOf(at + words.length), kind: other }];
    }),
  );
}

/** The number for "cannot say". */
const CANNOT_SAY = -1;

/** A question with its options as yes/no questions, as the project gives it. */
export function withOptions(question: Omit<QuestionInfo, "options">): QuestionInfo {
  const { id, name, prompt, scale, ...counts } = question;
  const option = (option: string, at: number): QuestionInfo => ({
    ...counts,
    id: id + ((idAt(scale, at) ?? at) + 1) * 2 ** 25,
    name: `${name}: ${option}`,
    prompt: `${prompt} ${option}?`,
    scale: { kind: "binary", levels: ["no", "yes"] },
    options: [],
    only_if: null,
    ...plain,
  });
  const asked = scale.kind === "multi-label" || scale.kind === "spans";
  return { ...question, options: asked ? scale.levels.map(option) : [] };
}

/** An answer as a number: for a set of options the sum of powers of two, for spans an index. */
export function kept(world: World, answer: Answer): number {
  if (answer.kind === "spans") return world.spans.push(answer.value) - 1;
  if (answer.kind === "cannot-say") return CANNOT_SAY;
  if (answer.kind === "level") return answer.value;
  return answer.kind === "options" ? answer.value.reduce((sum, option) => sum + 2 ** option, 0) : 0;
}

/** The answer of such a number. */
export function answered(world: World, scale: Scale, number: number): Answer {
  if (number === CANNOT_SAY) return { kind: "cannot-say" };
  if (scale.kind === "spans") return { kind: "spans", value: world.spans[number] ?? [] };
  if (scale.kind !== "multi-label") return { kind: "level", value: number };
  return {
    kind: "options",
    value: scale.levels.map((_, at) => at).filter((at) => Math.floor(number / 2 ** at) % 2 === 1),
  };
}

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

/** A probability a level: cumulative logits around heat and severity. */
export function predict(question: QuestionInfo, text: Text, person: Person): number[] {
  const levels = question.scale.levels.length;
  const centre = (text.heat + person.severity) / person.noise;
  // Of options: how likely each is chosen.
  if (question.scale.kind === "multi-label" || question.scale.kind === "spans")
    return question.scale.levels.map((_, option) => sigmoid(centre - option / 2));
  const above = Array.from({ length: levels - 1 }, (_, k) =>
    sigmoid(centre * 1.4 - (k - (levels - 2) / 2) * 1.5),
  );
  return Array.from({ length: levels }, (_, k) => (above[k - 1] ?? 1) - (above[k] ?? 0));
}

export function mean(rows: number[][]): number[] {
  const levels = rows[0]?.length ?? 0;
  return Array.from({ length: levels }, (_, k) => rows.reduce((s, r) => s + (r[k] ?? 0), 0) / rows.length);
}

export function entropy(p: number[]): number {
  return -p.reduce((s, x) => s + (x > 0 ? x * Math.log2(x) : 0), 0);
}

/** The chance that two of these people differ. */
export function pairwise(rows: number[][]): number {
  if (rows.length < 2) return 0;
  const levels = rows[0]?.length ?? 0;
  let agree = 0;
  for (let k = 0; k < levels; k += 1) {
    const sum = rows.reduce((s, r) => s + (r[k] ?? 0), 0);
    agree += sum * sum - rows.reduce((s, r) => s + (r[k] ?? 0) ** 2, 0);
  }
  return Math.max(0, 1 - agree / (rows.length * (rows.length - 1)));
}
