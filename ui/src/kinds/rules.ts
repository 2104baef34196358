// What an answer consists of, whatever its kind. The same rules: crates/domain/src/answer.rs.
import type { Answer, LevelId, Scale } from "$api/bindings";
import { kindOf, type QuestionKind } from "./kinds";

/** The levels, options or types that an answer contains. */
export function levelsIn(answer: Answer): readonly LevelId[] {
  switch (answer.kind) {
    case "level":
      return [answer.value];
    case "options":
      return answer.value;
    case "spans":
      return answer.value.map(({ kind }) => kind);
    case "cannot-say":
      return [];
  }
}

/** Whether an answer contains a level, option or type. */
export const includes = (answer: Answer, level: LevelId): boolean => levelsIn(answer).includes(level);

/** Whether a question of this scale takes answers of this form. */
export function takes(scale: Scale, answer: Answer): boolean {
  const form: QuestionKind["form"] = answer.kind === "cannot-say" ? "level" : answer.kind;
  return kindOf(scale).form === form;
}

/** Whether everything that is marked lies in a text of so many characters (Unicode code points). */
export const isWithin = (answer: Answer, characters: number): boolean =>
  answer.kind !== "spans" ||
  answer.value.every(({ start, end }) => 0 <= start && start < end && end <= characters);
