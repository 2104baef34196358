// Every language has every message, with its values and in all its plural forms; and every message is used.
import { readdirSync, readFileSync } from "node:fs";
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

it("has no text outside of the catalogue on the desk", () => {
  const folders = /^(?:views\/label|page|kinds\/(?:level|multi_label|spans))\//;
  // For the researcher, who uses the window in English.
  const english = /(?:Editor|Preview|LevelList|LevelLegend|LabelView)\.svelte$/;
  const found = readdirSync("src", { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => folders.test(name) && name.endsWith(".svelte") && !english.test(name))
    .flatMap((name) => {
      const source = readFileSync(`src/${name}`, "utf8");
      return textsIn(parse(source, { modern: true }).fragment).map((text) => `${name}: ${text}`);
    });
  expect(found).toEqual([]);
});

const SHOWN = ["title", "aria-label", "placeholder", "alt", "label", "hint", "text"];

/** The texts in a part of a component that a person can read, besides the names of keys. */
function textsIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(textsIn);
  if (typeof node !== "object" || node === null) return [];
  const { type, name, data, value, ...rest } = node as Record<string, unknown>;
  if (type === "Text" && /^\W*(?:Alt|Ctrl|Shift)\+$/.test(String(data))) return [];
  if (type === "Text") return /\p{L}{2,}/u.test(String(data)) ? [String(data).trim()] : [];
  if (name === "kbd") return [];
  if (type === "Attribute") return SHOWN.includes(String(name)) ? textsIn(value) : [];
  return Object.values(rest).flatMap(textsIn);
}
