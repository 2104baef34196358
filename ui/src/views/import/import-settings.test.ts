// Which settings of an import are shown, and how they are entered.
import { expect, it } from "vitest";
import { preview, GUESSED } from "../../mock/importing";
import { NO_COLUMNS } from "../../mock/import-tables";
import { joinColumn, shownSettings, timeEntry, valuesOf } from "./import-settings";

const found = (path: string) => preview([{ body: "a" }, { body: "b" }], path, GUESSED);

it("shows settings only if they have an effect", () => {
  const plain = shownSettings(found("/tmp/clean.csv"));
  expect(plain).toEqual({
    missing: true,
    case: false,
    comma: false,
    sets: false,
    time: false,
    conflicts: true,
    join: false,
  });
  expect(shownSettings(found("/tmp/comma.csv")).comma).toBe(true);
  expect(shownSettings(found("/tmp/several questions.csv"))).toMatchObject({ case: true, time: true });
  expect(shownSettings(found("/tmp/no texts.csv")).join).toBe(true);
  expect(Object.values(shownSettings(found("/tmp/export.json")))).not.toContain(true);
});

it("keeps showing a setting that is on", () => {
  const clean = found("/tmp/clean.csv");
  const columns = { ...clean.columns, fold_case: true, decimal_comma: true };
  expect(shownSettings({ ...clean, columns })).toMatchObject({ case: true, comma: true });
});

it("reads a list of values, each once", () => {
  expect(valuesOf(" NA, -,, NA ,99")).toEqual(["NA", "-", "99"]);
  expect(valuesOf(" ")).toEqual([]);
});

it("resolves a time format by its name, and anything else as a pattern", () => {
  expect([null, "unix", "%d %b"].map(timeEntry)).toEqual(["found-out", "unix", "pattern"]);
});

it("joins by the id of the text, or what looks like one", () => {
  expect(joinColumn({ ...NO_COLUMNS, text_id: "t" }, ["a", "t"])).toBe("t");
  expect(joinColumn(NO_COLUMNS, ["score", "comment_id"])).toBe("comment_id");
  expect(joinColumn(NO_COLUMNS, ["score"])).toBe("score");
});

it("asks for the separator of options if levels may name several", () => {
  const clean = found("/tmp/clean.csv");
  expect(shownSettings(clean).sets).toBe(false);
  const levels = (named: string[]) => (clean.scale ? { ...clean.scale, levels: named } : null);
  expect(shownSettings({ ...clean, scale: levels(["anger, fear", "joy"]) }).sets).toBe(true);
  expect(shownSettings({ ...clean, scale: levels(["1,5", "2,0"]) }).sets).toBe(false);
  const columns = { ...clean.columns, option_separator: ";" };
  expect(shownSettings({ ...clean, columns }).sets).toBe(true);
});
