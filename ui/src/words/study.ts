// A study in words: how far it is, how well people agree, what came of files.
import type {
  MergeChange,
  MergeContradiction,
  MergeEffectInfo,
  MergedFile,
  MergeReport,
  MergeSplit,
  StudyDraft,
  StudyFigure,
  StudyReport,
  StudyShare,
} from "$api/bindings";
import { confidence, dayOf, decimal, fileName, interval, percent, sentence } from "./format";
import { isolated } from "./isolated";
import { t } from "$messages/messages.svelte";

/** Minimum number of comparisons for a figure. */
const MIN_TEXTS = 5;

/** How far the study is, in one line. */
export function progressWords(report: StudyReport): string {
  const { given, wanted, texts, texts_done } = report;
  const answers = t("study.progress_answers", { given, count: wanted });
  return `${answers} · ${t("study.progress_texts", { done: texts_done, count: texts })}`;
}

/** An existing name similar to a new one; null if there is none. */
export function nearWords(share: StudyShare): string | null {
  if (share.looks_like !== null) return t("study.looks_like", { name: share.looks_like });
  return share.looks_withdrawn ? t("study.looks_withdrawn") : null;
}

/** What a figure is computed over: texts for everybody, or repeated texts. */
export type FigureOver = "anchors" | "again";

/** "95 % interval 62–79 %, over 12 texts" */
export function figureWords({ low, high, of }: StudyFigure, over: FigureOver): string {
  return t(`study.figure_${over}`, {
    confidence: confidence(),
    interval: interval([low, high]),
    count: of,
  });
}

/** "Agreement with others: 71 %, 95 % interval 62–79 %, over 12 texts" */
export function figureInWords(name: string, figure: StudyFigure, over: FigureOver): string {
  return t("study.figure_in_words", {
    figure: name,
    share: percent(figure.share),
    interval: figureWords(figure, over),
  });
}

/** What is missing to measure agreement on anchors. */
export function anchorsMissing({ anchors }: StudyReport): string {
  return anchors === 0 ? t("study.anchors_missing") : t("study.anchors_few", { count: MIN_TEXTS });
}

/** What is missing to measure self-agreement. */
export function againMissing({ people }: StudyReport): string {
  const twice = people.reduce((sum, person) => sum + person.repeated, 0);
  return twice === 0 ? t("study.again_missing") : t("study.again_few", { needed: MIN_TEXTS, count: twice });
}

/** "3.5 hours", "40 minutes". */
export function workingTime(seconds: number): string {
  if (seconds < 5400) return t("counts.minutes", { count: Math.max(1, Math.round(seconds / 60)) });
  const hours = seconds / 3600;
  return t("study.hours", { count: hours < 100 ? Math.round(hours * 10) / 10 : Math.round(hours) });
}

/** How exactly things will be known. */
export function marginWords({ margin, self_margin }: StudyDraft): string[] {
  const words: string[] = [];
  if (margin === null) words.push(t("study.margin_none"));
  if (margin !== null)
    words.push(t("study.margin", { points: decimal(margin, 1), confidence: confidence() }));
  if (self_margin !== null)
    words.push(t("study.margin_self", { points: decimal(self_margin, 0), confidence: confidence() }));
  return words;
}

/** Whose file it is, what it is and from when: "of ada, handed in 2 days ago"; empty if nothing is known. */
export function aboutFile({ annotator, kind, handed_in }: MergedFile): string {
  const parts: string[] = [];
  const isDated = kind === "hand_in" && handed_in !== null;
  if (annotator !== null) parts.push(t("study.file_of", { name: isolated(annotator) }));
  if (isDated) parts.push(t("study.file_hand_in_when", { when: dayOf(handed_in) }));
  else if (kind !== null) parts.push(t(`study.file_${kind}`));
  if (handed_in !== null && !isDated) parts.push(dayOf(handed_in));
  return parts.join(t("format.list_separator"));
}

/** "84 new", "nothing new", "not merged" */
export function mergedFileWords(file: MergedFile): string {
  if (file.refused) return t("study.file_refused");
  return file.new === 0 ? t("study.file_nothing_new") : t("study.file_new", { count: file.new });
}

/** What came of all files, in one sentence. */
export function mergeWords({ files }: MergeReport): string {
  const taken = files.filter((file) => !file.refused);
  const fresh = taken.reduce((sum, file) => sum + file.new, 0);
  const what = fresh === 0 ? t("study.nothing_new") : t("study.new_data", { count: fresh });
  const all = files.length;
  if (taken.length === 0) return all === 1 ? t("study.merged_no_file") : t("study.merged_no_files");
  if (taken.length === all)
    return all === 1 ? t("study.merged_file", { what }) : t("study.merged_all", { count: all, what });
  return t("study.merged_some", { count: taken.length, all, what });
}

/** What a watched folder has brought since the project was opened, in one line. */
export function folderWords(files: readonly MergedFile[], waiting: number): string {
  const refused = files.filter((file) => file.refused).length;
  const words: string[] = [t("study.folder_merged", { count: files.length - refused })];
  if (refused > 0) words.push(t("study.folder_refused", { count: refused }));
  if (waiting > 0) words.push(t("study.folder_waiting", { count: waiting }));
  return words.join(" · ");
}

/** Files of a folder that were refused: how many, and why. */
export function refusedWords(files: readonly MergedFile[]): [title: string, why: string] {
  const [only] = files;
  const title =
    files.length === 1 && only
      ? t("study.refused_file", { file: fileName(only.file) })
      : t("study.refused_files", { count: files.length });
  const why = (file: MergedFile) => file.problems.find(({ refused }) => refused)?.problem.message ?? "";
  const lines = files.map((file) =>
    files.length === 1
      ? sentence(why(file))
      : t("study.refused_because", { file: fileName(file.file), problem: why(file) }),
  );
  return [title, lines.join("\n")];
}

/** Files that were refused first, otherwise as they were given. */
export function refusedFirst(files: readonly MergedFile[]): MergedFile[] {
  return [...files.filter((file) => file.refused), ...files.filter((file) => !file.refused)];
}

/** Answers of one person to the same text that differ, in one line. */
export function contradictionWords({ annotator, text, question, answers }: MergeContradiction): string {
  const given = answers.map(({ answer, time, current }) => {
    const one = { answer: isolated(answer), time };
    return current ? t("study.contradiction_answer_counts", one) : t("study.contradiction_answer", one);
  });
  return t("study.contradiction", {
    person: isolated(annotator),
    text: isolated(text),
    question,
    answers: given.join(t("study.separator")),
  });
}

/** A text that is in another part of the split now. */
export function splitWords({ text, now, was }: MergeSplit): string {
  const none = t("study.split_none");
  return t("study.split_changed", { text: isolated(text), now: now ?? none, was: was ?? none });
}

/** What merging a copy would change here. */
export function changeWords({ kind, count, names }: MergeChange): string {
  const change = t(`study.change_${kind}`, { count });
  if (names.length === 0) return change;
  const named = { change, names: names.join(t("study.separator")) };
  return count > names.length ? t("study.change_named_more", named) : t("study.change_named", named);
}

/** What merging a copy would add, one line each. */
export function addedWords({ answers, new_people, texts, new_questions }: MergeEffectInfo): string[] {
  const lines: string[] = [];
  const list = (names: readonly string[]) => names.join(t("format.list_separator"));
  const all = answers.reduce((sum, one) => sum + one.answers, 0);
  const people = list(
    answers.map((one) => t("study.added_person", { name: one.annotator, answers: one.answers })),
  );
  if (all > 0) lines.push(t("study.added_answers", { count: all, people }));
  if (new_people.length > 0)
    lines.push(t("study.added_people", { count: new_people.length, names: list(new_people) }));
  if (texts > 0) lines.push(t("study.added_texts", { count: texts }));
  if (new_questions.length > 0)
    lines.push(t("study.added_questions", { count: new_questions.length, names: list(new_questions) }));
  return lines;
}
