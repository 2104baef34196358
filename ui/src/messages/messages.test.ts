// Every language has every message, with its values and in all its plural forms; and every message is used.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { parse } from "svelte/compiler";
import { expect, it } from "vitest";
import en from "./en";
import { LANGUAGES } from "./languages";
import windowEnglish from "./window/en";

type Section = Record<string, string>;
type Catalogue = Record<string, Section>;

/** The English messages, and the folder of their translations: of the desk, and of the rest of the window. */
const desk = { english: en as unknown as Catalogue, folder: "src/messages" };
const ofWindow = { english: windowEnglish as unknown as Catalogue, folder: "src/messages/window" };
const catalogues = [desk, ofWindow];
const others = Object.keys(LANGUAGES).filter((tag) => tag !== "en");
/** A catalogue in each other language. */
const translated = catalogues.flatMap((of) => others.map((tag) => [tag, of.folder, of.english] as const));
const read = (tag: string, folder: string) =>
  JSON.parse(readFileSync(`${folder}/${tag}.json`, "utf8")) as Catalogue;

/** The key without its plural form, if the English message has several. */
function stem(section: Section, key: string): string | null {
  const [, base = ""] = /^(.*)_(?:one|other)$/.exec(key) ?? [];
  return base !== "" && `${base}_one` in section && `${base}_other` in section ? base : null;
}

/** The keys that a language needs, each with its English message. */
function wanted(tag: string, section: Section): Map<string, string> {
  const forms = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
  return new Map(
    Object.entries(section).flatMap(([key, message]): [string, string][] => {
      const base = stem(section, key);
      const other = section[`${base}_other`] ?? "";
      return base === null ? [[key, message]] : forms.map((form) => [`${base}_${form}`, other]);
    }),
  );
}

const values = (message: string) => (message.match(/\{\{[^}]*\}\}/g) ?? []).sort();

it.each(catalogues)("has a file for every language and no others in $folder", ({ folder }) => {
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  expect(files.sort()).toEqual(others.map((tag) => `${tag}.json`).sort());
});

it("has no section in both catalogues", () => {
  const sections = catalogues.flatMap(({ english }) => Object.keys(english));
  expect(sections).toEqual([...new Set(sections)]);
});

it.each(translated)("has every message in %s of %s", (tag, folder, english) => {
  const own = read(tag, folder);
  expect(Object.keys(own).sort()).toEqual(Object.keys(english).sort());
  for (const [name, section] of Object.entries(english)) {
    const keys = wanted(tag, section);
    expect(Object.keys(own[name] ?? {}).sort(), name).toEqual([...keys.keys()].sort());
  }
});

it.each(translated)("fills in the same values in %s of %s", (tag, folder, english) => {
  const own = read(tag, folder);
  const wrong = Object.entries(english).flatMap(([name, section]) =>
    [...wanted(tag, section)].flatMap(([key, message]) => {
      const got = own[name]?.[key] ?? "";
      // One, two or none may be a word.
      const ignored = /_(?:zero|one|two)$/.test(key) ? /^\{\{count\b/ : /^$/;
      const [a, b] = [values(message), values(got)].map((all) => all.filter((one) => !ignored.test(one)));
      const same = JSON.stringify(a) === JSON.stringify(b);
      return same && got.trim() !== "" && !/[<>]/.test(got) ? [] : [`${name}.${key}: ${got}`];
    }),
  );
  expect(wrong).toEqual([]);
});

it.each(translated)("is translated into %s of %s", (tag, folder, english) => {
  const own = read(tag, folder);
  // Short words, units and what consists of values may be the same.
  const longer = (message: string) => message.replaceAll(/\{\{[^}]*\}\}/g, "").match(/\p{L}{2,}/gu) ?? [];
  const same = Object.entries(english).flatMap(([name, section]) =>
    [...wanted(tag, section)].flatMap(([key, message]) =>
      own[name]?.[key] === message && longer(message).length > 1 ? [`${name}.${key}: ${message}`] : [],
    ),
  );
  expect(same).toEqual([]);
});

it("uses every message", () => {
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter(
      (name) => /\.(svelte|ts)$/.test(name) && !/\.test\.ts$|^messages\/(?:window\/)?en|^mock\//.test(name),
    )
    .map((name) => readFileSync(`src/${name}`, "utf8"))
    .join("\n");
  // Also keys with a part that is computed: t(`answer.${what}`).
  const computed = [...sources.matchAll(/\bt\(\s*`([\w.]*)\$\{[^}]*\}([\w.]*)`/g)].map(
    ([, before = "", after = ""]) => new RegExp(`^${before.replaceAll(".", "\\.")}\\w+${after}$`),
  );
  const all = catalogues.flatMap(({ english }) => Object.entries(english));
  const unused = all.flatMap(([name, section]) =>
    Object.keys(section).flatMap((key) => {
      const path = `${name}.${stem(section, key) ?? key}`;
      const used = sources.includes(`"${path}"`) || computed.some((pattern) => pattern.test(path));
      return used ? [] : [path];
    }),
  );
  expect([...new Set(unused)]).toEqual([]);
});

/** The file that a component or module of the page imports; null for a package. */
function importedFile(importer: string, path: string): string | null {
  const base = /^\$(?:bindings|platform)$/.test(path)
    ? `src/page/${path.slice(1)}`
    : path.startsWith("$")
      ? `src/${path.slice(1)}`
      : path.startsWith(".")
        ? posix.join(posix.dirname(importer), path)
        : null;
  const candidates = base === null ? [] : [base, `${base}.ts`, `${base}.svelte.ts`];
  return candidates.find((name) => /\.(?:ts|svelte)$/.test(name) && existsSync(name)) ?? null;
}

/** The files of a packet's page, by their imports. */
function filesOfPage(): string[] {
  const found = new Set(["src/page/main.ts"]);
  for (const name of found) {
    const source = readFileSync(name, "utf8").replaceAll(/^\s*import type [^;]*;/gm, "");
    for (const [, path = ""] of source.matchAll(/\b(?:from|import)\s*\(?\s*"([^"]+)"/g)) {
      const file = importedFile(name, path);
      if (file !== null) found.add(file);
    }
  }
  return [...found];
}

const components = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((name) => `src/${name.replaceAll("\\", "/")}`)
  .filter((name) => name.endsWith(".svelte"));

it.each(components)("has no text outside of the catalogues in %s", (name) => {
  const source = readFileSync(name, "utf8");
  expect(textsIn(parse(source, { modern: true }).fragment, source)).toEqual([]);
});

it("has only messages of the desk on a packet's page", () => {
  const ofPage = filesOfPage().filter((name) => name.endsWith(".svelte"));
  expect(ofPage).toContain("src/views/texts/TextLine.svelte");
  // What a page does not have: a project without texts or questions, predictions, and dialogs of questions.
  const neverShown = /\/(?:LabelView|SpanPreview)\.svelte$|^src\/views\/why\//;
  const sections = Object.keys(ofWindow.english).join("|");
  const found = ofPage
    .filter((name) => !neverShown.test(name))
    .flatMap((name) => {
      const source = readFileSync(name, "utf8");
      const shown = codeOfPage(parse(source, { modern: true }).fragment, source);
      return [...shown.matchAll(new RegExp(`\\bt\\(\\s*["\`](?:${sections})\\.\\w*`, "g"))].map(
        ([call]) => `${name}: ${call}`,
      );
    });
  expect(found).toEqual([]);
});

/** The source of a component's markup without what only a project has that is no packet. */
function codeOfPage(node: unknown, source: string): string {
  const { start, end } = node as { start: number; end: number };
  const cut: [number, number][] = [];
  const visit = (one: unknown): void => {
    if (typeof one !== "object" || one === null) return;
    const { type, test, consequent } = one as Record<string, { start: number; end: number } & string>;
    if (type === "IfBlock" && /^!packet\b/.test(source.slice(test?.start, test?.end))) {
      const { nodes = [] } = consequent as unknown as { nodes?: { start: number; end: number }[] };
      const [first, last] = [nodes[0], nodes.at(-1)];
      if (first && last) cut.push([first.start, last.end]);
    }
    Object.values(one).forEach(visit);
  };
  visit(node);
  let code = source.slice(start, end);
  for (const [from, to] of cut) code = code.replace(source.slice(from, to), "");
  return code;
}

const SHOWN = [
  "title",
  "aria-label",
  "placeholder",
  "alt",
  "label",
  "hint",
  "text",
  "what",
  "description",
  "heading",
  "caption",
  "empty",
  "unit",
  "note",
  "doing",
];

/** Names that are the same in every language: of keys, measures, the program, a typeface, values of files. */
const NAMES = ["Esc", "AUROC", "Dissensus", "Inter · SIL Open Font License 1.1", "NA, -, 99"];

const isText = (words: unknown) => {
  const text = String(words).trim();
  return (
    /\p{L}{2,}/u.test(text) && !/^\W*(?:Alt|Ctrl|Shift)\+(?:Delete|\W*)$/.test(text) && !NAMES.includes(text)
  );
};

/** The texts in a part of a component that a person can read, besides the names of keys. */
function textsIn(node: unknown, source: string): string[] {
  if (Array.isArray(node)) return node.flatMap((one) => textsIn(one, source));
  if (typeof node !== "object" || node === null) return [];
  const { type, name, data, value, expression, ...rest } = node as Record<string, unknown>;
  if (type === "Text") return isText(data) ? [String(data).trim()] : [];
  if (type === "ExpressionTag") return wordsOf(expression);
  if (type === "Attribute") return SHOWN.includes(String(name)) ? textsIn(value, source) : [];
  if (name === "kbd") return [];
  return Object.values(rest).flatMap((one) => textsIn(one, source));
}

/** The texts that an expression can be, and the names of constants. */
function wordsOf(node: unknown): string[] {
  const { type, name, value, quasis, operator, ...parts } = (node ?? {}) as Record<string, unknown>;
  if (type === "Literal") return typeof value === "string" && isText(value) ? [value] : [];
  if (type === "Identifier") return /^[A-Z]+(?:_[A-Z]+)+$/.test(String(name)) ? [String(name)] : [];
  if (type === "ConditionalExpression") return [parts.consequent, parts.alternate].flatMap(wordsOf);
  if (type === "LogicalExpression" || (type === "BinaryExpression" && operator === "+"))
    return [parts.left, parts.right].flatMap(wordsOf);
  if (type !== "TemplateLiteral") return [];
  const fixed = (quasis as { value: { raw: string } }[]).map((quasi) => quasi.value.raw).filter(isText);
  return [...fixed, ...(parts.expressions as unknown[]).flatMap(wordsOf)];
}
