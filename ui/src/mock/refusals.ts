// Refusals of the program in its own words: refusals.test.ts finds each of them in the source.
import type { Problem } from "$api/bindings";

/** By code, and after a space which of its sentences. `{…}` is filled in order. */
export const SENTENCES = {
  "project-locked": "{path} is open already ({by}); close it there first",
  "no-project": "no project is open: open or make one first",
  "encoder-missing": 'the encoder "{name}" is not on this machine (looked in {places}): {advice}',
  unknown: "there is no {what} {name} in this project",
  "near-name":
    'nobody here is called "{name}", and "{known}" looks alike: give that name, or say that this is another person (--new-annotator)',
  "no-rows": "there are no rows to paste: copy rows of a table, or lines of text, and paste them again",
  "no-such-text": 'there is no text "{id}" in this project',
  "no-import":
    "there is no import that can be removed: a project remembers its last five imports, and none is left",
  "empty-group":
    "nobody is chosen for group {group}: name an attribute's value, such as gender=Woman, or people",
  "groups-overlap":
    "{names} {are} in both groups: nobody can be compared with themselves, so choose groups that share nobody",
  "guideline-outdated": "version {number} was written meanwhile{by}: look at it, and change that one",
  "no-question": "this project has no question yet: import labels or add a question",
  "panel-members": "name the members, or say how many to draw",
  "panel-shares of a size": "a panel of {size} cannot be drawn from {people} people: ask for at most {most}",
  "panel-shares":
    "a panel of {size} needs {needed} with {what}, and of the {people} people to draw from {found} are: lower its share or the size",
  "practice-not-there":
    '"{id}" is not a practice text of this question: `dissensus label practice` lists them',
  "model diverged":
    "the loss stopped being a number at step {step} (epoch {epoch}){kept}: choose a lower learning rate or a limit for the gradient",
  split: "this project has no texts whose split is {split}: import with --split COLUMN, or use by-text:0.7",
  "not-comparable": "these runs cannot be compared: {why}",
  "no-such-run": "there is no run {id} in this project: `dissensus models runs list` shows them",
  "no-spans": '"{name}" is not a type of spans: only answers to questions with spans mark words',
  "plan-nobody": "name the people to ask",
  "plan-twice": '"{name}" is named twice',
  "plan-impossible": "this plan is impossible: {why}",
  "plan-nothing-new": "everybody already has what this plan assigns: nothing is left to hand out",
  "no-packet": 'nothing was handed out to "{name}" yet',
  "merge-other-project": "this belongs to another project",
  "merge-cut-off":
    "this was cut off: it has {there} of {bytes} bytes; ask for it again, as a file or in an archive",
  "merge-not-ours": "this is neither a submission nor a packet nor a copy of the project",
  "merge-changes":
    "this changes data of this project: preview it with --dry-run, and agree with --yes (in the window: answer the question). A backup of the project is made first",
  "merge-new-copy":
    "this is a whole copy of the project that is not known here (it was never merged, or only as a file of an earlier version in which nothing was done since): everything that anybody did in it would be merged. If you know who worked in it, merge it with --whole-copy (in the window: answer the question)",
  cancelled: "stopped at your request; what was finished is stored",
} as const satisfies Record<string, string>;

/** What the program answers in such a case. */
export function problem(
  which: keyof typeof SENTENCES,
  given: readonly (string | number)[] = [],
  detail: string | null = null,
): Problem {
  const left = [...given];
  const message = SENTENCES[which].replaceAll(/\{\w+\}/g, () => String(left.shift() ?? ""));
  return { code: which.split(" ")[0] ?? which, message, detail };
}

/** Refuses as the program does. */
export function refuse(...why: Parameters<typeof problem>): never {
  throw problem(...why);
}
