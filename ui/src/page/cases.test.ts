// The rules of the page are those of the program: it answers recorded cases as the program did.
// Recordings: crates/app/tests/suite/desk_cases.rs.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import type { PageContent } from "$api/bindings";
import { CLOCK } from "./desk";
import { t } from "$messages/messages.svelte";
import { Journal, type Copy, type Storage } from "./journal";
import { memoryStorage } from "./memory-storage";
import type { NamedRecord } from "./named";
import { DESK_CODES } from "./problems";
import { Session, session } from "./session";
import { commands } from "./bindings";

vi.mock("./save-file", () => ({ giveFile: async () => "saved" }));

interface Step {
  command: string;
  arguments: unknown[];
  answer?: unknown;
  refused?: string;
}

interface Case {
  content: PageContent;
  /** What the browser has stored before. */
  stored: { copy: Copy; record: NamedRecord }[];
  steps: Step[];
  /** The names and the records of what was handed in afterwards; empty if there was practice before. */
  submission: unknown[];
}

/** What the window asks about itself: there are no rules in it. */
const WINDOW = [
  ...["appInfo", "launchInfo", "project", "annotators", "recentProjects", "jobs"],
  ...["settings", "saveSettings", "saveChoices"],
];

/** Recorded cases, or those that a simulation has drawn. */
const FOLDER = process.env["DESK_CASES"] ?? "src/page/cases";
const cases = readdirSync(FOLDER).map(
  (file) => [file, JSON.parse(readFileSync(`${FOLDER}/${file}`, "utf8")) as Case] as const,
);

async function open(content: PageContent, storage: Storage): Promise<void> {
  const copy = { id: crypto.randomUUID(), made_at_ms: CLOCK.now_ms() };
  session.current = new Session(content, await Journal.open(storage, copy));
}

async function storageOf({ stored }: Case): Promise<Storage> {
  const storage = memoryStorage();
  for (const { copy, record } of stored) await storage.append(copy, [record]);
  return storage;
}

/** Steps of a person are further apart than a millisecond, in which no rule could tell their order. */
let now = Date.now();
CLOCK.now_ms = () => now;

async function play({ command, arguments: given, answer: expected }: Step): Promise<Partial<Step>> {
  const run = (commands as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[command];
  now = Math.max(now + 10, Date.now());
  try {
    const answer: unknown = JSON.parse(JSON.stringify((await run?.(...given)) ?? null));
    return { answer: comparable(command, withoutTimes(answer), expected) };
  } catch (thrown) {
    return { refused: (thrown as { code: string }).code };
  }
}

/** An answer in the words of the program, where the page has those of the person's language. */
function comparable(command: string, answer: unknown, expected: unknown): unknown {
  // The file has another size.
  if (command === "handIn") {
    const { given, wanted } = answer as { given: number; wanted: number };
    return { given, wanted };
  }
  const named = (name: unknown, other: unknown) => {
    if (typeof other !== "string" || typeof name !== "string") return name;
    if (other === "[cannot say]") return name === t("answer.cannot_say") ? other : name;
    // Spans as JSON.
    return other.startsWith("[{") || (other === "[]" && name === t("answer.nothing")) ? other : name;
  };
  if (command === "recordPractice") {
    const [found, other] = [answer, expected] as { answer_name: string }[];
    return { ...found, answer_name: named(found?.answer_name, other?.answer_name) };
  }
  if (command === "findTexts") {
    const [found, other] = [answer, expected] as { rows: { answers: unknown[] }[] }[];
    const rows = found?.rows.map((row, at) => {
      return { ...row, answers: row.answers.map((one, i) => named(one, other?.rows[at]?.answers[i])) };
    });
    return { ...found, rows };
  }
  return answer;
}

/** Times as 0: milliseconds since 1970, and no other number is as large. */
function withoutTimes(value: unknown): unknown {
  if (typeof value === "number") return value >= 1e12 ? 0 : value;
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, withoutTimes(of)]));
}

/** JSON with the fields of each object by name. */
function stable(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stable).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, of]) => `${JSON.stringify(name)}:${stable(of)}`).join(",")}}`;
}

/** Facts have no order but their times, which may be equal. */
function ordered(lines: readonly unknown[]): unknown[] {
  const isFact = (line: unknown) => typeof line === "object" && line !== null && "fact" in line;
  const facts = lines.filter(isFact).map((line) => stable(line));
  return [...lines.filter((line) => !isFact(line)), ...facts.toSorted()];
}

/** The records that are handed in now, without the identity of sessions. */
function submitted(): unknown[] {
  const [, names, ...lines] = (session.current?.submission(CLOCK.now_ms()) ?? "").trim().split("\n");
  const named = { ...(JSON.parse(names ?? "{}") as object), copies: null };
  return ordered([named, ...lines.slice(0, -1).map((line) => JSON.parse(line) as unknown)].map(withoutTimes));
}

describe.runIf(process.env["DESK_CASES"] === undefined)("the recorded cases", () => {
  const steps = cases.flatMap(([, one]) => one.steps);

  it("have every command of the desk, with an answer", () => {
    const answered = new Set(steps.flatMap(({ command, refused }) => (refused ? [] : [command])));
    const known = Object.keys(commands).filter((command) => !WINDOW.includes(command));
    expect(known.filter((command) => !answered.has(command))).toEqual([]);
  });

  it("have everything that the desk refuses", () => {
    const refused = new Set(steps.flatMap((step) => step.refused ?? []));
    expect(DESK_CODES.filter((code) => !refused.has(code))).toEqual([]);
  });

  it.each([
    [
      "a kind of question",
      ["ordinal", "binary", "choice", "multi-label", "spans"],
      /"kind":"([a-z-]+)","levels"/g,
    ],
    ["a step of practice", ["practise", "label", "stopped"], /"step":"([a-z]+)"/g],
    ["whether checks asked to practise", ["true", "false"], /"by_checks":(true|false)/g],
    ["whether the day's limit is reached", ["true", "false"], /"reached":(true|false)/g],
    ["whether something was handed in", ["null", "0"], /"handed_in":(null|0)/g],
    [
      "a fact",
      ["form-answers", "practice-answer", "consent-given", "left-out"],
      /"fact":\{"at_ms":0,"kind":"([a-z-]+)"/g,
    ],
    ["undo in a round", ["1", "2"], /"now":(?:null|\{[^}]*\}),"occasion":(1|2)/g],
    [
      "an answer in a round",
      ["2"],
      /"answer":\{[^}]*\},"at_ms":0,(?:"guideline":0,)?"key":\[0,\d+\],"note":\{[^}]*\},"occasion":(2)/g,
    ],
    ["a round", ["1", "2"], /"occasion":(1|2),"random"/g],
  ])("have %s", (_, wanted, pattern) => {
    const texts = cases.map(([, one]) => stable(one));
    const found = new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, value]) => value)));
    expect(wanted.filter((value) => !found.has(value))).toEqual([]);
  });
});

describe.each(cases)("%s", (_, one) => {
  /** Plays the steps, of which one opens the page that was written again. */
  const playAll = async (storage: Storage, reopens: boolean) => {
    let { content } = one;
    await open(content, storage);
    for (const [at, step] of one.steps.entries()) {
      const isOpened = step.command === "openPage";
      if (isOpened) content = step.arguments[0] as PageContent;
      if (isOpened || reopens) await open(content, storage);
      if (isOpened) continue;
      const { command, arguments: given, ...expected } = step;
      const found = await play(step);
      expect({ at, command, given, ...found }).toEqual({ at, command, given, ...expected });
    }
  };

  it("is answered as the program answers it", async () => {
    await playAll(await storageOf(one), false);
    if (one.submission.length > 0) expect(submitted()).toEqual(ordered(one.submission));
  });

  it("is answered so if the page is closed and opened between any two commands", async () => {
    await playAll(await storageOf(one), true);
  });
});
