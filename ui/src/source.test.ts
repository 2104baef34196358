// Rules that hold for every file of the window.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { KINDS } from "$kinds/kinds";

const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((name) => `src/${name.replaceAll("\\", "/")}`)
  .filter((name) => /\.(svelte|ts|css)$/.test(name) && !name.endsWith(".test.ts"));
const product = files.filter((name) => !name.startsWith("src/mock/"));
const matching = (names: string[], pattern: RegExp) =>
  names.filter((name) => pattern.test(readFileSync(name, "utf8")));

it("finds the files", () => expect(product.length).toBeGreaterThan(40));

it("never renders text as HTML", () => {
  expect(matching(files, /\{@html|innerHTML|outerHTML|insertAdjacentHTML|document\.write/)).toEqual([]);
});

it("makes no network requests", () => {
  // Two names that are not addresses: the SVG namespace, and the origin that the generated bindings name.
  const remote = /https?:\/\/(?!www\.w3\.org\/)/;
  expect(matching([...product.filter((n) => !n.endsWith("bindings.ts")), "index.html"], remote)).toEqual([]);
  expect(matching(product, /@import url/)).toEqual([]);
  // Fonts come out of the package that was installed, and so out of the program.
  expect(matching(product, /@font-face/)).toEqual(["src/styles/fonts.css"]);
  const sources = [...readFileSync("src/styles/fonts.css", "utf8").matchAll(/url\("([^"]*)"\)/g)].map(
    (m) => m[1],
  );
  expect(sources.length).toBeGreaterThan(0);
  for (const source of sources) expect(existsSync(`node_modules/${source}`), source).toBe(true);
});

it("uses three font weights, and bold elements use the heaviest", () => {
  const other =
    /font-weight:\s*(?!(?:400|500|600|inherit)\b)\S|font:\s*(?:bold|[1235789]00|[0-9]*[1-9][0-9]\b(?!px|\/))/;
  // The font files list what they support, not what is used.
  expect(
    matching(
      files.filter((name) => name !== "src/styles/fonts.css"),
      other,
    ),
  ).toEqual([]);
});

it("never builds the name of a command by hand", () => {
  expect(
    matching(
      product.filter((name) => name !== "src/api/bindings.ts"),
      /\binvoke\(|__TAURI/,
    ),
  ).toEqual([]);
});

it("distinguishes kinds of questions only in their own folder", () => {
  const literal = new RegExp(String.raw`(?:[=!]==\s*|\[|case )"(?:${Object.keys(KINDS).join("|")})"`);
  const elsewhere = product.filter((name) => !/\/(?:kinds|mock)\//.test(name));
  const found = elsewhere.flatMap((name) =>
    readFileSync(name, "utf8")
      .split("\n")
      .filter((line) => literal.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});

it("keeps the mock project out of the product", () => {
  expect(matching(product, /from "[^"]*\/mock\//)).toEqual([]);
});

it("sets the text direction of names and prompts of a project", () => {
  // As element content: right-to-left text must not reorder its neighbours.
  const shown =
    />\s*\{(?:app\.)?(?:person|row|annotator|attribute|level|project)\.name\}|>\{question\.prompt\}/;
  const own = /dir="auto"|<bdi>/;
  const without = product
    .filter((name) => name.endsWith(".svelte"))
    .flatMap((name) =>
      readFileSync(name, "utf8")
        .split("\n")
        .map((line) => `${name}: ${line.trim()}`),
    )
    // Inside an SVG there is no such attribute; its direction follows its first letter.
    .filter((line) => shown.test(line) && !own.test(line) && !/<\/(?:text|title)/.test(line));
  expect(without).toEqual([]);
});

it("names fonts for scripts that the bundled one lacks, and the packages recommend them", () => {
  const tokens = readFileSync("src/styles/tokens.css", "utf8");
  for (const font of ["Noto Sans CJK", "Noto Color Emoji", "Apple Color Emoji", "Segoe UI Emoji"])
    expect(tokens).toContain(font);
  const { linux } = JSON.parse(readFileSync("../src-tauri/tauri.conf.json", "utf8")).bundle;
  expect(linux.deb.recommends).toEqual(expect.arrayContaining(["fonts-noto-cjk", "fonts-noto-color-emoji"]));
  expect(linux.rpm.recommends).toHaveLength(3);
});

it("never asks users to build the program", () => {
  // An installed program has no checkout and no cargo.
  expect(matching(product, /\bcargo\b|\bxtask\b/)).toEqual([]);
});

it("hides texts for screen readers by one class", () => {
  const css = readFileSync("src/styles/base.css", "utf8");
  expect(css).toMatch(/\.out-of-sight,\s*input\.out-of-sight\[type\] \{\s*position: absolute;/);
  expect(matching(product, /visually-hidden|sr-only/)).toEqual([]);
});

it("has dialogs of settings no wider than their window", () => {
  for (const name of ["src/views/settings/CareSettings.svelte", "src/views/study/StudySettingsDialog.svelte"])
    expect(readFileSync(name, "utf8")).toMatch(/class="[^"]*\bgrid grid-cols-1\b/);
});

it("covers no dot of the map of texts with its legend", () => {
  const map = readFileSync("src/views/disagreement/SplitMap.svelte", "utf8");
  expect(map.indexOf("</figcaption>")).toBeLessThan(map.indexOf('class="plot '));
  expect(map).not.toMatch(/figcaption \{[^}]*position: absolute|<figcaption[^>]*\babsolute\b/);
});

it("names the level of intervals by one constant", () => {
  const literal = /\b(?:90|95) %/;
  const comment = /^\s*(?:\/\*\*|\*|\/\/|<!--)/;
  const named = product
    .filter(
      (name) => !["src/api/bindings.ts", "src/words/format.ts", "src/words/train-fields.ts"].includes(name),
    )
    .flatMap((name) =>
      readFileSync(name, "utf8")
        .split("\n")
        .filter((line) => literal.test(line) && !comment.test(line))
        .map((line) => `${name}: ${line.trim()}`),
    );
  expect(named).toEqual([]);
});

it("shows every explanation by the tooltip that works with keyboard and touch", () => {
  // It takes over titles: the system's own tip is reached by the mouse alone, and stays over dialogs.
  expect(matching(product, /<ExplanationTip\b/)).toEqual(["src/App.svelte", "src/page/Page.svelte"]);
});

it("imports in one direction: views and components use stores, stores use words and logic", () => {
  const above: Record<string, string> = {
    "src/(?:api|logic|words)/": "stores|components|views",
    "src/kinds/": "views",
    "src/stores/": "components|views",
    "src/components/": "kinds|views",
  };
  for (const [folder, forbidden] of Object.entries(above)) {
    const names = product.filter((name) => new RegExp(`^${folder}`).test(name));
    expect(names.length).toBeGreaterThan(0);
    expect(matching(names, new RegExp(`(?:from|import\\() ?"\\$(?:${forbidden})/`))).toEqual([]);
  }
});

it("reads nothing outside of ui but what xtask knows", () => {
  // `cargo xtask test` does not run these tests again while `ui` and these files are unchanged.
  const known = [
    "../src-tauri/tauri.conf.json",
    "../docs/src/reference/glossary.md",
    "../.github/workflows/ci.yml",
    "../.github/workflows/release.yml",
  ];
  const tests = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((n) =>
    n.endsWith(".test.ts"),
  );
  const read = tests.flatMap((name) => [
    ...readFileSync(`src/${name}`, "utf8").matchAll(/read\w+\(\s*["'`](\.\.\/[^"'`]*)/g),
  ]);
  expect(new Set(read.map(([, path]) => path))).toEqual(new Set(known));
});
