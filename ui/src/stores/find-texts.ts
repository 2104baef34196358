// Texts that contain some words, or whose id does, for the palette.
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

/** The first `most` texts that contain `search`, in the order of the project, without figures. */
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

/** Characters of context before a match. */
const BEFORE = 24;

/**
 * The part of a text around a match, with the offsets of its letters in it; the beginning if there is none.
 */
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
