// Whatever was thrown, as a problem that can be shown.
import type { Problem } from "$api/bindings";

/** Commands reject with a `Problem`; anything else (a framework's or our own fault) becomes one here. */
export function asProblem(thrown: unknown): Problem {
  if (isProblem(thrown)) return inPlainWords(thrown);
  return {
    code: "unexpected",
    message: "Something went wrong inside the window; what was asked for was not done.",
    detail: thrown instanceof Error ? thrown.message : String(thrown),
  };
}

/** Nothing more can be written to the open project, and what is open can be saved as a copy. */
export const CAN_BE_SAVED = [
  "project-moved",
  "project-replaced",
  "project-removed",
  "project-journal-gone",
  "project-link-changed",
  "project-out-of-reach",
];

/** What a person at the window needs to hear first; the exact message, with paths, follows it. */
const PLAIN: Readonly<Record<string, string>> = {
  "project-locked":
    "This project is open in another window or program. Close it there first: a project is open in one place at a time, so that no label is lost.",
  "project-read-only": "This project may be read but not changed. Copy it to a folder of your own.",
  "project-folder-read-only":
    "Nothing may be written in this project's folder. Copy it to a folder of your own.",
  "project-moved":
    "This project was moved or renamed while it is open, so nothing more is written. Move it back, or close it and open it under its new name. What is open can be saved as a copy.",
  "project-replaced":
    "Another file took this project's place while it is open, so nothing more is written. A restored backup or a synchronised folder does this. Save a copy of what is open before you close it.",
  "project-removed":
    "This project's file was removed while it is open, so nothing more is written. Save a copy of what is open before you close it.",
  "project-journal-gone":
    "A file beside this project that holds the newest labels was moved or removed. Nothing more is written. Save a copy of what is open, then close the project and open it again.",
  "project-link-changed":
    "This project's path leads to another file now, because a link in it was changed, so nothing more is written. Close it and open the file that you mean by its own name.",
  "project-out-of-reach":
    "This project's file cannot be reached, so nothing is written. Look whether its disk or network folder is connected, and try again.",
  "project-not-ours": "This file is not a Dissensus project. To take texts or labels from it, import it.",
};

function inPlainWords(problem: Problem): Problem {
  const [message, ...rest] = PLAIN[problem.code]?.split(/(?<=\.) /) ?? [];
  if (!message) return problem;
  const said = [rest.join(" "), problem.message, problem.detail].filter(Boolean);
  return { code: problem.code, message, detail: said.join("\n") };
}

function isProblem(thrown: unknown): thrown is Problem {
  return (
    typeof thrown === "object" &&
    thrown !== null &&
    typeof (thrown as Problem).code === "string" &&
    typeof (thrown as Problem).message === "string"
  );
}
