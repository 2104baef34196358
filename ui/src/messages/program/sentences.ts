// Finds the sentence to which a text of the program belongs, and says it in another language.
//
// The program writes English: errors, notes and descriptions of results, with their values filled in. Each
// of its sentences is in the catalogue (`en.json`, which follows from the code) with `{{name}}` for a value.
// A text is compared with all of them; the one with the most letters of its own counts.
import { isolatedPath, isPath } from "$words/isolated";

/** A translation, or one for each plural form of the first value that is a number. */
export type Translation = string | Partial<Record<Intl.LDMLPluralRule, string>>;

/** A sentence of the catalogue. */
interface Pattern {
  /** What is between the values, and before and after them. */
  readonly literals: readonly string[];
  /** The names of the values. */
  readonly names: readonly string[];
  readonly translation: Translation;
}

/** A text in the other language, and how many of its letters were found in the catalogue. */
interface Found {
  readonly text: string;
  readonly known: number;
}

/** How many letters of a sentence find it. */
const LETTERS = 6;
const VALUE = /\{\{(\w+)\}\}/;
/** Where a text may be divided: after a sentence, between clauses and lines. */
const DIVISION = /((?<=[.!?:])\s+|\n|; )/;
/** More parts than these are no message. */
const MOST_PARTS = 60;
/** How deep sentences are values of others, and how deep values are divided into sentences. */
const DEEPEST = 4;
const DEEPEST_DIVIDED = 1;
/** So many times a text is compared with sentences before it stays English, whatever it is made of. */
const MOST_LOOKED_UP = 1500;
/** More places than these, at which a known sentence may begin, are not tried. */
const MOST_PLACES = 12;
/** How many of the sentences that a text could belong to are compared. */
const MOST_COMPARED = 8;

/** From so many letters on a sentence may begin with a value of several words. */
const FEWEST = 7;

/** The sentences of the program in one language. */
export class Sentences {
  /** By their first letters; those that begin with a value by their last ones. */
  readonly #patterns = new Map<string, Pattern[]>();
  readonly #plural: Intl.PluralRules;
  readonly #list: Intl.ListFormat;
  readonly #separator: string;
  readonly #locale: string;
  readonly #fromRight: boolean;
  readonly #cache = new Map<string, string>();
  /** What was found in the text that is being translated. */
  readonly #found = new Map<string, Found>();
  #left = 0;

  constructor(translations: Readonly<Record<string, Translation>>, locale: string) {
    for (const [english, translation] of Object.entries(translations)) {
      const parts = english.split(VALUE);
      const literals = parts.filter((_, at) => at % 2 === 0);
      const key = keyOf(literals[0] ?? "", literals.at(-1) ?? "");
      const alike = this.#patterns.get(key) ?? [];
      alike.push({ literals, names: parts.filter((_, at) => at % 2 === 1), translation });
      this.#patterns.set(key, alike);
    }
    this.#locale = locale;
    this.#fromRight = locale.startsWith("ar");
    this.#plural = new Intl.PluralRules(locale);
    this.#list = new Intl.ListFormat(locale, { type: "conjunction" });
    const several = new Intl.ListFormat(locale, { type: "unit" }).formatToParts(["a", "b"]);
    this.#separator = several[1]?.type === "literal" && several[1].value.trim() ? several[1].value : ", ";
  }

  /** The text in this language; parts that are in no catalogue, such as names, stay as they are. */
  translate(english: string): string {
    let text = this.#cache.get(english);
    if (text === undefined) {
      this.#found.clear();
      this.#left = MOST_LOOKED_UP;
      const found = this.#outer(english, 0);
      text = this.#left < 0 ? english : found.text;
      if (this.#cache.size > 5000) this.#cache.clear();
      this.#cache.set(english, text);
    }
    return text;
  }

  /** A sentence, or several; blanks around it stay. */
  #outer(english: string, depth: number): Found {
    const inner = english.trim();
    if (inner === "" || depth > DEEPEST || this.#left < 0) return { text: english, known: 0 };
    const whole = this.#whole(inner, depth);
    const found = depth > DEEPEST_DIVIDED ? whole : this.#better(whole, () => this.#divided(inner, depth));
    const at = english.indexOf(inner);
    return {
      text: english.slice(0, at) + found.text + english.slice(at + inner.length),
      known: found.known,
    };
  }

  /** The one of which more is known, the first if both are alike; the second only where it can be better. */
  #better(first: Found, second: () => Found): Found {
    if (first.known >= lettersOf(first.text) && first.known > 0) return first;
    const other = second();
    return other.known > first.known ? other : first;
  }

  /** The text as one sentence, also with a capital or a full stop that the catalogue lacks. */
  #whole(english: string, depth: number): Found {
    const key = `${depth} ${english}`;
    const found = this.#found.get(key) ?? this.#lookedUp(english, depth);
    this.#found.set(key, found);
    return found;
  }

  #lookedUp(english: string, depth: number): Found {
    for (const text of new Set([english, english.replace(/\.$/, "")])) {
      const stop = text === english ? "" : this.#stop();
      const lower = text.charAt(0).toLowerCase() + text.slice(1);
      for (const written of new Set([text, lower])) {
        const found = this.#matched(written, depth);
        if (found.known === 0) continue;
        const whole = written === text ? found.text : this.#capitalised(found.text);
        return { text: /[\u3002.!?]$/.test(whole) ? whole : whole + stop, known: found.known };
      }
    }
    return { text: english, known: 0 };
  }

  #capitalised(text: string): string {
    return text.charAt(0).toLocaleUpperCase(this.#locale) + text.slice(1);
  }

  /** The sign that ends a sentence. */
  #stop(): string {
    return /^(?:zh|ja)/.test(this.#locale) ? "\u3002" : ".";
  }

  /** The text as exactly one sentence of the catalogue; as it is, with 0 known, if it is none. */
  #matched(english: string, depth: number): Found {
    this.#left -= 1;
    if (this.#left < 0) return { text: english, known: 0 };
    const lengths = Array.from({ length: LETTERS }, (_, at) => at + 1);
    const keys = new Set([
      "",
      ...lengths.flatMap((k) => [keyOf(english.slice(0, k), ""), keyOf("", english.slice(-k))]),
    ]);
    const candidates = [...keys].flatMap((key) => this.#patterns.get(key) ?? []);
    const matches = candidates.flatMap((pattern) => {
      const values = valuesIn(pattern, english);
      return values ? [{ pattern, values, own: lettersOf(pattern.literals.join("")) }] : [];
    });
    matches.sort((a, b) => b.own - a.own);
    let best: Found = { text: english, known: 0 };
    for (const { pattern, values, own } of matches.slice(0, MOST_COMPARED)) {
      const filled = this.#filled(pattern, values, own, depth);
      if (filled.known > best.known) best = filled;
    }
    return best;
  }

  #filled(
    { literals, names, translation }: Pattern,
    values: readonly string[],
    own: number,
    depth: number,
  ): Found {
    let known = own;
    const divided = this.#apart(literals, values, depth);
    const parts = divided.map((value, at) => {
      // What is quoted is a name.
      if (/["'`]$/.test(literals[at] ?? "") && /^["'`]/.test(literals[at + 1] ?? ""))
        return this.#name(value);
      const found = this.#value(value, depth + 1);
      // A few letters at the end of any text prove nothing.
      const isNumber = this.#number(value) !== null;
      if (
        at === 0 &&
        literals[0] === "" &&
        own < FEWEST &&
        found.known === 0 &&
        !isNumber &&
        value.includes(" ")
      )
        known = -Infinity;
      known += found.known;
      return found.text;
    });
    const number = values.find((value) => /^\d+(?:\.\d+)?$/.test(value));
    const category = number === undefined ? "other" : this.#plural.select(Number(number));
    const form =
      typeof translation === "string" ? translation : (translation[category] ?? translation.other ?? "");
    const text = form.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => parts[names.indexOf(name)] ?? "");
    return { text, known };
  }

  /** The values, with those that nothing separates divided where a known sentence begins. */
  #apart(literals: readonly string[], values: readonly string[], depth: number): readonly string[] {
    const apart = [...values];
    for (let at = values.length - 1; at > 0; at -= 1) {
      if (literals[at] !== "") continue;
      const both = (apart[at - 1] ?? "") + (apart[at] ?? "");
      const places = [...both.matchAll(/^|[ ,;:.(]/g)].slice(0, MOST_PLACES).map(({ index }) => index);
      let [begin, most] = [both.length, 0];
      for (const place of places) {
        const { known } = this.#outer(both.slice(place), depth + 1);
        if (known > most) [begin, most] = [place, known];
      }
      [apart[at - 1], apart[at]] = [both.slice(0, begin), both.slice(begin)];
    }
    return apart;
  }

  /** A value: a number, a sentence, or a list of what the catalogue has; else as it is. */
  #value(value: string, depth: number): Found {
    const number = this.#number(value);
    if (number !== null) return { text: number, known: 0 };
    if (isPath(value)) return { text: this.#name(value), known: 0 };
    const found = this.#outer(value, depth);
    if (found.known > 0) return found;
    // So many of something.
    const [, before = "", counted = ""] = /^([\d,]+ )(.+)$/.exec(value) ?? [];
    const things = counted === "" ? found : this.#whole(counted, depth + 1);
    if (things.known > 0) return { text: before + things.text, known: things.known };
    const all = value.split(/, and |, | and /);
    if (all.length < 2 || all.length > MOST_PARTS || depth > DEEPEST) return found;
    const parts = all.map((part) => {
      const own = this.#number(part);
      return own === null ? this.#whole(part, depth + 1) : { text: own, known: 1 };
    });
    if (parts.some((part) => part.known === 0)) return found;
    const texts = parts.map((part) => part.text);
    const text = / and /.test(value) ? this.#list.format(texts) : texts.join(this.#separator);
    return { text, known: parts.reduce((sum, part) => sum + part.known, 0) };
  }

  /** A name as it is; a path in its own direction, where that is not the one of the language. */
  #name(value: string): string {
    return this.#fromRight && isPath(value) ? isolatedPath(value) : value;
  }

  /** A number, a share or an interval as it is written in this language; null for anything else. */
  #number(value: string): string | null {
    const [, low, high] = /^([−+]?[\d.]+(?: %)?) to ([−+]?[\d.]+(?: %)?)$/.exec(value) ?? [];
    if (low !== undefined && high !== undefined) {
      const ends = [this.#number(low), this.#number(high)];
      return ends.includes(null) ? null : ends.join(" – ");
    }
    const [, sign = "", whole = "", decimals = "", unit = ""] =
      /^([−+]?)(\d{1,15})(?:\.(\d{1,12}))?( %)?$/.exec(value) ?? [];
    if (whole === "") return null;
    if (decimals === "") return value;
    const digits = { minimumFractionDigits: decimals.length, maximumFractionDigits: decimals.length };
    return sign + new Intl.NumberFormat(this.#locale, digits).format(Number(`${whole}.${decimals}`)) + unit;
  }

  /** The text as several sentences or clauses, each found on its own. */
  #divided(english: string, depth: number): Found {
    const parts = unquotedParts(english);
    if (parts.length < 3 || parts.length > 2 * MOST_PARTS) return { text: english, known: 0 };
    let [text, known, at] = ["", 0, 0];
    while (at < parts.length) {
      // The longest beginning that is one sentence.
      let end = parts.length;
      let found: Found = { text: "", known: 0 };
      for (; end > at; end -= 2) {
        if (at === 0 && end === parts.length) continue;
        found = this.#whole(parts.slice(at, end).join(""), depth + 1);
        if (found.known > 0) break;
      }
      if (end <= at) [found, end] = [{ text: parts[at] ?? "", known: 0 }, at + 1];
      text += found.text + (parts[end] ?? "");
      known += found.known;
      at = end + 1;
    }
    // Mostly English would be in two languages.
    return 2 * known >= lettersOf(english) ? { text, known } : { text: english, known: 0 };
  }
}

/** The parts of a text and what separates them, in turn; nothing inside of quotes is a separator. */
function unquotedParts(text: string): string[] {
  const parts: string[] = [];
  for (const [at, part] of text.split(DIVISION).entries()) {
    const isOpen = ((parts.at(-1) ?? "").split('"').length - 1) % 2 === 1;
    if (at > 0 && isOpen) parts.push((parts.pop() ?? "") + part);
    else if (at % 2 === parts.length % 2) parts.push(part);
    else parts.push((parts.pop() ?? "") + part);
  }
  return parts;
}

/** The letters by which a sentence is found, from what is before its first value or after its last one. */
function keyOf(first: string, last: string): string {
  if (first !== "") return `^${first.slice(0, LETTERS)}`;
  return last === "" ? "" : `${last.slice(-LETTERS)}$`;
}

/** How many letters a text has. */
const lettersOf = (text: string): number => text.match(/\p{L}/gu)?.length ?? 0;

/** The values with which a sentence is this text; null if it is another text. */
function valuesIn({ literals, names }: Pattern, text: string): string[] | null {
  const [first = "", last = ""] = [literals[0], literals.at(-1)];
  if (names.length === 0) return text === first ? [] : null;
  const end = text.length - last.length;
  if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return null;
  const values: string[] = [];
  let at = first.length;
  for (const literal of literals.slice(1, -1)) {
    const next = text.indexOf(literal, at);
    if (next === -1 || next + literal.length > end) return null;
    values.push(text.slice(at, next));
    at = next + literal.length;
  }
  values.push(text.slice(at, end));
  const same = values.every((value, at) => value === values[names.indexOf(names[at] ?? "")]);
  return same ? values : null;
}
