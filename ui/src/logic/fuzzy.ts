// Finding by a few letters in their order: "expl" finds "Export labels".

export interface Match {
  /** Higher is nearer. */
  score: number;
  /** Places of the letters that were found, in UTF-16 units, in order. */
  at: number[];
}

/** Letters without case and marks, one for each UTF-16 unit, so that places stay where they are. */
function plain(text: string): string {
  return [...text]
    .map((letter) => {
      const bare = letter.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
      return bare.length === letter.length ? bare : letter;
    })
    .join("");
}

const isStart = (text: string, at: number) => at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1] ?? "");

/**
 * How well `text` matches the letters of `query` in order; null if it does not. Consecutive letters and
 * beginnings of words count more, a literal match most. Of equal matches the shorter text wins.
 */
export function match(query: string, text: string): Match | null {
  const wanted = plain(query.trim());
  const letters = plain(text);
  if (wanted === "") return { score: 0, at: [] };
  const whole = wholeAt(wanted, letters);
  if (whole >= 0) {
    const at = Array.from(wanted, (_, i) => whole + i);
    return {
      score: 100 + (isStart(letters, whole) ? 50 : 0) + (whole === 0 ? 25 : 0) - text.length / 20,
      at,
    };
  }
  const words = wanted.split(/\s+/).filter(Boolean);
  const each = words.map((word) => spread(word, letters));
  if (each.some((one) => one === null)) return null;
  const found = each.flatMap((one) => one ?? []);
  const at = [...new Set(found.flatMap((one) => one.at))].sort((a, b) => a - b);
  return { score: found.reduce((sum, one) => sum + one.score, 0) / words.length - text.length / 20, at };
}

/** The index of a literal match: preferably at the beginning of a word. */
function wholeAt(wanted: string, letters: string): number {
  const first = letters.indexOf(wanted);
  for (let at = first; at >= 0; at = letters.indexOf(wanted, at + 1)) if (isStart(letters, at)) return at;
  return first;
}

/** One word, letter by letter; the first of them begins a word, or nothing would be far from anything. */
function spread(word: string, letters: string): Match | null {
  let best: Match | null = null;
  for (let start = 0; start < letters.length; start++) {
    if (letters[start] !== word[0] || !isStart(letters, start)) continue;
    const found = from(start, word, letters);
    if (found && (!best || found.score > best.score)) best = found;
  }
  return best;
}

function from(start: number, word: string, letters: string): Match | null {
  const at = [start];
  let score = 10;
  for (const letter of word.slice(1)) {
    const last = at.at(-1) ?? start;
    const next = letters.indexOf(letter, last + 1);
    if (next < 0) return null;
    // The beginning of a later word is preferred over a letter far inside this one.
    const begins = wordStart(letter, letters, next);
    const place = next === last + 1 ? next : (begins ?? next);
    score += place === last + 1 ? 8 : isStart(letters, place) ? 6 : -(place - last) / 4;
    at.push(place);
  }
  return score > 0 ? { score, at } : null;
}

function wordStart(letter: string, letters: string, from: number): number | null {
  for (let at = from; at >= 0; at = letters.indexOf(letter, at + 1)) if (isStart(letters, at)) return at;
  return null;
}
