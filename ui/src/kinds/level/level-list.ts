// Levels that are being edited, and lists of them as text.
import type { LevelEdit, QuestionHelp, ScaleKind } from "$api/bindings";

export const NO_HELP: QuestionHelp = { text: "", low: "", high: "" };

/** What one level is called. */
export function levelWord(kind: ScaleKind): string {
  return kind === "multi-label" ? "option" : kind === "spans" ? "type" : "level";
}

/** Levels by these names, all of them new. */
export function newLevels(names: readonly string[], definitions: readonly string[] = []): LevelEdit[] {
  return names.map((name, at) => ({ from: null, name, definition: definitions[at] ?? "" }));
}

/** Levels that a question has. */
export function levelsOf(names: readonly string[], definitions: readonly string[]): LevelEdit[] {
  return newLevels(names, definitions).map((level, from) => ({ ...level, from }));
}

/** The levels as they are kept. */
export function trimmed(levels: readonly LevelEdit[]): LevelEdit[] {
  return levels.map(({ from, name, definition }) => ({
    from,
    name: name.trim(),
    definition: definition.trim(),
  }));
}

/**
 * A list of levels, one a line; behind a tab, or a colon and a space, what it means. Bullets before a name are left out, and numbers with a
 * bracket: "1) mild".
 */
export function readLevels(text: string): LevelEdit[] {
  return text
    .split(/\r\n|[\n\r]/)
    .map((line) => line.trim().replace(/^(?:[-*•–]\s+|\d+\)\s*)/, ""))
    .filter((line) => line !== "")
    .map((line) => {
      const [, name = line, definition = ""] = /^(.*?)(?:\t+|:\s+)(.*)$/.exec(line) ?? [];
      return { from: null, name: name.trim(), definition: definition.trim() };
    })
    .filter(({ name }) => name !== "");
}

/** Levels with those that were pasted at a place: instead of all where all are new, else behind that place. */
export function paste(levels: readonly LevelEdit[], at: number, pasted: readonly LevelEdit[]): LevelEdit[] {
  if (levels.every(({ from }) => from === null)) return [...pasted];
  const here = levels[at];
  const keeps = here !== undefined && (here.from !== null || here.name.trim() !== "");
  return [...levels.slice(0, keeps ? at + 1 : at), ...pasted, ...levels.slice(at + 1)];
}

/** A list with what was at one place at another. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list];
  next.splice(to, 0, ...next.splice(from, 1));
  return next;
}
