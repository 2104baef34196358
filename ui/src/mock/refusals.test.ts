// The invented project refuses in the program's own words.
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { problem, SENTENCES } from "./refusals";

const PLACEHOLDER = /\{[^{}]*\}/g;

/** Messages and codes in the program's source, with `{}` for placeholders. */
const sentences = new Set(
  readdirSync("../crates", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".rs"))
    .flatMap((name) => [...readFileSync(`../crates/${name}`, "utf8").matchAll(/"((?:[^"\\]|\\[^])*)"/g)])
    .map(([, text = ""]) =>
      text
        .replaceAll(/\\\r?\n\s*/g, "")
        .replaceAll('\\"', '"')
        .replaceAll(PLACEHOLDER, "{}"),
    ),
);

it("finds the error messages of the program", () => expect(sentences.size).toBeGreaterThan(500));

it.each(Object.entries(SENTENCES))("%s is a sentence of the program", (which, sentence) => {
  expect(sentences).toContain(sentence.replaceAll(PLACEHOLDER, "{}"));
  expect(sentences).toContain(which.split(" ")[0]);
});

it("fills placeholders in order", () => {
  expect(problem("project-locked", ["/a/S.dissensus", "dissensus-window, process 7"])).toEqual({
    code: "project-locked",
    message: "/a/S.dissensus is open already (dissensus-window, process 7); close it there first",
    detail: null,
  });
});
