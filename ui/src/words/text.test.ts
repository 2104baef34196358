// Summaries of a text.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { DisagreementScores, GroupDifference, Scale, TextDetail } from "$api/bindings";
import { sentences } from "./text";

const scale: Scale = { kind: "ordinal", levels: ["1", "2", "3"] };
const scores = { split: 0.4, agreement: 0.1, between: 0.25 } as DisagreementScores;
const detail = (some: Partial<TextDetail>) =>
  ({
    annotators: [],
    differences: [],
    severity: null,
    groups: [],
    needs: null,
    scores,
    ...some,
  }) as unknown as TextDetail;
const group = (some: Partial<GroupDifference>): GroupDifference => ({
  attribute: "age",
  value: "60+",
  against: null,
  gap: 0.8,
  interval: [0.2, 1.4],
  labels: [3, 4],
  significant: false,
  ...some,
});

it("returns nothing for a text without labels and scores", () => {
  expect(sentences(detail({ scores: null, needs: "One person." }), scale)).toBe("");
});

it("states that no group differs clearly only if groups were compared", () => {
  const words = (differences: GroupDifference[]) => sentences(detail({ differences }), scale);
  expect(words([])).not.toContain("group");
  expect(words([group({ labels: [3, 0] })])).not.toContain("group");
  expect(words([group({})])).toContain("No group differs clearly.");
  expect(words([group({ significant: true })])).toContain("60+ answer +0.8 levels against the others.");
});

it("describes if answers follow severity, with a group or alone", () => {
  const severity = {
    strict: true,
    gap: 1.2,
    interval: [0.7, 1.7] as [number, number],
    labels: [4, 5] as [number, number],
  };
  const words = sentences(detail({ severity, differences: [group({})] }), scale);
  expect(words).toContain("The strict half of the people answers +1.2 levels against the lenient half");
  expect(words).toContain("+0.7 to +1.7; 4 and 5 labels");
  expect(words).not.toContain("No group differs clearly");
  const both = sentences(detail({ severity, differences: [group({ significant: true })] }), scale);
  expect(both).toMatch(/60\+ answer \+0.8 levels.*The strict half/);
});

it("names the split by the word of the glossary", () => {
  expect(sentences(detail({ annotators: [] }), scale)).toContain("If all 0 answered: split 0.40");
  expect(readFileSync("../docs/src/reference/glossary.md", "utf8")).toContain("| split (`split`) |");
});

it("describes differences between people on every scale", () => {
  const choice: Scale = { kind: "choice", levels: ["a", "b", "c"] };
  const words = sentences(detail({ scores: { ...scores, agreement: null } }), choice);
  expect(words).toContain("25 % of the expected spread is between people.");
  expect(words).not.toContain("strictness");
});
