// Panels of the mock: members answer independently, and a dozen draws give each verdict.
import type * as view from "$api/bindings";
import { predict, seeded, type Person, type Text, type World } from "./world";
import { refuse } from "./refusals";

/** Sets of answers for a verdict. */
const SETS = 60;

function outcomesOf(rule: string, levels: readonly string[]): string[] {
  if (rule.startsWith("veto")) return ["passed", "vetoed"];
  if (rule.startsWith("quorum")) return ["not reached", "reached"];
  return rule === "majority" ? [...levels, "no majority"] : [...levels];
}

function verdictOf(rule: string, answers: readonly number[], levels: readonly string[]): number {
  const [kind = "", rest = ""] = rule.split(":");
  const [needed = "", name] = kind === "veto" ? ["1", rest] : rest.split("@");
  const top = name ? levels.indexOf(name) : levels.length - 1;
  const share = needed.includes(".") ? Math.ceil(Number(needed) * answers.length) : Number(needed);
  if (kind === "veto" || kind === "quorum") return answers.filter((a) => a >= top).length >= share ? 1 : 0;
  const sum = answers.reduce((a, b) => a + b, 0);
  if (kind === "mean") return Math.floor(sum / answers.length + 0.5);
  if (kind === "median") return [...answers].sort((a, b) => a - b)[Math.floor((answers.length - 1) / 2)] ?? 0;
  const counts = levels.map((_, level) => answers.filter((a) => a === level).length);
  const most = Math.max(...counts);
  return counts.filter((n) => n === most).length > 1 ? levels.length : counts.indexOf(most);
}

export class MockPanels {
  #kept: view.SavedPanelInfo[] = [];

  constructor(private readonly world: () => World) {}

  forgetAll(): void {
    this.#kept = [];
  }

  kept(): view.SavedPanelInfo[] {
    return [...this.#kept].sort((a, b) => a.name.localeCompare(b.name));
  }

  keep(name: string, request: view.PanelRequest): view.SavedPanelInfo[] {
    const { members, size, shares, seed, rule } = request;
    this.#kept = this.#kept.filter((one) => one.name !== name);
    this.#kept.push({
      name,
      question: this.#question(request).name,
      members,
      size,
      shares,
      seed,
      rule,
      saved_at: 1,
    });
    return this.kept();
  }

  forget(name: string): view.SavedPanelInfo[] {
    this.#kept = this.#kept.filter((one) => one.name !== name);
    return this.kept();
  }

  ask(
    request: view.PanelRequest,
    compared: view.PanelRequest | null,
    order: view.PanelOrder,
    top: number,
    only?: view.TextId,
  ): view.PanelVerdicts {
    const panels = this.#panels(request);
    const others = compared ? this.#panels({ ...compared, draws: request.draws }) : null;
    const texts = this.world()
      .texts.filter(({ id }) => only === undefined || id === only)
      .map((text) => this.#text(request, panels, others, text));
    const rank = (text: view.PanelText) =>
      order === "unsure"
        ? -(text.verdict.sure ?? 0)
        : order === "members"
          ? (text.others?.otherwise ?? 0)
          : (text.comparison?.apart ?? 0);
    texts.sort((a, b) => rank(b) - rank(a));
    return {
      panel: this.#info(request, panels),
      compared: compared && others ? this.#info({ ...compared, rule: request.rule }, others) : null,
      texts_in_all: texts.length,
      texts: texts.slice(0, top),
    };
  }

  #question(request: view.PanelRequest) {
    const all = this.world().questions;
    const found = all.find(({ id }) => id === request.question) ?? all[0];
    if (!found) refuse("no-question");
    return found;
  }

  #info(request: view.PanelRequest, panels: Person[][]): view.PanelInfo {
    const { name, scale } = this.#question(request);
    const named = request.members.length > 0;
    return {
      question: name,
      rule: request.rule,
      outcomes: outcomesOf(request.rule, scale.levels),
      members: (panels[0] ?? []).map(({ external_id }) => external_id),
      strangers: 0,
      pool: named ? null : this.world().people.length,
      draws: named ? 0 : request.draws,
      level: 0.95,
      exact: true,
    };
  }

  #panels({ members, size, shares, seed, draws }: view.PanelRequest): Person[][] {
    const { people } = this.world();
    if (members.length > 0) return [people.filter(({ external_id }) => members.includes(external_id))];
    if (size === 0) refuse("panel-members");
    if (size > people.length) refuse("panel-shares of a size", [size, people.length, people.length]);
    const random = seeded(seed + 1);
    return Array.from({ length: 1 + draws }, () => {
      const left = [...people].sort(() => random() - 0.5);
      const chosen: Person[] = [];
      for (const { attribute, value, share } of shares) {
        const fitting = left.filter((one) => (one.attributes as Record<string, string>)[attribute] === value);
        const needed = Math.round((share ?? 0) * size);
        if (fitting.length < needed)
          refuse("panel-shares", [size, needed, `${attribute}=${value}`, people.length, fitting.length]);
        for (const one of fitting.slice(0, needed)) {
          chosen.push(one);
          left.splice(left.indexOf(one), 1);
        }
      }
      return [...chosen, ...left].slice(0, size);
    });
  }

  #probabilities(request: view.PanelRequest, members: readonly Person[], text: Text): number[] {
    const question = this.#question(request);
    const random = seeded(text.id * 7919);
    const { levels } = question.scale;
    const p = outcomesOf(request.rule, levels).map(() => 0);
    const chances = members.map((person) => predict(question, text, person));
    for (let set = 0; set < SETS; set++) {
      const answers = chances.map((own) => {
        let rest = random();
        const at = own.findIndex((share) => (rest -= share) < 0);
        return at < 0 ? levels.length - 1 : at;
      });
      const at = verdictOf(request.rule, answers, levels);
      p[at] = (p[at] ?? 0) + 1 / SETS;
    }
    return p;
  }

  #verdict(p: number[]): view.PanelVerdict {
    const sure = Math.max(...p);
    return {
      likeliest: p.indexOf(sure),
      probabilities: p,
      sure,
      range: [Math.max(0, sure - 0.2), Math.min(1, sure + 0.15)],
      too_little: sure < 0.3,
      mean: null,
    };
  }

  #text(
    request: view.PanelRequest,
    panels: Person[][],
    compared: Person[][] | null,
    text: Text,
  ): view.PanelText {
    const of = (all: Person[][]) =>
      all.slice(0, 8).map((members) => this.#probabilities(request, members, text));
    const averaged = (all: number[][]) =>
      (all[0] ?? []).map((_, at) => all.reduce((sum, p) => sum + (p[at] ?? 0), 0) / all.length);
    const own = of(panels);
    const first = own[0] ?? [];
    const drawn = own.slice(1);
    const shares = first.map(
      (_, at) => drawn.filter((p) => p.indexOf(Math.max(...p)) === at).length / Math.max(1, drawn.length),
    );
    const second = compared ? of(compared) : null;
    const [a, b] = [averaged(drawn.length > 0 ? drawn : own), second ? averaged(second) : null];
    return {
      text: text.id,
      text_id: text.external_id,
      snippet: text.body,
      verdict: this.#verdict(first),
      answered: 0,
      others: drawn.length === 0 ? null : { shares, probabilities: a, otherwise: 1 - Math.max(...shares) },
      comparison:
        b && second
          ? {
              verdict: this.#verdict(second[0] ?? []),
              probabilities: b,
              apart: a.reduce((sum, p, at) => sum + Math.abs(p - (b[at] ?? 0)) / 2, 0),
            }
          : null,
    };
  }
}
