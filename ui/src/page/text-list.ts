// The list of the texts of a packet. The same filters: crates/analysis/src/texts/find.rs.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type {
  FoundTexts,
  PageText,
  QuestionInfo,
  TextFilter,
  TextId,
  TextQuery,
  TextRow,
} from "$api/bindings";
import { answerName } from "$kinds/level/levels";
import { isEmpty } from "$logic/notes";
import type { Answers } from "./answers";
import { currentNote } from "./events";
import { refuse } from "./problems";

/** The most characters of a text that are shown, and those before the passage that was looked for. */
const [SNIPPET, BEFORE] = [280, 40];
/** The most rows that are returned at once. */
const MAX_ROWS = 500;

export interface Listed {
  /** In their order, each with its position. */
  texts: readonly (readonly [PageText, number])[];
  questions: readonly QuestionInfo[];
  answers: Answers;
}

export function findTexts(
  { texts, questions, answers }: Listed,
  query: TextQuery,
  offset: number,
  limit: number,
  lookFor: TextId | null,
): FoundTexts {
  // The program refuses them in a packet, which knows nothing about other people's answers and models.
  if (query.filter === "contested" || query.filter === "long") refuse("in-packet");
  const bare = query.bare === true && query.filter === "all" && query.sort === "file";
  const ids = questions.map(({ id }) => id);
  const search = query.search.trim();
  const wanted = folded(search);
  const row = ({ text, external_id, body }: PageText, at: number): TextRow => {
    const notes = ids.map((id) => currentNote(answers.events(id, text)));
    const words = notes.flatMap(({ note }) => note ?? []);
    const left = answers.left(ids, text);
    const state: Pick<TextRow, "answers" | "note" | "answered" | "skipped" | "flagged" | "noted"> = {
      answers: (query.bare ? [] : questions).map(({ id, scale }) => {
        const answer = answers.answer(id, text);
        return answer && answerName(scale, answer);
      }),
      note: words.length > 0 && !query.bare ? words.join(" · ") : null,
      // Not so where no question is asked.
      answered: left === null && ids.some((id) => answers.answer(id, text) !== null),
      skipped: left === "skipped",
      flagged: ids.some((id) => answers.isFlagged(id, text)),
      noted: notes.some((note) => !isEmpty(note)),
    };
    return {
      text,
      external_id,
      named: external_id !== idOf(body),
      row: at + 1,
      snippet: around(body, search),
      characters: [...body].length,
      ...(bare ? NO_STATE : state),
      contested: null,
      long: false,
    };
  };
  const all = texts.flatMap(([text, at]) =>
    folded(text.body).includes(wanted) || folded(text.external_id).includes(wanted) ? [row(text, at)] : [],
  );
  const isOpen = ({ text }: TextRow) => !bare && answers.left(ids, text) !== null;
  const is: Record<TextFilter, (row: TextRow) => boolean> = {
    all: () => true,
    answered: (one) => one.answered,
    not_yet: isOpen,
    skipped: (one) => one.skipped,
    flagged: (one) => one.flagged,
    noted: (one) => one.noted,
    contested: () => false,
    long: () => false,
  };
  const count = (filter: TextFilter) => all.filter(is[filter]).length;
  const rows = all.filter(is[query.filter]);
  if (query.sort === "longest") rows.sort((a, b) => b.characters - a.characters);
  const given = (text: TextId) => answers.given_ms(ids, text) ?? 0;
  if (query.sort === "newest") rows.sort((a, b) => given(b.text) - given(a.text));
  const place = rows.findIndex(({ text }) => text === lookFor);
  const from = Math.min(offset, rows.length);
  return {
    total: rows.length,
    offset: from,
    rows: rows.slice(from, from + Math.min(limit, MAX_ROWS)),
    counts: {
      all: all.length,
      answered: count("answered"),
      not_yet: count("not_yet"),
      skipped: count("skipped"),
      flagged: count("flagged"),
      noted: count("noted"),
      contested: null,
      long: null,
    },
    place: place < 0 ? null : place,
    revision: 0,
  };
}

/** Of a list without states. */
const NO_STATE = { answers: [], note: null, answered: false, skipped: false, flagged: false, noted: false };

/** In lower case, with one lower-case sigma: which of the two is used depends on the next letter. */
const folded = (text: string): string => text.toLowerCase().replaceAll("ς", "σ");

/** The id that a text without a name has: from its body. */
const idOf = (body: string): string => `t${bytesToHex(sha256(utf8ToBytes(body))).slice(0, 20)}`;

/** The beginning of a text, or, if what was looked for is further on, the passage from shortly before it. */
function around(body: string, search: string): string {
  const [wanted, lower] = [search.toLowerCase(), body.toLowerCase()];
  const found = wanted === "" ? -1 : lower.indexOf(wanted);
  const at = found < 0 ? 0 : [...lower.slice(0, found)].length;
  const letters = [...body];
  // A few letters are longer in lower case: then positions are not those of the text.
  if (at <= 2 * BEFORE || [...lower].length !== letters.length) return snippetOf(body);
  const from = letters.slice(at - BEFORE).join("");
  const space = from.search(/\p{White_Space}/u);
  return `…${snippetOf((space < 0 ? from : from.slice(space)).replace(/^\p{White_Space}+/u, ""))}`;
}

function snippetOf(body: string): string {
  const letters = [...body];
  if (letters.length <= SNIPPET) return body;
  return `${letters
    .slice(0, SNIPPET)
    .join("")
    .replace(/\p{White_Space}+$/u, "")}…`;
}
