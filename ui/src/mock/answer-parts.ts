// What tests give to commands.
import type { LabelDetails, QuestionDraft, QuestionInfo } from "$api/bindings";
import { levelsOf } from "$kinds/level/level-list";
import { NO_NOTE } from "$logic/notes";

/** An answer without a note, a reason or a guideline. */
export const ANSWER_ALONE: LabelDetails = { note: NO_NOTE, guideline: null };

/** A question as it is, to be changed. */
export function draftOf(question: QuestionInfo): QuestionDraft {
  const { prompt, help, scale, definitions, cannot_say, only_if, note_form } = question;
  return { prompt, help, levels: levelsOf(scale, definitions), cannot_say, only_if, note_form };
}
