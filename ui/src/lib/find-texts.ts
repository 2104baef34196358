// Texts that hold some words, or whose name does, for the palette.
import { commands } from "$bindings";
import type { DisagreementQuery, QuestionId, TextId } from "$lib/bindings";

export interface FoundText {
  id: TextId;
  name: string;
  snippet: string;
}

export interface Found {
  texts: FoundText[];
  /** How many there are in all. */
  total: number;
  /** Why there are none, where that is not because none fits. */
  why: string | null;
}

/**
 * The first `most` texts that hold `search`, in the order of the project. They are found by way of the ranking of a question, which has
 * texts once something was learned of it; neither its order nor a figure of it is told, as what others think of a text is not to be
 * seen by whoever looks for it.
 */
export async function findTexts(question: QuestionId, search: string, most: number): Promise<Found> {
  const query: DisagreementQuery = {
    question,
    // The one measure that needs no second person.
    by: "uncertainty",
    cut: null,
    groups: null,
    search,
    attributes: {},
    labelled_only: false,
  };
  const { texts, remark, estimation } = await commands.disagreementRanking(query);
  const first = [...texts].sort((a, b) => a - b).slice(0, most);
  const rows = first.length > 0 ? await commands.disagreementRows(query, first) : [];
  const by = new Map(rows.map((row) => [row.text, row]));
  return {
    total: texts.length,
    why: texts.length === 0 && estimation === null ? remark : null,
    texts: first.flatMap((id) => {
      const row = by.get(id);
      return row ? [{ id, name: row.external_id, snippet: row.snippet }] : [];
    }),
  };
}

/** Letters before the place that was found, so that one sees where it stands. */
const BEFORE = 24;

/** The part of a text where `search` stands, and the places of its letters in that; the beginning where it stands nowhere in sight. */
export function excerpt(snippet: string, search: string): { title: string; at: number[] } {
  const line = snippet.replace(/\s+/g, " ");
  const wanted = search.trim().replace(/\s+/g, " ");
  const found = line.toLowerCase().indexOf(wanted.toLowerCase());
  // Of a few letters lower case is longer: then places are not those of the text.
  if (found < 0 || line.toLowerCase().length !== line.length) return { title: line, at: [] };
  const from = found <= 2 * BEFORE ? 0 : line.indexOf(" ", found - BEFORE) + 1;
  const start = from === 0 || from > found ? 0 : from;
  const title = start === 0 ? line : `…${line.slice(start)}`;
  const shift = found - start + (start === 0 ? 0 : 1);
  return { title, at: Array.from(wanted, (_, i) => shift + i) };
}
