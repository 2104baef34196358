// Whatever was thrown, as a problem that can be shown.
import type { Problem } from "$lib/bindings";

/** Commands reject with a `Problem`; anything else (a framework's or our own fault) becomes one here. */
export function asProblem(thrown: unknown): Problem {
  if (isProblem(thrown)) return inPlainWords(thrown);
  return {
    code: "unexpected",
    message: "Something went wrong inside the window; what was asked for was not done.",
    detail: thrown instanceof Error ? thrown.message : String(thrown),
  };
}

/** What a person at the window needs to hear first; the exact message, with paths, follows it. */
const PLAIN: Readonly<Record<string, string>> = {
  "project-locked":
    "This project is open in another window or program. Close it there first: a project is open in one place at a time, so that no label is lost.",
  "project-read-only": "This project may be read but not changed. Copy it to a folder of your own.",
  "project-folder-read-only":
    "Nothing may be written in this project's folder. Copy it to a folder of your own.",
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
