// The list of the texts of a packet. The same filters: crates/analysis/src/texts/find.rs.
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

/** The most characters of a text that are shown. */
const SNIPPET = 280;

export interface Listed {
  texts: readonly PageText[];
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
  const ids = questions.map(({ id }) => id);
  const row = ({ text, external_id, body }: PageText, at: number): TextRow => {
    const notes = ids.map((id) => currentNote(answers.events(id, text)));
    const left = answers.left(ids, text);
    return {
      text,
      external_id,
      named: true,
      row: at + 1,
      snippet: body.slice(0, SNIPPET),
      characters: [...body].length,
      answers: questions.map(({ id, scale }) => {
        const answer = answers.answer(id, text);
        return answer && answerName(scale, answer);
      }),
      note: notes.find(({ note }) => note !== null)?.note ?? null,
      answered: left === null,
      skipped: left === "skipped",
      flagged: ids.some((id) => answers.isFlagged(id, text)),
      noted: notes.some((note) => !isEmpty(note)),
      contested: null,
      long: false,
    };
  };
  const wanted = query.search.trim().toLowerCase();
  const all = texts.flatMap((text, at) =>
    `${text.external_id}\n${text.body}`.toLowerCase().includes(wanted) ? [row(text, at)] : [],
  );
  const is: Record<TextFilter, (row: TextRow) => boolean> = {
    all: () => true,
    answered: (one) => one.answered,
    not_yet: (one) => !one.answered,
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
  return {
    total: rows.length,
    offset,
    rows: rows.slice(offset, offset + limit),
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
