import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Sentences, type Translation } from "./sentences";

const german = new Sentences(
  {
    'there is no text "{{0}}" in this project': "Dieses Projekt hat keinen Text „{{0}}“",
    "{{path}} is damaged: {{detail}}; go back to a copy of it, if there is one":
      "{{path}} ist beschädigt: {{detail}}; nimm eine Kopie davon, falls es eine gibt",
    "it ends too early": "sie endet zu früh",
    "1 text": "1 Text",
    "{{0}} texts": { one: "{{0}} Text", other: "{{0}} Texte" },
    "on {{0}} that both labelled": "bei {{0}}, die beide beurteilt haben",
    "{{higher}} answers {{size}} levels higher than {{other}} on average (95 %: {{ends}}; {{p}}), {{on}}.":
      "{{on}} antwortet {{higher}} im Mittel {{size}} Stufen höher als {{other}} (95 %: {{ends}}; {{p}}).",
    "{{name}}: no longer": "{{name}}: nicht mehr",
    words: "Wörter",
    "others' labels": "Labels anderer",
    "{{names}} point to {{towards}}": "{{names}} sprechen für {{towards}}",
    "a high level": "eine hohe Stufe",
    "{{0}} levels": "{{0}} Stufen",
    "{{path}} was moved{{to}}{{also}}; {{back}}": "{{path}} wurde verschoben{{to}}{{also}}; {{back}}",
    "(it is now {{0}})": "(jetzt {{0}})",
    ", and another file has its name now": ", und eine andere Datei heißt jetzt so",
    "put it back": "leg sie zurück",
  },
  "de",
);

describe("a sentence in another language", () => {
  it.each([
    ['there is no text "a b" in this project', "Dieses Projekt hat keinen Text „a b“"],
    [
      'there is no text "it ends too early" in this project',
      "Dieses Projekt hat keinen Text „it ends too early“",
    ],
    ["It ends too early.", "Sie endet zu früh."],
    [
      "a.csv is damaged: it ends too early; go back to a copy of it, if there is one",
      "a.csv ist beschädigt: sie endet zu früh; nimm eine Kopie davon, falls es eine gibt",
    ],
    [
      "A answers 0.30 levels higher than B on average (95 %: −0.10 to 0.50; p 0.020), on 40 texts that both labelled.",
      "bei 40 Texte, die beide beurteilt haben antwortet A im Mittel 0,30 Stufen höher als B (95 %: −0,10 – 0,50; p 0.020).",
    ],
    [
      "It ends too early. The rest is unknown. it ends too early",
      "Sie endet zu früh. The rest is unknown. sie endet zu früh",
    ],
    [
      "Words and others' labels point to a high level",
      "Wörter und Labels anderer sprechen für eine hohe Stufe",
    ],
    ["Words and Ann point to a high level", "Words and Ann sprechen für eine hohe Stufe"],
    ["0.52 levels", "0,52 Stufen"],
    ["x. It ends too early and has levels", "x. It ends too early and has levels"],
    [" 1 text\n2 texts ", " 1 Text\n2 Texte "],
    [
      "a.csv was moved (it is now b.csv), and another file has its name now; put it back",
      "a.csv wurde verschoben (jetzt b.csv), und eine andere Datei heißt jetzt so; leg sie zurück",
    ],
    ["a.csv was moved; put it back", "a.csv wurde verschoben; leg sie zurück"],
    ["nobody knows this", "nobody knows this"],
    ["", ""],
  ])("%j", (english, wanted) => expect(german.translate(english)).toBe(wanted));

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
  const catalogue = JSON.parse(readFileSync("src/messages/program/de.json", "utf8")) as Record<
    string,
    Translation
  >;
  const whole = new Sentences(catalogue, "de");

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
