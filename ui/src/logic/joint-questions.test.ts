// Which questions can be learned together, and what choosing one does.
import { expect, it } from "vitest";
import type { QuestionInfo } from "$api/bindings";
import { offered, stillThere, withQuestion, wordsOf } from "./joint-questions";

function question(id: number, name: string, labels: number, options: string[] = []): QuestionInfo {
  const kind = options.length > 0 ? "multi-label" : "binary";
  const scale = { kind, levels: options.length > 0 ? options : ["no", "yes"] } as QuestionInfo["scale"];
  const note_form = { reasons: [], confidence: false };
  const edits = { edits: [], labels_before: 0 };
  const common = {
    prompt: "",
    help: { text: "", low: "", high: "" },
    definitions: [],
    edits,
    cannot_say: false,
    cannot_say_answers: 0,
  };
  const counts = { ...common, only_if: null, note_form, labels, annotators_with_labels: 1 };
  const option = (of: string, at: number): QuestionInfo => ({
    ...counts,
    id: 100 * id + at,
    name: `${name}: ${of}`,
    scale: { kind: "binary", levels: ["no", "yes"] },
    options: [],
  });
  return { ...counts, id, name, scale, options: options.map(option) };
}

const QUESTIONS = [question(1, "rude", 5), question(2, "mood", 5, ["joy", "anger"]), question(3, "new", 0)];
const ids = (joint: readonly { question: number }[]) => joint.map((one) => one.question);

it("offers other questions with labels, and whole questions instead of options", () => {
  expect(offered(QUESTIONS, 1).map((one) => one.name)).toEqual(["mood (all 2 options)"]);
  expect(offered(QUESTIONS, 201).map((one) => one.name)).toEqual(["rude", "mood, all 2 options"]);
});

it("lists the run's own question first, no list for it alone, and a whole question in place of its option", () => {
  const two = withQuestion(QUESTIONS, 1, [], 2);
  expect(two).toEqual([
    { question: 1, weight: 1 },
    { question: 2, weight: 1 },
  ]);
  expect(withQuestion(QUESTIONS, 1, two, 2)).toEqual([]);
  const whole = withQuestion(QUESTIONS, 201, [], 2);
  expect(ids(whole)).toEqual([2]);
  expect(ids(withQuestion(QUESTIONS, 201, whole, 1))).toEqual([1, 2]);
  expect(ids(withQuestion(QUESTIONS, 201, whole, 2))).toEqual([]);
  const weighed = [
    { question: 1, weight: 2 },
    { question: 2, weight: 3 },
  ];
  expect(withQuestion(QUESTIONS, 1, weighed, 3).slice(0, 2)).toEqual(weighed);
});

it("drops questions that no longer have labels", () => {
  const before = [1, 2, 3].map((id) => ({ question: id, weight: 1 }));
  expect(ids(stillThere(QUESTIONS, 1, before))).toEqual([1, 2]);
  expect(stillThere(QUESTIONS.slice(0, 1), 1, before)).toEqual([]);
});

it("lists the questions whose words are learned too", () => {
  const where = question(4, "where", 5, ["insult", "praise"]);
  where.scale = { ...where.scale, kind: "spans" };
  const all = [...QUESTIONS, where];
  const joint = [4, 2].map((id) => ({ question: id, weight: 1 }));
  const names = (more: object) =>
    wordsOf(all, { question: 1, model: "multilevel", tuning: "full", joint, ...more }).map((one) => one.name);
  expect(names({})).toEqual(["where"]);
  expect(names({ model: "sep-heads" })).toEqual([]);
  expect(names({ tuning: "frozen" })).toEqual([]);
  expect(names({ tuning: "prompt" })).toEqual([]);
  // One type alone, or another question.
  expect(names({ question: 400, joint: [] })).toEqual([]);
  expect(names({ joint: [] })).toEqual([]);
  where.options.length = 1;
  expect(names({ question: 400, joint: [] })).toEqual(["where"]);
});
