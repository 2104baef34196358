// Lists of texts and the overview, of the invented project.
import { levelOf } from "./answers";
import type * as view from "$api/bindings";
import { answered, labelKey, type Text, type World } from "./world";

/** What the mock project stores besides labels. */
export interface Marks {
  flags: ReadonlySet<string>;
  skips: ReadonlySet<string>;
  noted: (question: number, annotator: number, text: number) => boolean;
  revision: () => number;
  packet: () => { annotator: number; questions: number[] } | null;
}

export class MockTexts {
  /** Whether texts were measured. */
  measured = false;

  constructor(
    private readonly world: () => World,
    private readonly marks: () => Marks,
  ) {}

  #answers(question: number, text: number): (number | null)[] {
    const { people, labels } = this.world();
    return people.map(({ id }) => labels.get(labelKey(question, id, text)) ?? null);
  }

  /** How far labels differ. */
  #differ(questions: readonly number[], text: number): number | null {
    const each = questions.flatMap((question) => {
      const given = this.#answers(question, text).filter((label) => label !== null);
      if (given.length < 2) return [];
      const pairs = given.flatMap((a, i) => given.slice(0, i).map((b) => Number(a !== b)));
      return [pairs.reduce((sum, n) => sum + n, 0) / pairs.length];
    });
    return each.length > 0 ? Math.max(...each) : null;
  }

  #row(query: view.TextQuery, questions: number[], text: Text): view.TextRow {
    const world = this.world();
    const { flags, skips, noted } = this.marks();
    const who = query.annotator === null ? world.people.map(({ id }) => id) : [query.annotator];
    const label = (question: number, id: number) => world.labels.get(labelKey(question, id, text.id));
    const has = (set: ReadonlySet<string>) =>
      who.some((id) => questions.some((question) => set.has(labelKey(question, id, text.id))));
    const given = (question: number) => who.some((id) => label(question, id) !== undefined);
    const answeredAll = questions.length > 0 && questions.every(given);
    const any = questions.some(given);
    const own = query.annotator;
    const answers =
      own === null
        ? []
        : questions.map((question) => {
            const scale = world.questions.find(({ id }) => id === question)?.scale;
            const level = label(question, own);
            if (!scale || level === undefined) return null;
            return scale.levels[levelOf(answered(world, scale, level)) ?? 0] ?? null;
          });
    return {
      text: text.id,
      external_id: text.external_id,
      named: true,
      row: text.id,
      snippet: text.body.slice(0, 280),
      characters: text.body.length,
      answers,
      note: null,
      answered: answeredAll,
      skipped: has(skips) && !answeredAll,
      flagged: has(flags),
      noted: who.some((id) => questions.some((question) => noted(question, id, text.id))),
      contested: this.marks().packet() || (own !== null && !any) ? null : this.#differ(questions, text.id),
      long: this.measured && text.body.length > 600,
    };
  }

  find(query: view.TextQuery, offset: number, limit: number, lookFor: number | null): view.FoundTexts {
    const world = this.world();
    const packet = this.marks().packet();
    const questions =
      packet?.questions ??
      (query.questions.length > 0 ? query.questions : world.questions.map(({ id }) => id));
    const asked = { ...query, annotator: packet?.annotator ?? query.annotator };
    const wanted = query.search.trim().toLowerCase();
    const all = world.texts
      .filter(({ body, external_id }) => `${body}\n${external_id}`.toLowerCase().includes(wanted))
      .map((text) => this.#row(asked, questions, text));
    const is: Record<view.TextFilter, (row: view.TextRow) => boolean> = {
      all: () => true,
      answered: (row) => row.answered,
      not_yet: (row) => !row.answered,
      skipped: (row) => row.skipped,
      flagged: (row) => row.flagged,
      noted: (row) => row.noted,
      contested: (row) => (row.contested ?? 0) > 0,
      long: (row) => row.long,
    };
    const count = (filter: view.TextFilter) => all.filter(is[filter]).length;
    const rows = all.filter(is[query.filter]);
    if (query.sort === "longest") rows.sort((a, b) => b.characters - a.characters);
    if (query.sort === "contested") rows.sort((a, b) => (b.contested ?? -1) - (a.contested ?? -1));
    const place = rows.findIndex(({ text }) => text === lookFor);
    return {
      total: rows.length,
      offset,
      rows: rows.slice(offset, offset + limit),
      counts: {
        all: all.length,
        answered: count("answered"),
        not_yet: count("not_yet"),
        skipped: count("skipped"),
        flagged: count("flagged"),
        noted: count("noted"),
        contested: packet ? null : count("contested"),
        long: this.measured ? count("long") : null,
      },
      place: place < 0 ? null : place,
      revision: this.marks().revision(),
    };
  }

  measure(): view.LongTextsInfo {
    this.measured = true;
    const long = this.world().texts.filter(({ body }) => body.length > 600).length;
    return { encoder: "all-MiniLM-L6-v2", tokens: 256, long, in_parts: true };
  }

  overview(readingAs: number | null): view.Overview {
    const world = this.world();
    const texts = world.texts.length;
    const questions = world.questions.map(({ id, name, scale }): view.OverviewQuestion => {
      const counts = scale.levels.map(() => 0);
      const labelled = world.texts.map((text) => {
        const given = this.#answers(id, text.id).filter((label) => label !== null);
        given.forEach((label) => (counts[label] = (counts[label] ?? 0) + 1));
        return given.length;
      });
      return {
        question: id,
        name,
        labels: labelled.reduce((sum, n) => sum + n, 0),
        people: world.people.length,
        texts: labelled.filter((n) => n > 0).length,
        shared: labelled.filter((n) => n > 1).length,
        counts: counts.slice(0, scale.levels.length),
      };
    });
    const labelsOf = (annotator: number) =>
      world.questions.map(
        ({ id }) => world.texts.filter((text) => world.labels.has(labelKey(id, annotator, text.id))).length,
      );
    const people = world.people.map(({ id, name, simulated, imported }): view.OverviewPerson => {
      const labels = labelsOf(id);
      return {
        annotator: id,
        name,
        simulated,
        imported,
        labels,
        asked: texts,
        seconds: imported ? null : 4.2,
      };
    });
    people.sort((a, b) => Number(a.imported) - Number(b.imported));
    const left = readingAs === null ? null : texts - Math.max(...labelsOf(readingAs));
    const steps: view.NextStep[] = [
      ...(left !== null && left > 0 ? [{ kind: "label" as const, count: left }] : []),
      { kind: "see_disagreement", count: texts },
      ...(left === null ? [{ kind: "label" as const, count: null }] : []),
    ];
    return { texts, people, questions, steps };
  }

  agreement(question: number): view.OverviewAgreement {
    const shared = this.world().texts.filter(
      (text) => this.#answers(question, text.id).filter((label) => label !== null).length > 1,
    ).length;
    return question === 1
      ? {
          question,
          alpha: 0.48,
          low: 0.41,
          high: 0.55,
          like_these: true,
          these_low: 0.45,
          these_high: 0.51,
          metric: "ordinal",
          shared,
          needs: null,
        }
      : {
          question,
          alpha: null,
          low: null,
          high: null,
          like_these: false,
          these_low: null,
          these_high: null,
          metric: "nominal",
          shared: 3,
          needs: "20 texts with labels of two people are needed.",
        };
  }
}
