// Answers on scales whose levels were never rearranged, so that ids are positions.
import type { Answer, Span } from "$api/bindings";
import { spanSet } from "$kinds/spans/spans";

export const answerOf = (level: number): Answer => ({ kind: "level", value: level });

export const answerOfOptions = (options: readonly number[]): Answer => ({
  kind: "options",
  value: [...new Set(options)].sort((a, b) => a - b),
});

export const answerOfSpans = (spans: readonly Span[]): Answer => ({ kind: "spans", value: spanSet(spans) });

export const levelOf = (answer: Answer | null): number | null =>
  answer?.kind === "level" ? answer.value : null;

export const optionsOf = (answer: Answer | null): readonly number[] =>
  answer?.kind === "options" ? answer.value : [];

export const spansOf = (answer: Answer | null): readonly Span[] =>
  answer?.kind === "spans" ? answer.value : [];
