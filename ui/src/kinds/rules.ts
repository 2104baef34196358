// What an answer consists of, whatever its kind. The same rules: crates/domain/src/answer.rs.
import type { Answer, LevelId, Scale } from "$api/bindings";
import { kindOf } from "./kinds";

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

/** An answer whose levels, options and types are named by keys instead of ids. */
export type KeyedAnswer =
  | { kind: "level"; value: string }
  | { kind: "options"; value: string[] }
  | { kind: "spans"; value: { start: number; end: number; kind: string }[] }
  | { kind: "cannot-say" };

/** Names the levels of an answer by `keys`, which are in the order of ids; null if one has no key. */
export function keyed(answer: Answer, keys: readonly string[]): KeyedAnswer | null {
  const key = (id: LevelId) => keys[id] ?? "";
  if (!levelsIn(answer).every((id) => keys[id] !== undefined)) return null;
  switch (answer.kind) {
    case "level":
      return { kind: "level", value: key(answer.value) };
    case "options":
      return { kind: "options", value: answer.value.map(key) };
    case "spans":
      return { kind: "spans", value: answer.value.map((span) => ({ ...span, kind: key(span.kind) })) };
    case "cannot-say":
      return answer;
  }
}

/** The answer that was {@link keyed}, by ids; null if `keys` lack one. */
export function unkeyed(answer: KeyedAnswer, keys: readonly string[]): Answer | null {
  const ids = new Map(keys.map((key, id) => [key, id]));
  const id = (key: string) => ids.get(key) ?? -1;
  switch (answer.kind) {
    case "level":
      return ids.has(answer.value) ? { kind: "level", value: id(answer.value) } : null;
    case "options": {
      const value = answer.value.map(id);
      return value.includes(-1) ? null : { kind: "options", value: value.toSorted((a, b) => a - b) };
    }
    case "spans": {
      const value = answer.value.map((span) => ({ ...span, kind: id(span.kind) }));
      return value.some(({ kind }) => kind < 0) ? null : { kind: "spans", value };
    }
    case "cannot-say":
      return answer;
  }
}

/** The keys of the levels in an answer. */
export function keysIn(answer: KeyedAnswer): readonly string[] {
  if (answer.kind === "level") return [answer.value];
  if (answer.kind === "options") return answer.value;
  return answer.kind === "spans" ? answer.value.map(({ kind }) => kind) : [];
}

/** Whether a question of this scale takes answers of this form. */
export function takes(scale: Scale, answer: Answer): boolean {
  const { form } = kindOf(scale);
  // A text without a mark is an answer already.
  return answer.kind === "cannot-say" ? form !== "spans" : form === answer.kind;
}

/** Whether everything that is marked is within a text of so many characters (Unicode code points). */
export const isWithin = (answer: Answer, characters: number): boolean =>
  answer.kind !== "spans" ||
  answer.value.every(({ start, end }) => 0 <= start && start < end && end <= characters);

/** The answer in the one form in which equal answers have equal JSON. */
export function canonical(answer: Answer): Answer {
  switch (answer.kind) {
    case "cannot-say":
      return { kind: "cannot-say" };
    case "level":
      return { kind: "level", value: answer.value };
    case "options":
      return { kind: "options", value: [...new Set(answer.value)].toSorted((a, b) => a - b) };
    case "spans": {
      const spans = answer.value.map(({ start, end, kind }) => ({ start, end, kind }));
      spans.sort((a, b) => a.start - b.start || a.end - b.end || a.kind - b.kind);
      const isNew = (span: unknown, at: number) => JSON.stringify(span) !== JSON.stringify(spans[at - 1]);
      return { kind: "spans", value: spans.filter(isNew) };
    }
  }
}

export const isSameAnswer = (a: Answer, b: Answer): boolean =>
  JSON.stringify(canonical(a)) === JSON.stringify(canonical(b));
