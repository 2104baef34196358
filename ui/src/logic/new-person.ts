// Whether a name that is new was meant as one: a key pressed too early looks like an answer.
import type { QuestionInfo } from "$api/bindings";

const folded = (name: string) => name.normalize("NFC").trim().toLowerCase();

/** A number, a single character, or the name of a level: likely an answer instead of a name. */
export function looksLikeAnswer(name: string, questions: readonly QuestionInfo[]): boolean {
  const wanted = folded(name);
  if (/^[\p{N}\p{P}\p{S}\s]+$/u.test(wanted)) return true;
  if ([...new Intl.Segmenter().segment(wanted)].length === 1) return true;
  return questions.some(({ scale }) => scale.levels.some((level) => folded(level) === wanted));
}
