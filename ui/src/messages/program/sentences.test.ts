import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Sentences, type Translation } from "./sentences";

/** Cases that the command passes too (`crates/cli/src/language/tests.rs`). */
const { language, catalogue, cases } = JSON.parse(
  readFileSync("src/messages/program/cases/german.json", "utf8"),
) as { language: string; catalogue: Record<string, Translation>; cases: [string, string][] };
const german = new Sentences(catalogue, language);

describe("a sentence in another language", () => {
  it.each(cases)("%j", (english, wanted) => expect(german.translate(english)).toBe(wanted));

  it.each([
    // Names inside of sentences, also such as read like sentences.
    "/home/ana/words: no; 1 text/p.dissensus is damaged: it ends too early; go back to a copy of it, if there is one",
    'there is no text "a. It ends too early; words" in this project',
  ])("keeps the names in %j", (english) => {
    const name = /^(\/.*dissensus)|"(.*)"/.exec(english)?.slice(1).join("") ?? "?";
    expect(german.translate(english)).toContain(name);
    expect(german.translate(english)).not.toBe(english);
  });

  it("counts what is no number like many", () => {
    const arabic = new Sentences({ "{{0}} texts": { two: "نصّان", other: "{{0}} نص" } }, "ar");
    expect(arabic.translate("2 texts")).toBe("نصّان");
    expect(arabic.translate("1,234 texts")).toBe("1,234 نص");
  });

  it("stays English where most of it is unknown", () => {
    const mixed = "Nobody knows this text with its many words. It ends too early.";
    expect(german.translate(mixed)).toBe(mixed);
  });
});

describe("any text", () => {
  const all = JSON.parse(readFileSync("src/messages/program/de.json", "utf8")) as Record<string, Translation>;
  const whole = new Sentences(all, "de");

  it.each([3, 5, 8, 13, 21, 34, 55, 89, 400])("ends, with %i clauses", (count) => {
    const clauses = (of: (at: number) => string, by: string) =>
      Array.from({ length: count }, (_, at) => of(at)).join(by);
    for (const text of [
      clauses((at) => `a${at}, b and c: d (e)`, "; "),
      `it is not the model of "x" that ${clauses((at) => `a${at}, b: c`, "; ")} tells of`,
      clauses((at) => `- Copies, packets and pages ${at}: encrypted, with a passphrase; one for all.`, "\n"),
      clauses((at) => `it has ${at} texts, and words and labels`, ". "),
      `${clauses((at) => `/home/${at}, a: b`, "; ")} is damaged: it ends too early; go back to a copy of it, if there is one`,
    ])
      expect(whole.translate(text).length).toBeGreaterThan(0);
  });
});
