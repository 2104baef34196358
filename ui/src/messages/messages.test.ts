// Every language has every message, with its values and in all its plural forms; and every message is used.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { parse } from "svelte/compiler";
import { expect, it } from "vitest";
import en from "./en";
import { LANGUAGES } from "./languages";

type Section = Record<string, string>;
type Catalogue = Record<string, Section>;

const english = en as unknown as Catalogue;
const others = Object.keys(LANGUAGES).filter((tag) => tag !== "en");
const read = (tag: string) => JSON.parse(readFileSync(`src/messages/${tag}.json`, "utf8")) as Catalogue;

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

it("has a file for every language and no others", () => {
  const files = readdirSync("src/messages").filter((name) => name.endsWith(".json"));
  expect(files.sort()).toEqual(others.map((tag) => `${tag}.json`).sort());
});

it.each(others)("has every message in %s", (tag) => {
  const own = read(tag);
  expect(Object.keys(own).sort()).toEqual(Object.keys(english).sort());
  for (const [name, section] of Object.entries(english)) {
    const keys = wanted(tag, section);
    expect(Object.keys(own[name] ?? {}).sort(), name).toEqual([...keys.keys()].sort());
  }
});

it.each(others)("fills in the same values in %s", (tag) => {
  const own = read(tag);
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

it.each(others)("is translated into %s", (tag) => {
  const own = read(tag);
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
    .filter((name) => /\.(svelte|ts)$/.test(name) && !/\.test\.ts$|^messages\/en|^mock\//.test(name))
    .map((name) => readFileSync(`src/${name}`, "utf8"))
    .join("\n");
  // Also keys with a part that is computed: t(`answer.${what}`).
  const computed = [...sources.matchAll(/\bt\(\s*`([\w.]*)\$\{[^}]*\}([\w.]*)`/g)].map(
    ([, before = "", after = ""]) => new RegExp(`^${before.replaceAll(".", "\\.")}\\w+${after}$`),
  );
  const unused = Object.entries(english).flatMap(([name, section]) =>
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

it("has no text outside of the catalogue on a packet's page", () => {
  // Not on a page: a project without texts or questions, and predictions; researchers have them in English.
  const english = /\/LabelView\.svelte$|^src\/views\/why\//;
  const components = filesOfPage().filter((name) => name.endsWith(".svelte"));
  expect(components).toContain("src/views/texts/TextLine.svelte");
  const found = components
    .filter((name) => !english.test(name))
    .flatMap((name) => {
      const source = readFileSync(name, "utf8");
      return textsIn(parse(source, { modern: true }).fragment, source).map((text) => `${name}: ${text}`);
    });
  expect(found).toEqual([]);
});

const SHOWN = ["title", "aria-label", "placeholder", "alt", "label", "hint", "text", "what", "description"];

const isText = (words: unknown) =>
  /\p{L}{2,}/u.test(String(words)) && !/^\W*(?:Alt|Ctrl|Shift)\+$/.test(String(words));

/** The texts in a part of a component that a person can read, besides the names of keys. */
function textsIn(node: unknown, source: string): string[] {
  if (Array.isArray(node)) return node.flatMap((one) => textsIn(one, source));
  if (typeof node !== "object" || node === null) return [];
  const { type, name, data, value, expression, test, alternate, ...rest } = node as Record<string, unknown>;
  if (type === "Text") return isText(data) ? [String(data).trim()] : [];
  if (type === "ExpressionTag") return wordsOf(expression);
  if (type === "Attribute") return SHOWN.includes(String(name)) ? textsIn(value, source) : [];
  if (name === "kbd") return [];
  const { start, end } = (test ?? {}) as { start?: number; end?: number };
  // What a packet does not have is for researchers.
  const isForResearchers = type === "IfBlock" && /^!packet\b/.test(source.slice(start, end));
  return [alternate, ...(isForResearchers ? [] : Object.values(rest))].flatMap((one) => textsIn(one, source));
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
