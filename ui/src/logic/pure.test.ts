// @vitest-environment jsdom
// Small rules: keys, levels, numbers in words, columns, signs, points, time.
import { describe, expect, it } from "vitest";
import { categorise } from "./categories";
import { rolesOf, rowsAreSpans, withRole } from "$views/import/columns";
import {
  count,
  dayOf,
  decimal,
  fileName,
  interval,
  percent,
  sentence,
  signed,
  timeLeft,
} from "$words/format";
import { belongsToControl } from "$stores/keys";
import {
  CANNOT_SAY,
  describe as inWords,
  answerName,
  answerOf,
  answerOfOptions,
  hasOppositePoles,
  levelColour,
  levelKey,
  levelOf,
  levelOfKey,
  optionsOf,
  sameAnswer,
  shares,
} from "$kinds/level/levels";
import { answerOfSpans, spansOf } from "$kinds/spans/spans";
import { nearest } from "./nearest";
import { asProblem } from "$words/problems";
import { NO_COLUMNS } from "../mock/import-tables";
import { VisibleTime } from "$stores/visible-time";
import type { Answer, ColumnChoices, Scale } from "$api/bindings";

const five: Scale = { kind: "ordinal", levels: ["1", "2", "3", "4", "5"] };

describe("levels", () => {
  it("are chosen by 1 to 9 and 0, never beyond the scale", () => {
    expect([0, 8, 9, 10].map((level) => levelKey(level))).toEqual(["1", "9", "0", null]);
    expect(levelOfKey("1", 5)).toBe(0);
    expect(levelOfKey("6", 5)).toBeNull();
    expect(levelOfKey("0", 10)).toBe(9);
    expect(levelOfKey("0", 9)).toBeNull();
    expect(levelOfKey("Enter", 5)).toBeNull();
    // Levels that are called by a digit have that digit.
    const severity = ["0 none", "1 mild", "2 moderate", "3 severe", "4 very severe"];
    expect(levelOfKey("4", 5, severity)).toBe(4);
    expect(levelOfKey("0", 5, severity)).toBe(0);
    expect(levelOfKey("5", 5, severity)).toBeNull();
    expect(levelOfKey("4", 5, ["1", "2", "3", "4", "5"])).toBe(3);
    expect(levelOfKey("1", 3, ["1 a", "1 b", "2 c"])).toBe(0);
    expect(levelOfKey("2", 2, ["10 low", "20 high"])).toBe(1);
  });

  it("are coloured from low over mid to high if they are ordered", () => {
    expect(levelColour(five, 0)).toBe("var(--ramp-low)");
    expect(levelColour(five, 2)).toBe("var(--ramp-mid)");
    expect(levelColour(five, 4)).toBe("var(--ramp-high)");
    expect(levelColour(five, 1)).toContain("var(--ramp-mid) 50%, var(--ramp-low)");
    const agree: Scale = { kind: "ordinal", levels: ["disagree", "neither", "agree"] };
    expect(agree.levels.map((_, level) => levelColour(agree, level))).toEqual([
      "var(--level-low)",
      "var(--level-mid)",
      "var(--level-high)",
    ]);
    expect(levelColour({ kind: "choice", levels: ["a", "b"] }, 9)).toBe("var(--cat-2)");
  });

  it("have an opposite if their names have one", () => {
    const opposite = (...levels: string[]) => hasOppositePoles({ kind: "ordinal", levels });
    expect(opposite("-2", "-1", "0", "1", "2")).toBe(true);
    expect(opposite("−1", "0", "1")).toBe(true);
    expect(opposite("bad", "neutral", "good")).toBe(true);
    expect(opposite("Strongly agree", "agree", "disagree", "Strongly disagree")).toBe(true);
    expect(opposite("no", "yes")).toBe(true);
    expect(opposite("1", "2", "3", "4", "5")).toBe(false);
    expect(opposite("0", "1", "2")).toBe(false);
    expect(opposite("not offensive", "somewhat", "very offensive")).toBe(false);
    expect(opposite("agree", "strongly agree", "fully agree")).toBe(false);
    // Where the neutral one is at an end, the others go one way from it.
    expect(opposite("neutral", "somewhat rude", "rude")).toBe(false);
  });

  it("of options have a colour each, and sets of options a name", () => {
    const options: Scale = { kind: "multi-label", levels: ["a", "b", "c"] };
    expect(options.levels.map((_, option) => levelColour(options, option))).toEqual([
      "var(--cat-1)",
      "var(--cat-2)",
      "var(--cat-3)",
    ]);
    const chosen = (...all: number[]) => answerOfOptions(all, options);
    expect(chosen(2, 0, 2)).toEqual({ kind: "options", value: [0, 2] });
    expect(answerName(options, chosen(2, 0))).toBe("a + c");
    expect(answerName(options, chosen())).toBe("none");
    expect(answerName(five, answerOf(3, five) ?? CANNOT_SAY)).toBe("4");
    expect([optionsOf(chosen(1), options), optionsOf(null, options)]).toEqual([[1], []]);
    expect([answerOf(3, five), chosen(1), null].map((one) => levelOf(one, five))).toEqual([3, null, null]);
    expect(sameAnswer(chosen(1, 0), chosen(0, 1))).toBe(true);
    expect(sameAnswer(chosen(), null)).toBe(false);
    const names = Array.from({ length: 64 }, (_, option) => `option ${option}`);
    const many: Scale = { kind: "multi-label", levels: names };
    expect(optionsOf(answerOfOptions([...names.keys()], many), many)).toHaveLength(64);
  });

  it("keep their answers after they were moved, added or removed", () => {
    const moved: Scale = { kind: "choice", levels: ["c", "new", "a"], ids: [2, 3, 0] };
    expect(answerOf(0, moved)).toEqual({ kind: "level", value: 2 });
    expect(answerOf(3, moved), "no id, although 3 is one").toBeNull();
    expect(answerOfOptions([3], { ...moved, kind: "multi-label" })).toEqual({ kind: "options", value: [] });
    expect(levelOf({ kind: "level", value: 0 }, moved)).toBe(2);
    expect(answerName(moved, { kind: "level", value: 2 })).toBe("c");
    expect(levelOf({ kind: "level", value: 1 }, moved), "a removed level").toBeNull();
    const options: Scale = { ...moved, kind: "multi-label" };
    expect(answerOfOptions([2, 0], options)).toEqual({ kind: "options", value: [0, 2] });
    expect(optionsOf({ kind: "options", value: [0, 2] }, options)).toEqual([0, 2]);
    expect(answerName(options, { kind: "options", value: [0, 2] })).toBe("c + a");
    const types: Scale = { ...moved, kind: "spans" };
    const stored: Answer = { kind: "spans", value: [{ start: 0, end: 3, kind: 2 }] };
    expect(spansOf(stored, types)).toEqual([{ start: 0, end: 3, kind: 0 }]);
    expect(answerOfSpans(spansOf(stored, types), types)).toEqual(stored);
    expect(answerName(types, stored)).toBe("c");
  });

  it("are described in words", () => {
    expect(inWords(five, [0.5, 0.46, 0.04, null, 0])).toBe("1: 50 %, 2: 46 %");
    expect(shares([1, 3])).toEqual([0.25, 0.75]);
    expect(shares([0, 0])).toBeNull();
  });
});

describe("numbers", () => {
  it("are dashes if they are unknown", () => {
    expect([percent(null), decimal(null), signed(undefined), interval([null, 1])]).toEqual([
      "–",
      "–",
      "–",
      "–",
    ]);
  });

  it("have no sign if they round to zero", () => {
    expect([decimal(-0.001), signed(-0.004), signed(0.001), signed(-0.006)]).toEqual([
      "0.00",
      "0.00",
      "0.00",
      "−0.01",
    ]);
  });

  it("are formatted with separators", () => {
    expect([count(12345), percent(0.456), decimal(-0.5), signed(0.5), interval([0.4, 0.561])]).toEqual([
      "12,345",
      "46 %",
      "−0.50",
      "+0.50",
      "40–56 %",
    ]);
    expect([timeLeft(0.2), timeLeft(61), timeLeft(4000)]).toEqual(["1 s left", "2 min left", "2 h left"]);
  });

  it("are sentences that begin with a capital, except for names and paths", () => {
    expect([
      sentence("no project is open"),
      sentence("/a/b is no file"),
      sentence("rater.csv is empty"),
    ]).toEqual(["No project is open", "/a/b is no file", "rater.csv is empty"]);
  });

  it("name the day and the file", () => {
    const noon = new Date(2026, 5, 10, 12).getTime();
    expect(dayOf(noon - 3600e3, noon)).toBe("today");
    expect(dayOf(noon - 13 * 3600e3, noon)).toBe("yesterday");
    expect([fileName("/a/b c.csv"), fileName("C:\\x\\y.csv")]).toEqual(["b c.csv", "y.csv"]);
  });
});

describe("columns", () => {
  const columns: ColumnChoices = {
    ...NO_COLUMNS,
    text_id: "id",
    text: "body",
    annotator: "who",
    label: "score",
    attributes: ["age"],
  };

  it("have one role each", () => {
    expect(["body", "age", "note"].map((c) => rolesOf(columns)(c))).toEqual(["text", "attribute", "other"]);
  });

  it("lose their old role, and take a role from the column that had it", () => {
    const next = withRole(columns, "age", "label");
    expect(next.label).toBe("age");
    expect(next.attributes).toEqual([]);
    expect(rolesOf(next)("score")).toBe("other");
    const spans = withRole(columns, "from", "span_start");
    expect([rowsAreSpans(columns), rowsAreSpans(spans), rolesOf(spans)("from")]).toEqual([
      false,
      true,
      "span_start",
    ]);
    expect(withRole(columns, "who", "attribute")).toMatchObject({
      annotator: null,
      attributes: ["age", "who"],
    });
  });
});

it("values of an attribute differ in colour and in shape; the eighth and further share one sign", () => {
  const { list, of } = categorise(["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
  expect(list).toHaveLength(8);
  expect(new Set(list.slice(0, 7).map((c) => c.colour)).size).toBe(7);
  expect(new Set(list.slice(0, 7).map((c) => c.path)).size).toBe(7);
  expect(of("h")).toBe(of("i"));
  expect(of(undefined).value).toBe("not known");
});

describe("a key is handled by the control", () => {
  const pressed = (html: HTMLElement, key: string, more: KeyboardEventInit = {}) => {
    document.body.append(html);
    let belongs = false;
    html.addEventListener("keydown", (event) => (belongs = belongsToControl(event)), { once: true });
    html.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
    html.remove();
    return belongs;
  };
  const element = (name: string, attributes: Record<string, string> = {}) => {
    const made = document.createElement(name);
    Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
    return made;
  };

  it("for a field, or an open list", () => {
    expect(pressed(element("input"), "3")).toBe(true);
    expect(pressed(element("textarea"), "u")).toBe(true);
    expect(pressed(element("button", { "aria-haspopup": "listbox", "aria-expanded": "true" }), "3")).toBe(
      true,
    );
    expect(
      pressed(element("button", { "aria-haspopup": "listbox", "aria-expanded": "false" }), "ArrowDown"),
    ).toBe(true);
  });

  it("but by the view everywhere else", () => {
    expect(pressed(element("div"), "3")).toBe(false);
    expect(pressed(element("button"), "3")).toBe(false);
    expect(pressed(element("button", { "aria-haspopup": "listbox", "aria-expanded": "false" }), "3")).toBe(
      false,
    );
    expect(pressed(element("div"), "s", { ctrlKey: true })).toBe(true);
  });
});

it("arrow keys move to the nearest point in their direction", () => {
  const points = [
    { x: 0, y: 0 },
    { x: 10, y: 1 },
    { x: 6, y: 5 },
    { x: 0, y: -5 },
  ];
  expect(nearest(points, 0, "ArrowRight")).toBe(1);
  expect(nearest(points, 0, "ArrowUp")).toBe(3);
  expect(nearest(points, 0, "ArrowLeft")).toBe(-1);
});

it("any thrown value can be shown", () => {
  const problem = { code: "busy", message: "It is open elsewhere.", detail: null };
  expect(asProblem(problem)).toBe(problem);
  expect(asProblem(new Error("boom"))).toMatchObject({ code: "unexpected", detail: "boom" });
  expect(asProblem("command x not found").detail).toBe("command x not found");
});

it("time in a hidden window is not counted", () => {
  let now = 0;
  const time = new VisibleTime(() => now);
  time.restart(true);
  now = 100;
  time.setVisible(false);
  now = 5000;
  time.setVisible(true);
  now = 5050;
  expect(time.elapsed).toBe(150);
  time.restart(false);
  now = 9000;
  expect(time.elapsed).toBe(0);
});
