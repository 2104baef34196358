// Whatever was thrown, as a problem that can be shown.
import type { Problem } from "$lib/bindings";

/** Commands reject with a `Problem`; anything else (a framework's or our own fault) becomes one here. */
export function asProblem(thrown: unknown): Problem {
  if (isProblem(thrown)) return thrown;
  return {
    code: "unexpected",
    message: "Something went wrong inside the window; what was asked for was not done.",
    detail: thrown instanceof Error ? thrown.message : String(thrown),
  };
}

function isProblem(thrown: unknown): thrown is Problem {
  return (
    typeof thrown === "object" &&
    thrown !== null &&
    typeof (thrown as Problem).code === "string" &&
    typeof (thrown as Problem).message === "string"
  );
}
