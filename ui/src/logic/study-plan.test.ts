// @vitest-environment jsdom
// The request of a plan, its validation, and its storage.
import { beforeEach, expect, it, vi } from "vitest";
import { dropWords, routeDrop } from "./drops";
import { itemsOf } from "./lists";
import { faults, remember, remembered, USUAL, requestOf } from "./study-plan";
import { mergeWords, refusedFirst, workingTime } from "$words/study";
import type { MergedFile } from "$api/bindings";

beforeEach(() => localStorage.clear());

it("parses names separated by lines or commas, and removes duplicates between both lists", () => {
  expect(itemsOf(" Ada ,ben\n\n,  Çelik, A. \r\n")).toEqual(["Ada", "ben", "Çelik", "A."]);
  const request = requestOf({ ...USUAL, known: ["ada", "ben"], names: "ben, cleo" }, []);
  expect(request.people).toEqual(["ada", "ben", "cleo"]);
  // Duplicate names in one list may be two people: the program reports it.
  expect(requestOf({ ...USUAL, names: "ada, ada" }, []).people).toEqual(["ada", "ada"]);
});

it("numbers new people after the existing ones", () => {
  const project = [
    { external_id: "person-1", name: "person-1" },
    { external_id: "x7", name: "person-3" },
  ];
  const request = requestOf({ ...USUAL, names: "person-4", to_come: 2 }, project);
  expect(request.people).toEqual(["person-4", "person-2", "person-5"]);
});

it("sends percentages as shares, and no distance without repeats", () => {
  const request = requestOf({ ...USUAL, again: 5, again_after: 20, anchors: null, seed: null }, []);
  expect(request).toMatchObject({ repeat: 0.05, again_after: 20, anchors: 0, seed: 0, per_person: null });
  expect(requestOf({ ...USUAL, again: null, again_after: -3 }, []).again_after).toBe(0);
});

it("reports each invalid number", () => {
  expect(faults(USUAL)).toEqual({});
  const wrong = {
    ...USUAL,
    to_come: 10_001,
    per_text: 0,
    per_person: 0,
    anchors: -1,
    again: 101,
    again_after: 1.5,
  };
  expect(Object.keys(faults({ ...wrong, seed: 4_294_967_296 })).sort()).toEqual(
    ["again", "again_after", "anchors", "per_person", "per_text", "seed", "to_come"].sort(),
  );
  expect(faults({ ...USUAL, per_text: null })).toHaveProperty("per_text");
  // A field that is not shown is in nobody's way.
  expect(faults({ ...USUAL, again: 0, again_after: -1 })).toEqual({});
});

it("stores the plan by project, and ignores invalid stored plans", () => {
  expect(remembered("/a")).toBeNull();
  remember("/a", { ...USUAL, names: "ada", per_text: 2 });
  expect(remembered("/a")).toEqual({ ...USUAL, names: "ada", per_text: 2 });
  expect(remembered("/b")).toBeNull();
  localStorage.setItem("dissensus.study-plan:/c", "{");
  expect(remembered("/c")).toBeNull();
  const odd = { names: 7, known: ["ada", 3], questions: "all", per_text: "2", balance: {}, anchors: 4 };
  localStorage.setItem("dissensus.study-plan:/d", JSON.stringify(odd));
  expect(remembered("/d")).toEqual({ ...USUAL, known: ["ada"], anchors: 4 });
  vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
    throw new Error("full");
  });
  expect(() => remember("/a", USUAL)).not.toThrow();
});

it("describes working time, and the result of files", () => {
  expect(workingTime(20)).toBe("1 minute");
  expect(workingTime(3600)).toBe("60 minutes");
  expect(workingTime(12_600)).toBe("3.5 hours");
  expect(workingTime(720_000)).toBe("200 hours");
  const file = (name: string, fresh: number, refused = false): MergedFile => ({
    file: name,
    kind: "hand_in",
    annotator: "ada",
    handed_in: null,
    events: 10,
    new: fresh,
    withdrawn: 0,
    contradicted: 0,
    contradictions: [],
    texts_changed: 0,
    splits_changed: 0,
    splits: [],
    effect: null,
    asks: null,
    backup: null,
    problems: [],
    refused,
  });
  expect(mergeWords({ files: [file("a", 1)] })).toBe("The file was merged: 1 answer or change new.");
  expect(mergeWords({ files: [file("a", 0), file("b", 0)] })).toBe("All 2 files were merged: no new data.");
  expect(mergeWords({ files: [file("a", 0, true)] })).toBe("The file was not merged.");
  expect(mergeWords({ files: [file("a", 3), file("b", 0, true)] })).toBe(
    "1 of 2 files was merged: 3 answers and changes new.",
  );
  const order = refusedFirst([file("a", 1), file("b", 0, true), file("c", 1)]).map((one) => one.file);
  expect(order).toEqual(["b", "a", "c"]);
});

it("decides what to do with a dropped file, with or without a project", () => {
  expect(routeDrop([], "people-study")).toEqual({ kind: "nothing" });
  expect(routeDrop(["x.csv"], "people-study")).toEqual({ kind: "merge", files: ["x.csv"], left: [] });
  expect(routeDrop(["x.csv", "y.csv"], "label")).toEqual({ kind: "take", file: "x.csv", left: ["y.csv"] });
  expect(routeDrop(["x.csv", "a.HandIn"], null)).toEqual({
    kind: "merge",
    files: ["a.HandIn"],
    left: ["x.csv"],
  });
  expect(dropWords(["a.handin"], "models")).toContain("merge them into this project");
  expect(dropWords([], "models")).toContain("import it");
  expect(dropWords([], "people-study")).toContain("merge them into this project");
});
