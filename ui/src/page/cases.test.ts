// The rules of the page are those of the program: it answers recorded cases as the program did.
// Recordings: crates/app/tests/suite/desk_cases.rs.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { PageContent } from "$api/bindings";
import { CLOCK } from "./desk";
import { Journal, type Storage } from "./journal";
import { memoryStorage } from "./memory-storage";
import { Session, session } from "./session";
import { commands } from "./bindings";

interface Step {
  command: string;
  arguments: unknown[];
  answer?: unknown;
  refused?: string;
}

interface Case {
  content: PageContent;
  steps: Step[];
  /** The names and the records of what was handed in afterwards, without times. */
  submission: unknown[];
}

/** Recorded cases, or those that a simulation has drawn. */
const FOLDER = process.env["DESK_CASES"] ?? "src/page/cases";
const cases = readdirSync(FOLDER).map(
  (file) => [file, JSON.parse(readFileSync(`${FOLDER}/${file}`, "utf8")) as Case] as const,
);

async function open(content: PageContent, storage: Storage): Promise<void> {
  const copy = { id: crypto.randomUUID(), made_at_ms: CLOCK.now_ms() };
  session.current = new Session(content, await Journal.open(storage, copy));
}

async function play({ command, arguments: given }: Step): Promise<Pick<Step, "answer" | "refused">> {
  const run = (commands as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>)[command];
  try {
    const answer: unknown = JSON.parse(JSON.stringify((await run?.(...given)) ?? null));
    return { answer };
  } catch (thrown) {
    return { refused: (thrown as { code: string }).code };
  }
}

function withoutTimes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTimes);
  if (typeof value !== "object" || value === null) return value;
  const isTime = (name: string) => ["at_ms", "made_at_ms", "copies"].includes(name);
  const fields = Object.entries(value).map(([name, of]) => [name, isTime(name) ? null : withoutTimes(of)]);
  return Object.fromEntries(fields);
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

it("has cases", () => {
  expect(cases.length).toBeGreaterThanOrEqual(6);
});

describe.each(cases)("%s", (_, { content, steps, submission }) => {
  it("is answered as the program answers it", async () => {
    await open(content, memoryStorage());
    for (const [at, step] of steps.entries()) {
      const { command, arguments: given, ...expected } = step;
      const found = await play(step);
      expect({ at, command, given, ...found }).toEqual({ at, command, given, ...expected });
    }
    const [, ...lines] = (session.current?.submission(CLOCK.now_ms()) ?? "").trim().split("\n");
    expect(ordered(lines.slice(0, -1).map((line) => withoutTimes(JSON.parse(line))))).toEqual(
      ordered(submission),
    );
  });

  it("is answered so if the page is closed and opened between any two commands", async () => {
    const storage = memoryStorage();
    for (const [at, step] of steps.entries()) {
      await open(content, storage);
      const { command, arguments: given, ...expected } = step;
      const found = await play(step);
      expect({ at, command, given, ...found }).toEqual({ at, command, given, ...expected });
    }
  });
});
