// A study in words: how far it is, how well people agree, what came of files.
import type {
  MergeChange,
  MergeChangeKind,
  MergeEffectInfo,
  MergedFile,
  MergedKind,
  MergeReport,
  StudyDraft,
  StudyFigure,
  StudyReport,
  StudyShare,
} from "$api/bindings";
import { CONFIDENCE, count, counted, decimal, fileName, interval, sentence } from "./format";

/** Minimum number of comparisons for a figure. */
const MIN_TEXTS = 5;

/** How far the study is, in one line. */
export function progressWords(report: StudyReport): string {
  const { given, wanted, texts, texts_done } = report;
  return `${count(given)} of ${counted(wanted, "answer")} in · ${count(texts_done)} of ${counted(texts, "text")} complete`;
}

/** An existing name similar to a new one; null if there is none. */
export function nearWords(share: StudyShare): string | null {
  if (share.looks_like !== null) return `looks like “${share.looks_like}”`;
  return share.looks_withdrawn ? "looks like somebody who has withdrawn" : null;
}

/** What a figure is computed over: texts for everybody, or repeated texts. */
export type FigureOver = "anchors" | "again";

/** "95 % interval 62–79 %, over 12 texts" */
export function figureWords({ low, high, of }: StudyFigure, over: FigureOver): string {
  const what =
    over === "anchors" ? counted(of, "text") : counted(of, "answer asked again", "answers asked again");
  return `${CONFIDENCE} interval ${interval([low, high])}, over ${what}`;
}

/** What is missing to measure agreement on anchors. */
export function anchorsMissing({ anchors }: StudyReport): string {
  return anchors === 0
    ? "No text is for everybody: plan some to measure agreement."
    : `${MIN_TEXTS} texts for everybody must have answers by two or more people.`;
}

/** What is missing to measure self-agreement. */
export function againMissing({ people }: StudyReport): string {
  const twice = people.reduce((sum, person) => sum + person.repeated, 0);
  return twice === 0
    ? "No text was answered twice yet: a plan sets the number of repeated texts."
    : `${MIN_TEXTS} texts must be answered twice, ${count(twice)} ${twice === 1 ? "is" : "are"} so far.`;
}

/** "3.5 hours", "40 minutes". */
export function workingTime(seconds: number): string {
  if (seconds < 5400) return counted(Math.max(1, Math.round(seconds / 60)), "minute");
  const hours = seconds / 3600;
  return hours < 100 ? `${decimal(hours, 1)} hours` : counted(Math.round(hours), "hour");
}

/** How exactly things will be known. */
export function marginWords({ margin, self_margin }: StudyDraft): string[] {
  const words: string[] = [];
  if (margin === null)
    words.push("No text goes to two people of this study, so disagreement cannot be measured.");
  if (margin !== null)
    words.push(
      `The share of pairs of people who differ will be known to within ${decimal(margin, 1)} percentage points at worst (${CONFIDENCE}).`,
    );
  if (self_margin !== null)
    words.push(
      `How often one person repeats an answer will be known to within ${decimal(self_margin, 0)} percentage points at worst (${CONFIDENCE}).`,
    );
  return words;
}

const KINDS: Record<MergedKind, string> = {
  packet: "packet",
  hand_in: "handed in",
  copy: "copy of the project",
};

/** The kind of a file; empty if unknown. */
export function kindWords({ kind }: MergedFile): string {
  return kind === null ? "" : KINDS[kind];
}

/** "84 new", "nothing new", "not merged" */
export function mergedFileWords(file: MergedFile): string {
  if (file.refused) return "not merged";
  return file.new === 0 ? "nothing new" : `${count(file.new)} new`;
}

/** What came of all files, in one sentence. */
export function mergeWords({ files }: MergeReport): string {
  const taken = files.filter((file) => !file.refused);
  const fresh = taken.reduce((sum, file) => sum + file.new, 0);
  const what =
    fresh === 0 ? "no new data" : `${counted(fresh, "answer or change", "answers and changes")} new`;
  if (taken.length === 0)
    return files.length === 1 ? "The file was not merged." : "None of the files was merged.";
  if (taken.length === files.length)
    return files.length === 1
      ? `The file was merged: ${fresh === 0 ? "no new data" : what}.`
      : `All ${count(files.length)} files were merged: ${what}.`;
  return `${count(taken.length)} of ${counted(files.length, "file")} ${taken.length === 1 ? "was" : "were"} merged: ${what}.`;
}

/** What a watched folder has brought since the project was opened, in one line. */
export function folderWords(files: readonly MergedFile[], waiting: number): string {
  const refused = files.filter((file) => file.refused).length;
  const words = [`${counted(files.length - refused, "file")} merged`];
  if (refused > 0) words.push(`${count(refused)} not merged`);
  if (waiting > 0) words.push(`${count(waiting)} not complete yet`);
  return words.join(" · ");
}

/** Files of a folder that were refused: how many, and why. */
export function refusedWords(files: readonly MergedFile[]): [title: string, why: string] {
  const [only] = files;
  const title =
    files.length === 1 && only
      ? `${fileName(only.file)} was not merged`
      : `${counted(files.length, "file")} were not merged`;
  const why = (file: MergedFile) => file.problems.find(({ refused }) => refused)?.problem.message ?? "";
  const lines = files.map((file) =>
    files.length === 1 ? sentence(why(file)) : `${fileName(file.file)}: ${why(file)}`,
  );
  return [title, lines.join("\n")];
}

/** Files that were refused first, otherwise as they were given. */
export function refusedFirst(files: readonly MergedFile[]): MergedFile[] {
  return [...files.filter((file) => file.refused), ...files.filter((file) => !file.refused)];
}

const CHANGES: Record<MergeChangeKind, (count: number) => string> = {
  erased: (n) => `${counted(n, "person", "people")} withdrew there: all their data is erased here too`,
  withdrawn: (n) => `${counted(n, "person", "people")} withdrew there and cannot be added here any more`,
  withdrawn_traces: (n) =>
    `${counted(n, "name or packet", "names and packets")} here belong to people who withdrew`,
  answers: (n) =>
    `${counted(n, "answer")} that counts now is replaced or undone`.replace(
      "answers that counts now is",
      "answers that count now are",
    ),
  repeated_answers: (n) =>
    `${counted(n, "answer")} of later annotation rounds undone, counted again or given a note`,
  people: (n) => `Other name or attributes of ${counted(n, "person", "people")}`,
  questions: (n) => `Other text, help, levels or condition of ${counted(n, "question")}`,
  texts: (n) => `${counted(n, "text")} with another group, split or metadata`,
  guideline: (n) => `${counted(n, "version")} of the guideline: the newest is current`,
  decisions: (n) => `${counted(n, "decision")} about texts: the latest is current`,
  attention_checks: (n) => `${counted(n, "attention check")} with a right answer from there`,
  study_settings: (n) => `${counted(n, "setting")} of the study from there`,
  panels: (n) => `${counted(n, "saved panel")} from there`,
};

/** What merging a copy would change here. */
export function changeWords({ kind, count: n, names }: MergeChange): string {
  const more = n > names.length && names.length > 0 ? ", …" : "";
  return names.length === 0 ? CHANGES[kind](n) : `${CHANGES[kind](n)}: ${names.join("; ")}${more}`;
}

/** What merging a copy would add, one line each. */
export function addedWords({ answers, new_people, texts, new_questions }: MergeEffectInfo): string[] {
  const lines: string[] = [];
  const all = answers.reduce((sum, one) => sum + one.answers, 0);
  const whose = answers.map((one) => `${one.annotator} (${count(one.answers)})`);
  if (all > 0) lines.push(`${counted(all, "answer")} of ${whose.join(", ")}`);
  if (new_people.length > 0)
    lines.push(
      `${counted(new_people.length, "person", "people")} who ${new_people.length === 1 ? "is" : "are"} new here: ${new_people.join(", ")}`,
    );
  if (texts > 0) lines.push(`${counted(texts, "text")} new here`);
  if (new_questions.length > 0)
    lines.push(`${counted(new_questions.length, "question")} new here: ${new_questions.join(", ")}`);
  return lines;
}
