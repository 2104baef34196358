// Texts that hold some words, or whose name does, for the palette.
import { commands } from "$bindings";
import type { TextId, TextQuery } from "$api/bindings";
import { rowName } from "$words/text-list";

export interface FoundText {
  id: TextId;
  name: string;
  snippet: string;
}

export interface Found {
  texts: FoundText[];
  /** How many there are in all. */
  total: number;
}

/** The first `most` texts that hold `search`, in the order of the project, whether anything was learned or not, and without a figure of them. */
export async function findTexts(search: string, most: number): Promise<Found> {
  const query: TextQuery = {
    annotator: null,
    questions: [],
    search,
    filter: "all",
    sort: "file",
    bare: true,
  };
  const { total, rows } = await commands.findTexts(query, 0, most, null);
  return {
    total,
    texts: rows.map((row) => ({ id: row.text, name: rowName(row), snippet: row.snippet })),
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
