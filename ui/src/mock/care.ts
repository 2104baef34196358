// Care of the toy world: limits of the study and of people, what they read today, topics they leave out.
import type * as view from "$api/bindings";
import type { World } from "./world";

export class MockCare {
  study: view.StudyCare = none();
  #own = new Map<number, view.OwnCare>();
  #hard = new Map<number, Set<number>>();
  #wentOn = new Set<number>();

  constructor(
    private readonly world: () => World,
    private readonly flagged: (annotator: number, text: number) => boolean,
  ) {}

  forget(): void {
    this.study = none();
    this.#own = new Map();
    this.#hard = new Map();
    this.#wentOn = new Set();
  }

  own(annotator: number): view.OwnCare {
    return this.#own.get(annotator) ?? { limit: null, harmful: null, words: [], groups: [] };
  }

  choose(annotator: number, own: view.OwnCare): view.CareInfo {
    this.#own.set(annotator, own);
    return this.info(annotator);
  }

  /** In the mock a text is hard by its heat, once a threshold is set, or when it is flagged. */
  read(annotator: number, text: number): view.CareInfo {
    const [from] = this.study.harmful.length > 0 ? this.study.harmful : [this.own(annotator).harmful];
    const { heat } = this.world().texts[text - 1] ?? { heat: 0 };
    if ((from && heat > from.level - 2) || this.flagged(annotator, text)) {
      const hard = this.#hard.get(annotator) ?? new Set();
      this.#hard.set(annotator, hard.add(text));
    }
    return this.info(annotator);
  }

  goOn(annotator: number): view.CareInfo {
    this.#wentOn.add(annotator);
    return this.info(annotator);
  }

  excludes(annotator: number, body: string): boolean {
    const words = body.toLowerCase().split(/[^\p{L}\p{N}]+/u);
    return this.own(annotator).words.some((word) => words.includes(word.toLowerCase()));
  }

  excludedTexts(annotator: number): number {
    return this.world().texts.filter(({ body }) => this.excludes(annotator, body)).length;
  }

  info(annotator: number): view.CareInfo {
    const own = this.own(annotator);
    const { study } = this;
    const limit =
      study.strict && study.limit !== null
        ? Math.min(study.limit, own.limit ?? study.limit)
        : (own.limit ?? study.limit);
    const hard = this.#hard.get(annotator)?.size ?? 0;
    const may_go_on = !study.strict || study.limit === null;
    const reached = limit !== null && hard >= limit && !(may_go_on && this.#wentOn.has(annotator));
    const left_out = this.excludedTexts(annotator);
    return { study, own, limit, reached, may_go_on, today: hard, in_all: hard, left_out };
  }
}

function none(): view.StudyCare {
  return { limit: null, strict: false, greyscale: false, harmful: [] };
}
