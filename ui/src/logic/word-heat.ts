// The words of a text with observed and expected marks: the heat of each word, runs of equal heat, and
// explanations.
import type { AnnotatorId, WordFigure, WordHeat } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { percent } from "$words/format";
import { someNames } from "./people-lines";
import type { Stretch, TextUnits } from "./text-units";

/** What heat is of: who marked a word, who would, or whether two people differ on it. */
export type HeatBy = "marked" | "expected" | "differ";

/** The figure at which the ramp ends. Of many people half mark a word where they differ most. */
export const MAX_FIGURE: Readonly<Record<HeatBy, number>> = { marked: 1, expected: 1, differ: 0.5 };
/** Distinguishable heat steps: fewer runs, and no visible difference. */
const STEPS = 25;
const MAX_NAMES = 5;

/** A word and its UTF-16 offsets. */
export interface HeatWord extends Stretch {
  readonly figure: WordFigure;
}

/** A part of the text of one heat, from 0 to 1. */
export interface HeatRun extends Stretch {
  readonly text: string;
  readonly heat: number;
}

/** The words with their places; figures count characters. */
export function wordsIn(units: TextUnits, figures: readonly WordFigure[]): HeatWord[] {
  return figures.map((figure) => ({
    start: units.unitOf(figure.start),
    end: units.unitOf(figure.end),
    figure,
  }));
}

/** What a word has of this, as a share of 1; null where it is not known. */
function figureOf(word: WordFigure, by: HeatBy, answers: number): number | null {
  if (by === "marked") return answers > 0 ? word.marked_by.length / answers : null;
  return word[by];
}

/** How hot a word is, from 0 to 1 of the ramp. */
export function heatOf(word: WordFigure, by: HeatBy, answers: number): number {
  const share = (figureOf(word, by, answers) ?? 0) / MAX_FIGURE[by];
  return Math.round(Math.max(0, Math.min(1, share)) * STEPS) / STEPS;
}

/**
 * The text cut where its heat changes; gaps between words of equal heat belong to them. The runs cover the
 * text.
 */
export function runsOf(units: TextUnits, words: readonly HeatWord[], heats: readonly number[]): HeatRun[] {
  const parts: { start: number; heat: number }[] = [];
  const begin = (start: number, heat: number) => {
    if (parts.at(-1)?.start === start) parts.pop();
    if (parts.at(-1)?.heat !== heat) parts.push({ start, heat });
  };
  begin(0, 0);
  words.forEach((word, i) => {
    const heat = heats[i] ?? 0;
    begin(word.start, heat);
    const next = words[i + 1];
    if (!next || heats[i + 1] !== heat) begin(word.end, 0);
  });
  return parts
    .map(({ start, heat }, i) => {
      const end = parts[i + 1]?.start ?? units.length;
      return { start, end, heat, text: units.body.slice(start, end) };
    })
    .filter(({ start, end }) => start < end);
}

/** The last word that begins at or before an offset; -1 if there is none. */
export function wordUpTo(words: readonly Stretch[], offset: number): number {
  let [low, high] = [0, words.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((words[middle]?.start ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The word at an offset, or the one that ends there; null between words. */
export function wordAt(words: readonly Stretch[], offset: number): number | null {
  const at = wordUpTo(words, offset);
  const word = words[at];
  return word && offset <= word.end ? at : null;
}

/** "3 of 5 marked it: Ada, Ben, Cy; expected 40 % of 262, two of them differ with probability 41 %" */
export function wordWords(word: WordFigure, heat: WordHeat, name: (id: AnnotatorId) => string): string {
  const marked = markedWords(word.marked_by.map(name), heat.answers);
  if (heat.people === 0) return marked;
  const [expected, differ] = [percent(word.expected), percent(word.differ)];
  return t("disagreement.word_expected", { marked, expected, people: heat.people, differ });
}

function markedWords(names: readonly string[], answers: number): string {
  if (answers === 0) return t("disagreement.word_unanswered");
  if (names.length === 0) return t("disagreement.word_marked_by_none", { answers });
  const some = names.length > MAX_NAMES + 1 ? names.slice(0, MAX_NAMES) : names;
  const listed = someNames(some, names.length - some.length);
  return t("disagreement.word_marked", { count: names.length, answers, names: listed });
}

/** The legend of the colours for this text. */
export function heatWords(by: HeatBy, heat: WordHeat, filtered: boolean): string {
  if (by === "marked" && heat.answers === 0)
    return t(filtered ? "disagreement.heat_nobody_selected" : "disagreement.heat_nobody");
  return t(`disagreement.heat_share_${by}`, { count: by === "marked" ? heat.answers : heat.people });
}
