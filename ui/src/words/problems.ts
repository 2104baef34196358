// Whatever was thrown, as a problem that can be shown.
import type { Problem } from "$api/bindings";

/** Commands reject with a `Problem`, whose sentence and advice are shown as they are; a fault of the window becomes one here. */
export function asProblem(thrown: unknown): Problem {
  if (isProblem(thrown)) return thrown;
  return {
    code: "unexpected",
    message: "An error occurred in the window; the action was not completed.",
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

function isProblem(thrown: unknown): thrown is Problem {
  return (
    typeof thrown === "object" &&
    thrown !== null &&
    typeof (thrown as Problem).code === "string" &&
    typeof (thrown as Problem).message === "string"
  );
}
