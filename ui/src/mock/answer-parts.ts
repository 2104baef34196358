// What tests give to commands.
import type { LabelDetails, LevelEdit, QuestionDraft, QuestionInfo } from "$api/bindings";
import { levelsOf } from "$kinds/level/level-list";
import { NO_NOTE } from "$logic/notes";

/** An answer without a note, a reason or a guideline. */
export const ANSWER_ALONE: LabelDetails = { note: NO_NOTE, guideline: null };

/** A question as it is, to be changed. */
export function draftOf(question: QuestionInfo): QuestionDraft & { levels: LevelEdit[] } {
  const { prompt, help, scale, definitions, cannot_say, only_if, note_form } = question;
  const levels = levelsOf(scale, definitions);
  return { prompt, help, levels, levels_before: null, cannot_say, only_if, note_form };
}
