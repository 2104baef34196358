// Columns with similar names: equal except for numbers, or with a common beginning or end.

/** A beginning or an end that is shared has so many letters. */
const MIN_LETTERS = 3;
/** Where a word of a name ends: before or behind a separator, or where "aB" changes case. */
const WORD_ENDS = /(?<=[\s_\-.:/|])|(?=[\s_\-.:/|])|(?<=\p{Ll})(?=\p{Lu})/gu;

const letters = (part: string) => part.match(/\p{L}/gu)?.length ?? 0;

/** What the name has in common with those that look like it, the closest first. */
function patterns(name: string): { numbered: string | null; parts: string[] } {
  const ends = [...name.matchAll(WORD_ENDS)].map(({ index }) => index).filter((at) => at > 0);
  const beginnings = ends.map((at) => name.slice(0, at)).filter((part) => letters(part) >= MIN_LETTERS);
  const endings = ends.map((at) => name.slice(at)).filter((part) => letters(part) >= MIN_LETTERS);
  return {
    numbered: /\d/.test(name) ? name.replace(/\d+/g, "#") : null,
    parts: [...beginnings.map((part) => `${part}…`), ...endings.map((part) => `…${part}`)],
  };
}

/**
 * The columns similar to a column, including itself, in file order; empty if there are none. Names that
 * differ only in numbers come first, then the most common beginning or end.
 */
export function lookAlikes(header: readonly string[]): (column: string) => readonly string[] {
  const groups = new Map<string, string[]>();
  const put = (key: string, name: string) => {
    const group = groups.get(key);
    if (group) group.push(name);
    else groups.set(key, [name]);
  };
  for (const name of new Set(header)) {
    const { numbered, parts } = patterns(name);
    if (numbered !== null) put(`#${numbered}`, name);
    for (const part of new Set(parts)) put(part, name);
  }
  return (column) => {
    const { numbered, parts } = patterns(column);
    const byNumber = numbered === null ? [] : (groups.get(`#${numbered}`) ?? []);
    if (byNumber.length > 1) return byNumber;
    const most = parts
      .map((part) => groups.get(part) ?? [])
      .reduce<string[]>((best, group) => (group.length > best.length ? group : best), []);
    return most.length > 1 ? most : [];
  };
}
