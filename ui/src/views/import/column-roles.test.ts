// Roles of several columns, and columns that look alike.
import { describe, expect, it } from "vitest";
import { NO_COLUMNS } from "../../mock/import-tables";
import { drawn, matching } from "./column-filter";
import { ColumnSelection } from "./column-selection.svelte";
import {
  needsAnnotator,
  optionSets,
  rolesOf,
  sameAnswers,
  withAnswer,
  withLists,
  withRole,
  withSetName,
} from "./columns";
import { lookAlikes } from "./look-alikes";

const base = { ...NO_COLUMNS, text_id: "id", text: "body", annotator: "who" };
const plain = { option: null, annotator: null, text: null, occasion: null, attributes: {} };

describe("roles of several columns", () => {
  it("make a question of each column of answers", () => {
    const next = withRole(base, ["Q1", "Q2"], "answers");
    expect(next.answers).toEqual([
      { ...plain, column: "Q1", question: "Q1" },
      { ...plain, column: "Q2", question: "Q2" },
    ]);
    expect(["Q1", "Q2", "id"].map((column) => rolesOf(next)(column))).toEqual([
      "answers",
      "answers",
      "text_id",
    ]);
    // Several labels are several questions.
    expect(withRole(base, ["Q1", "Q2"], "label")).toEqual(next);
  });

  it("make one question of the options of a set, named by their common part", () => {
    const next = withRole(base, ["topic_sport", "topic_war"], "option");
    expect(next.answers.map(({ question, option }) => [question, option])).toEqual([
      ["topic", "sport"],
      ["topic", "war"],
    ]);
    expect(rolesOf(next)("topic_war")).toBe("option");
    // Another one joins the set, and a new name is that of all.
    const more = withSetName(withRole(next, "topic_art", "option"), "topic", "themes");
    expect(optionSets(more)).toEqual(["themes"]);
    expect(more.answers.map(({ option }) => option)).toEqual(["sport", "war", "art"]);
    expect(withRole(more, "other", "option").answers.at(-1)).toMatchObject({
      question: "themes",
      option: "other",
    });
    // Names that share nothing, and names that begin alike by chance.
    expect(optionSets(withRole(base, ["sport", "war"], "option"))).toEqual(["options"]);
    expect(withRole(next, "topical", "option").answers.at(-1)?.option).toBe("topical");
  });

  it("make a person of a column instead of one person for all", () => {
    const next = withRole({ ...base, annotator: "=Ada" }, ["anna", "ben"], "person");
    expect(next.answers.map(({ annotator, question }) => [annotator, question])).toEqual([
      ["=anna", null],
      ["=ben", null],
    ]);
    expect([next.annotator, needsAnnotator(next), rolesOf(next)("ben")]).toEqual([null, false, "person"]);
    expect(withRole(base, "anna", "person").annotator).toBe("who");
  });

  it("turn the only label column into one of several, and back", () => {
    const one = { ...base, label: "Q1" };
    const several = withRole(one, "Q2", "answers");
    expect(several.label).toBeNull();
    expect(several.answers.map(({ column, question }) => [column, question])).toEqual([
      ["Q1", "Q1"],
      ["Q2", "Q2"],
    ]);
    expect(withRole(one, "Q2", "person").answers.map(({ annotator }) => annotator)).toEqual(["=Q1", "=Q2"]);
    const back = withRole(several, "Q2", "label");
    expect([back.label, back.answers, rolesOf(back)("Q1")]).toEqual(["Q2", [], "other"]);
  });

  it("replace the previous role", () => {
    const many = withRole(withRole(base, ["a", "b"], "answers"), "c", "attribute");
    const next = withRole(many, ["a", "c"], "ignored");
    expect([next.answers.map(({ column }) => column), next.attributes, next.ignored]).toEqual([
      ["b"],
      [],
      ["a", "c"],
    ]);
    expect(withRole(next, ["a", "c"], "other").ignored).toEqual([]);
    // A role for one column goes to the first of several, and the others stay as they are.
    const grouped = withRole(next, ["b", "c"], "group");
    expect([grouped.group, rolesOf(grouped)("b"), rolesOf(grouped)("c")]).toEqual(["b", "group", "ignored"]);
  });

  it("can be text columns, and no row has its own text then", () => {
    const texts = withRole({ ...base, text: "a", annotator: "who" }, ["l1", "l2"], "to_text");
    expect(texts.answers.map(({ column, text, question }) => [column, text, question])).toEqual([
      ["l1", "l1", null],
      ["l2", "l2", null],
    ]);
    expect([texts.text, rolesOf(texts)("l1"), needsAnnotator(texts)]).toEqual([null, "to_text", true]);
    expect(sameAnswers(texts, withAnswer(texts, "l2", { text: "another" }))).toBe(false);
  });

  it("find the annotator columns of single answer columns", () => {
    const two = withAnswer(withRole(base, ["l1", "l2"], "answers"), "l2", { annotator: "who2" });
    expect([rolesOf(two)("who2"), rolesOf(two)("l2"), needsAnnotator(two)]).toEqual([
      "annotator",
      "answers",
      true,
    ]);
    expect(withRole(two, "who2", "other").answers.at(-1)?.annotator).toBeNull();
  });

  it("keep lists if cells can be lists", () => {
    const lists = withLists({ ...base, label: "scores" }, ["scores", "who"], true);
    expect(lists.lists).toEqual(["scores", "who"]);
    expect(withRole(lists, "scores", "answers").lists).toEqual(["scores", "who"]);
    expect(withRole(lists, "scores", "ignored").lists).toEqual(["who"]);
    expect(withLists(lists, ["who"], false).lists).toEqual(["scores"]);
  });

  it("detect whether the same answers result", () => {
    expect(sameAnswers(base, { ...base, group: "thread", attribute_conflicts: "first" })).toBe(true);
    expect(sameAnswers(base, { ...base, missing: ["NA"] })).toBe(false);
    expect(sameAnswers(base, withRole(base, "a", "answers"))).toBe(false);
  });

  it("are set for thousands of columns at once", () => {
    const names = Array.from({ length: 5000 }, (_, at) => `r_${at}`);
    const next = withRole(withRole(base, names, "person"), names, "ignored");
    expect([next.answers.length, next.ignored.length]).toEqual([0, 5000]);
  });
});

describe("columns that look alike", () => {
  const of = (header: string[], column: string) => lookAlikes(header)(column);

  it("differ only in numbers", () => {
    const header = ["id", "Q1_harm", "Q1_tone", "Q2_harm", "Q10_harm"];
    expect(of(header, "Q1_harm")).toEqual(["Q1_harm", "Q2_harm", "Q10_harm"]);
  });

  it("share a prefix or suffix of three letters or more", () => {
    expect(of(["topic_war", "text", "topic_art"], "topic_art")).toEqual(["topic_war", "topic_art"]);
    // The end is shared by more than the beginning.
    const people = ["anna_label", "anna_time", "ben_label", "carl_label"];
    expect(of(people, "anna_label")).toEqual(["anna_label", "ben_label", "carl_label"]);
    expect(of(["labelAnna", "labelBen", "label"], "labelBen")).toEqual(["labelAnna", "labelBen"]);
    expect(of(["rater_id", "text_id", "text"], "text_id")).toEqual([]);
  });

  it("are none if no other column is similar", () => {
    expect(of(["comment", "score", "Q1"], "Q1")).toEqual([]);
  });
});

describe("columns of a wide table", () => {
  const header = ["id", ...Array.from({ length: 200 }, (_, at) => `Q${at}_harm`), "body"];

  it("are found by a part of their names, or by a pattern", () => {
    expect(matching(header, "q19_")).toEqual(["Q19_harm"]);
    expect(matching(header, "Q*9_harm")).toHaveLength(20);
    expect(matching(["a.b", "axb"], "a.*")).toEqual(["a.b"]);
    expect(matching(header, " ")).toHaveLength(202);
  });

  it("are rendered up to a limit, including those that must be visible", () => {
    const places = drawn(header, "", new Set(["body"]), 10);
    expect(places).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 201]);
    expect(drawn(header, "Q1_", new Set(["body"]), 10)).toEqual([2]);
  });
});

describe("a selection of columns", () => {
  const names = ["a", "b", "c", "d"];
  const fresh = () => new ColumnSelection(() => names);
  const chosen = (selection: ColumnSelection) => [...selection.chosen].sort().join("");

  it("extends from one to another, in both directions", () => {
    const selection = fresh();
    selection.press("c");
    selection.over("d");
    selection.over("a");
    expect(chosen(selection)).toBe("abc");
    selection.release();
    selection.over("d");
    expect(chosen(selection)).toBe("abc");
  });

  it("grows with Shift and Ctrl, and is cleared by pressing the only one again", () => {
    const selection = fresh();
    selection.press("a");
    selection.release();
    selection.press("c", { extend: true });
    expect(chosen(selection)).toBe("abc");
    selection.press("b", { add: true });
    expect(chosen(selection)).toBe("ac");
    selection.press("d");
    selection.release();
    selection.press("d");
    expect(chosen(selection)).toBe("");
  });

  it("follows the keys", () => {
    const selection = fresh();
    expect(selection.move("a", 1, true)).toBe(true);
    expect(selection.move("b", 1, true)).toBe(true);
    expect(chosen(selection)).toBe("abc");
    expect(selection.move("c", 1, false)).toBe(true);
    expect([selection.cursor, chosen(selection)]).toEqual(["d", "abc"]);
    expect(selection.move("d", 1, false)).toBe(false);
  });
});
