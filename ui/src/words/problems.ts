// Whatever was thrown, as a problem that can be shown.
import type { Problem } from "$api/bindings";
import { t } from "$messages/messages.svelte";

/** Converts errors: a `Problem` of a command is shown as it is; an error of the window becomes one here. */
export function asProblem(thrown: unknown): Problem {
  if (isProblem(thrown)) return thrown;
  return {
    code: "unexpected",
    message: t("shell.unexpected_problem"),
    detail: thrown instanceof Error ? thrown.message : String(thrown),
  };
}

/** Codes of problems after which the open project cannot be written and can be saved as a copy. */
export const CAN_BE_SAVED = [
  "project-moved",
  "project-replaced",
  "project-removed",
  "project-journal-gone",
  "project-link-changed",
  "project-out-of-reach",
];

/** Codes of problems that a newer version of the application solves. */
export const NEEDS_NEWER = ["project-newer", "merge-newer"];

export function isProblem(thrown: unknown): thrown is Problem {
  return (
    typeof thrown === "object" &&
    thrown !== null &&
    typeof (thrown as Problem).code === "string" &&
    typeof (thrown as Problem).message === "string"
  );
}
