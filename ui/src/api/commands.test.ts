import { afterEach, expect, it, vi } from "vitest";
import { speaking, translated } from "./commands";

vi.mock("$messages/program/program", async (original) => {
  const { Sentences } = await import("$messages/program/sentences");
  const german = new Sentences(
    { "there is no text": "kein Text ist da", "is taken back": "ist zurückgenommen" },
    "de",
  );
  return {
    ...(await original<object>()),
    isTranslated: () => speaks,
    ofProgram: (text: string) => (speaks ? german.translate(text) : text),
  };
});
let speaks = true;
afterEach(() => (speaks = true));

it("translates what the program says, and nothing that people wrote", () => {
  const answer = {
    code: "x",
    message: "there is no text",
    detail: null,
    // The names of people, texts and notes.
    name: "there is no text",
    body: "there is no text",
    note: { note: "there is no text", reasons: ["there is no text"], confidence: 3 },
    problem: { code: "y", message: "There is no text.", detail: "is taken back" },
    remarks: ["there is no text", "other"],
  };
  expect(translated([answer])).toEqual([
    {
      ...answer,
      message: "kein Text ist da",
      problem: { code: "y", message: "Kein Text ist da.", detail: "ist zurückgenommen" },
      remarks: ["kein Text ist da", "other"],
    },
  ]);
});

it("translates the note of a job, and not that of an entry of the log", () => {
  const job = { title: "there is no text", state: "failed", note: "is taken back" };
  const entry = { place: "1", what: "is taken back", note: "is taken back", copy: "there is no text" };
  expect(translated({ job, entry })).toEqual({
    job: { title: "there is no text", state: "failed", note: "ist zurückgenommen" },
    entry: { place: "1", what: "ist zurückgenommen", note: "is taken back", copy: "kein Text ist da" },
  });
});

it("translates what is said about attributes", () => {
  const answer = { attributes: [{ attribute: "there is no text", gap: null, words: "there is no text" }] };
  expect(translated(answer)).toEqual({
    attributes: [{ attribute: "there is no text", gap: null, words: "kein Text ist da" }],
  });
});

it("translates answers and errors of commands", async () => {
  const refused = speaking(() => Promise.reject({ code: "x", message: "there is no text", detail: null }));
  await expect(refused()).rejects.toEqual({ code: "x", message: "kein Text ist da", detail: null });
  const answered = speaking(() => Promise.resolve({ remark: "is taken back" }));
  expect(await answered()).toEqual({ remark: "ist zurückgenommen" });
  speaks = false;
  await expect(refused()).rejects.toMatchObject({ message: "there is no text" });
});

it("leaves attributes of people and notes of a release as they are, and errors with their message", () => {
  const attributes = { title: "there is no text", notes: "is taken back" };
  const newer = { page: "https://example.org", notes: "is taken back" };
  expect(translated({ attributes, newer })).toEqual({ attributes, newer });
  const error = new Error("there is no text");
  expect(translated(error)).toBe(error);
});
