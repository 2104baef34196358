// @vitest-environment jsdom
// Untrusted Markdown: what is shown, what is never shown, and that it terminates.
import { describe, expect, it } from "vitest";
import { plainEntities } from "./entities";
import { readMarkdown, wordsOf, type Block, type Inline } from "./markdown";

const blocks = (body: string) => readMarkdown(body).blocks;
const inlines = (body: string): Inline[] => {
  const [first] = blocks(body);
  return first && "children" in first && first.kind === "paragraph" ? first.children : [];
};
const kinds = (body: string) => blocks(body).map(({ kind }) => kind);
const text = (words: string): Inline => ({ kind: "text", text: words });

describe("what is shown", () => {
  it("reads every kind of block", () => {
    const body =
      "# One\n\nTwo\n***\n> three\n\n```js\nfour <b>\n```\n\n- five\n\n7. six\n\n|a|b|\n|:-|-:|\n|c|d|\n";
    expect(kinds(body)).toEqual(["heading", "paragraph", "rule", "quote", "code", "list", "list", "table"]);
    const [, , , , code, list, numbers, table] = blocks(body);
    expect(code).toEqual({ kind: "code", text: "four <b>" });
    expect(list).toMatchObject({ start: null });
    expect(numbers).toMatchObject({ start: 7 });
    expect(table).toEqual({
      kind: "table",
      align: ["left", "right"],
      head: [[text("a")], [text("b")]],
      rows: [[[text("c")], [text("d")]]],
    });
  });

  it("parses inline markup", () => {
    expect(inlines("**a** *b* ~~c~~ `d`  \ne")).toEqual([
      { kind: "strong", children: [text("a")] },
      text(" "),
      { kind: "em", children: [text("b")] },
      text(" "),
      { kind: "del", children: [text("c")] },
      text(" "),
      { kind: "code", text: "d" },
      { kind: "break" },
      text("e"),
    ]);
  });

  it("reads lists in lists, and tasks", () => {
    const [list] = blocks("- a\n  1. b\n- [x] c\n- [ ] d");
    if (list?.kind !== "list") throw new Error("no list");
    expect(list.items.map(({ done }) => done)).toEqual([null, true, false]);
    expect(list.items[0]?.children.map(({ kind }) => kind)).toEqual(["line", "list"]);
  });

  it("turns entities into characters once, and not in code", () => {
    expect(wordsOf(inlines("&amp;lt; &copy; &#233; &#x1F600; &nothing; \\&amp; a & b"))).toBe(
      "&lt; © é 😀 &nothing; &amp; a & b",
    );
    expect(inlines("`&amp;`")).toEqual([{ kind: "code", text: "&amp;" }]);
    expect(plainEntities("&#0;&#xD800;&#9999999;")).toBe("\ufffd\ufffd\ufffd");
    expect(plainEntities("&lt;script&gt;")).toBe("<script>");
  });

  it("shows the address of a link next to its words, once", () => {
    expect(inlines("[words](https://x.org/a?b=1&amp;c=2)")).toEqual([
      { kind: "link", children: [text("words")], address: "https://x.org/a?b=1&c=2" },
    ]);
    expect(inlines("<https://x.org>")).toMatchObject([{ kind: "link", address: null }]);
    expect(inlines("<a@x.org>")).toMatchObject([{ kind: "link", address: null }]);
    expect(inlines("https://x.org")).toEqual([text("https://x.org")]);
  });

  it("lists its headings", () => {
    const { headings, blocks } = readMarkdown("# A *b*\n\n## C\n\n> # D");
    expect(headings.map(({ level, words }) => [level, words])).toEqual([
      [1, "A b"],
      [2, "C"],
      [1, "D"],
    ]);
    expect(headings[1]?.block).toBe(blocks[1]);
  });

  it("reuses the blocks of the previous body, each once", () => {
    const before = readMarkdown("# A\n\nsame\n\nsame\n\n> ## B\n\nold");
    const after = readMarkdown("new\n\n# A\n\nsame\n\nsame\n\nsame\n\n> ## B", before);
    expect(after.kept).toBe(4);
    expect(after.blocks).toEqual(readMarkdown("new\n\n# A\n\nsame\n\nsame\n\nsame\n\n> ## B").blocks);
    expect(after.blocks[1]).toBe(before.blocks[0]);
    expect(new Set(after.blocks).size).toBe(after.blocks.length);
    expect(after.headings.map(({ words }) => words)).toEqual(["A", "B"]);
    // A changed definition changes its references.
    const named = readMarkdown("[a][x]\n\n[x]: https://one.org");
    const renamed = readMarkdown("[a][x]\n\n[x]: https://two.org", named);
    expect(renamed.kept).toBe(0);
    expect(JSON.stringify(renamed.blocks)).toContain("https://two.org");
  });
});

describe("what is not rendered", () => {
  it("leaves HTML as it is written", () => {
    expect(blocks('<script>alert(1)</script>\n\n<img src=x onerror="a()">')).toEqual([
      { kind: "raw", text: "<script>alert(1)</script>" },
      { kind: "raw", text: '<img src=x onerror="a()">' },
    ] satisfies Block[]);
    expect(wordsOf(inlines('a <b onclick="x()">b</b> <!-- c -->'))).toBe(
      'a <b onclick="x()">b</b> <!-- c -->',
    );
    expect(blocks("<style>\n*{}\n</style>")).toMatchObject([{ kind: "raw" }]);
  });

  it.each([
    "data:image/png;base64,AAAA",
    "https://x.org/a.png",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "picture:../secret",
    "picture:0011223344556677a",
    "picture:001122334455667G",
    "PICTURE:0011223344556677",
  ])("shows no picture from %s", (target) => {
    expect(inlines(`![what](${target})`)).toEqual([{ kind: "elsewhere", alt: "what" }]);
  });

  it("shows pictures of the project, by name or by reference", () => {
    const shown = [{ kind: "picture", name: "0011223344556677", alt: "what" }];
    expect(inlines("![what](picture:0011223344556677)")).toEqual(shown);
    expect(inlines("![what][a]\n\n[a]: picture:0011223344556677")).toEqual(shown);
  });

  it("shows an address that could run something as plain text", () => {
    expect(inlines("[words](javascript:alert(1))")).toEqual([
      { kind: "link", children: [text("words")], address: "javascript:alert(1)" },
    ]);
  });
});

describe("limits", () => {
  const many = (piece: string, length = 200_000) =>
    piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
  const all = (tree: unknown) => JSON.stringify(tree);

  it.each([
    ["quotes", ">".repeat(10_000) + " deep", "deep"],
    ["lists", Array.from({ length: 600 }, (_, i) => `${" ".repeat(2 * i)}- a${i}\n`).join(""), "a599"],
    ["quotes and lists", many("> - ", 8_000) + "deep", "deep"],
    ["lines of quotes", many("> a\n>> b\n>>> c\n", 60_000) + "\n\ndeep", "deep"],
    ["emphasis", "*a ".repeat(30_000) + "deep" + " b*".repeat(30_000), "deep"],
    ["brackets", "[".repeat(50_000) + "deep" + "](a)".repeat(20_000), "deep"],
    ["a false address", "http://a" + ".".repeat(150_000) + "deep", "deep"],
    ["signs", many("`*_[<!", 60_000) + "deep", "deep"],
  ])("comes to an end with %s, and loses nothing", (_, body, last) => {
    const began = performance.now();
    const tree = readMarkdown(body);
    expect(performance.now() - began).toBeLessThan(6000);
    expect(all(tree.blocks)).toContain(last);
    // Svelte and JSON go as deep as the tree.
    expect(all(tree.blocks).length).toBeGreaterThan(4);
  });

  it("reads a whole guideline of 200,000 characters", () => {
    const body = many("## Words\n\nSome *words* of a **guideline**, and more of them.\n\n- a\n- b\n\n");
    const began = performance.now();
    const { blocks, headings } = readMarkdown(body);
    expect(performance.now() - began).toBeLessThan(3000);
    expect(headings.length).toBeGreaterThan(2500);
    expect(blocks.filter(({ kind }) => kind === "raw")).toEqual([]);
  });
});
