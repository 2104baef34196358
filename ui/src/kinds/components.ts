// What is shown of each form of answer; views show it without knowing the form.
// To add a form: an entry in FORMS.
import type { Component, Snippet } from "svelte";
import type { Answer, PersonSpans, QuestionHelp, Scale, Span, TextPredictions } from "$api/bindings";
import { kindOf, type QuestionKind } from "./kinds";
import LevelAnswer from "./level/LevelAnswer.svelte";
import LevelPreview from "./level/LevelPreview.svelte";
import LevelReveal from "./level/LevelReveal.svelte";
import OptionAnswer from "./multi_label/OptionAnswer.svelte";
import SpanAnswer from "./spans/SpanAnswer.svelte";
import SpanPreview from "./spans/SpanPreview.svelte";
import SpanReveal from "./spans/SpanReveal.svelte";
import type { PointedWord } from "./spans/spans";
import SpanText from "./spans/SpanText.svelte";
import type { DeskQuestion } from "$stores/desk-question.svelte";

export interface AnswerProps {
  question: DeskQuestion;
  disabled: boolean;
  /** The key that answers that no option applies. */
  noneKey: string;
  /** The button for “cannot say”, where the question has one. */
  cannotSay: Snippet;
  /** A level, or an option, was pressed. */
  onlevel: (level: number) => void;
  /** A mark was chosen in their list. */
  onspan: (span: Span) => void;
  onsnap: (on: boolean) => void;
  ongive: () => void;
}

export interface RevealProps {
  scale: Scale;
  given: Answer | null;
  reveal: TextPredictions | null;
  others: readonly PersonSpans[] | null;
  /** The type whose heat is shown in the text; null for any type. */
  kind: number | null;
  onkind: (kind: number | null) => void;
  /** The word under the pointer or at the caret. */
  pointed: PointedWord | null;
  onnext: () => void;
  /** Asks why the own prediction is what it is. */
  onwhy: () => void;
}

export interface PreviewProps {
  scale: Scale;
  definitions: readonly string[];
  help: QuestionHelp;
}

export interface TextProps {
  question: DeskQuestion;
  /** What the others marked, once it may be seen. */
  others: readonly PersonSpans[] | null;
  /** The type whose heat is shown; null for any type. */
  kind: number | null;
  /** The word under the pointer or at the caret. */
  pointed: PointedWord | null;
  /** It takes the focus once no dialog is open. */
  wanted?: boolean;
}

export type AnswerPart = { find?: () => boolean };
export type TextPart = { focus: (enter?: boolean) => void; show: (offset: number) => void };

interface FormComponents {
  /** How a question is answered, below the text. */
  answer: Component<AnswerProps, AnswerPart>;
  /** What others answered, after the answer. Its space is reserved before. */
  reveal: Component<RevealProps>;
  /** How annotators will see a question that is being written. */
  preview: Component<PreviewProps>;
  /** The text, where it is answered in the text; null where the text is plain. */
  text: Component<TextProps, TextPart, "pointed"> | null;
}

const FORMS: Record<QuestionKind["form"], FormComponents> = {
  level: { answer: LevelAnswer, reveal: LevelReveal, preview: LevelPreview, text: null },
  options: { answer: OptionAnswer, reveal: LevelReveal, preview: LevelPreview, text: null },
  spans: { answer: SpanAnswer, reveal: SpanReveal, preview: SpanPreview, text: SpanText },
};

/** What is shown of questions on a scale. */
export const componentsOf = (scale: Pick<Scale, "kind">): FormComponents => FORMS[kindOf(scale).form];
