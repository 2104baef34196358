// Refusals of the program in its own words: tests/tests/refusals.rs finds each of them in the source.
import type { Problem } from "$api/bindings";
/** By code, and after a space which of its sentences. `{…}` is filled in order. */
import SENTENCES from "./refusals.json";

/** What the program answers in such a case. */
export function problem(
  which: keyof typeof SENTENCES,
  given: readonly (string | number)[] = [],
  detail: string | null = null,
): Problem {
  const left = [...given];
  const message = SENTENCES[which].replaceAll(/\{\w*\}/g, () => String(left.shift() ?? ""));
  return { code: which.split(" ")[0] ?? which, message, detail };
}

/** Refuses as the program does. */
export function refuse(...why: Parameters<typeof problem>): never {
  throw problem(...why);
}
