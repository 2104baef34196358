// Levels that are being edited, and lists of them as text.
import type { LevelEdit, QuestionHelp, Scale } from "$api/bindings";
import { idAt } from "$kinds/scale";

export const NO_HELP: QuestionHelp = { text: "", low: "", high: "" };

/** Levels by these names, all of them new. */
export function newLevels(names: readonly string[], definitions: readonly string[] = []): LevelEdit[] {
  return names.map((name, at) => ({ from: null, name, definition: definitions[at] ?? "" }));
}

/** Levels that a question has. */
export function levelsOf(scale: Scale, definitions: readonly string[]): LevelEdit[] {
  return newLevels(scale.levels, definitions).map((level, at) => ({ ...level, from: idAt(scale, at) }));
}

/** The levels as they are stored. */
export function trimmed(levels: readonly LevelEdit[]): LevelEdit[] {
  return levels.map(({ from, name, definition }) => ({
    from,
    name: name.trim(),
    definition: definition.trim(),
  }));
}

/**
 * Reads a list of levels, one per line, with an optional definition after a tab or a colon and space. Leading
 * bullets and numbers with a bracket are removed: "1) mild".
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

/** Inserts pasted levels at an index: replacing all levels if all are new, otherwise after the index. */
export function paste(levels: readonly LevelEdit[], at: number, pasted: readonly LevelEdit[]): LevelEdit[] {
  if (levels.every(({ from }) => from === null)) return [...pasted];
  const here = levels[at];
  const keeps = here !== undefined && (here.from !== null || here.name.trim() !== "");
  return [...levels.slice(0, keeps ? at + 1 : at), ...pasted, ...levels.slice(at + 1)];
}

/** Moves an entry of a list from one index to another. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list];
  next.splice(to, 0, ...next.splice(from, 1));
  return next;
}
