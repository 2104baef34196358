// Rules that mask texts, in the mock: simpler than those of the program.
import type * as view from "$api/bindings";
import type { World } from "./world";
import { refuse } from "./refusals";

const FOUND: Record<Exclude<view.MaskRule, "words" | "pattern">, RegExp> = {
  email: /[\w.%+-]+@[\w-]+(?:\.[\w-]+)+/gu,
  web: /https?:\/\/\S+|www\.\S+/giu,
  user: /(?<!\w)@\w+/gu,
  phone: /\+?\d[\d ()/-]{6,}\d/gu,
  account: /\d(?:[ -]?\d){12,18}/gu,
};

const escaped = (word: string) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

export class MockMasks {
  rules: view.MaskRules = { on: [], words: [], exact: false, pattern: "", except: [] };
  #versions = 0;

  constructor(
    private readonly world: () => World,
    private readonly packets: () => number,
  ) {}

  forget(): void {
    this.rules = { on: [], words: [], exact: false, pattern: "", except: [] };
    this.#versions = 0;
  }

  settings(): view.MaskSettings {
    const { rules } = this;
    return { rules, versions: this.#versions, packets: this.packets(), masked_packets: 0, columns: [] };
  }

  set(rules: view.MaskRules): view.MaskSettings {
    this.#finders(rules);
    this.rules = rules;
    this.#versions += 1;
    return this.settings();
  }

  preview({ rules: given, rule, search, most }: view.MaskQuery): view.MaskPreview {
    const rules = given ?? this.rules;
    const finders = this.#finders(rules);
    const found = new Map<string, view.MaskFound>();
    const counts = new Map(rules.on.map((one) => [one, { rule: one, places: 0, texts: 0 }]));
    const [masked, whole] = [new Set<string>(), new Set<string>()];
    let [places, excepted] = [0, 0];
    const texts = this.world().texts;
    for (const { external_id, body } of texts)
      for (const [of, finder] of finders) {
        const matches = [...body.matchAll(finder)];
        const count = counts.get(of);
        if (count && matches.length > 0) count.texts += 1;
        for (const { 0: words, index } of matches) {
          const left = rules.except.some(
            (one) => one.found === words && (one.text === null || one.text === external_id),
          );
          const key = `${of} ${words}`;
          const [before, after] = [
            body.slice(Math.max(0, index - 40), index),
            body.slice(index + words.length, index + words.length + 40),
          ];
          const known = found.get(key) ?? {
            ...{ rule: of, found: words, cut: false, places: 0, excepted: 0 },
            ...{ text: external_id, before, after },
          };
          found.set(key, {
            ...known,
            places: known.places + 1,
            excepted: known.excepted + (left ? 1 : 0),
          });
          if (count) count.places += 1;
          if (left) excepted += 1;
          else {
            places += 1;
            masked.add(external_id);
            if (words === body) whole.add(external_id);
          }
        }
      }
    const shown = [...found.values()]
      .filter((one) => rule === null || one.rule === rule)
      .filter((one) => one.found.toLowerCase().includes(search.toLowerCase()))
      .toSorted((a, b) => b.places - a.places);
    return {
      texts: texts.length,
      masked_texts: masked.size,
      whole_texts: whole.size,
      whole_text_ids: [...whole].slice(0, 5),
      masked: places,
      excepted,
      rules: [...counts.values()],
      found: shown.slice(0, most),
      left_off: Math.max(0, shown.length - most),
    };
  }

  candidates(): view.NameCandidates {
    const counts = new Map<string, view.NameCandidate>();
    for (const { external_id, body } of this.world().texts)
      for (const { 0: word, index } of body.matchAll(/(?<=[a-z,] )[A-Z][a-z]+/g)) {
        const [before, after] = [body.slice(0, index), body.slice(index + word.length)];
        const known = counts.get(word) ?? { word, places: 0, text: external_id, before, after };
        counts.set(word, { ...known, places: known.places + 1 });
      }
    return { applies: true, candidates: [...counts.values()] };
  }

  column(column: string): string[] {
    return refuse("mask-column", [column, "; there is topic"]);
  }

  /** The rules that are on; refuses an invalid regular expression as the program does. */
  #finders(rules: view.MaskRules): [view.MaskRule, RegExp][] {
    return rules.on.map((rule) => {
      if (rule === "words") {
        const words = rules.words.map(escaped).join("|") || "(?!)";
        return [rule, new RegExp(String.raw`\b(?:${words})\b`, rules.exact ? "gu" : "giu")];
      }
      if (rule !== "pattern") return [rule, FOUND[rule]];
      if (rules.pattern.trim() === "") return refuse("mask-pattern-empty");
      try {
        return [rule, new RegExp(rules.pattern, "gu")];
      } catch {
        return refuse("mask-pattern", [1, 1, "unclosed group"]);
      }
    });
  }
}
