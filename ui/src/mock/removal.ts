// Removing additions by mistake, in the mock project.
import type * as view from "$api/bindings";
import type { World } from "./world";
import { problem } from "./refusals";

const NOTHING: view.RemovalCounts = { questions: 0, texts: 0, annotators: 0, answers: 0, attributes: 0 };
const IMPORTED: view.RemovalCounts = { questions: 1, texts: 40, annotators: 2, answers: 118, attributes: 0 };
const NO_IMPORT = problem("no-import");
const USED = "it stays, because of 12 entries in its history";

export class MockRemoval {
  constructor(private readonly world: () => World) {}

  preview(what: view.Removal): view.RemovalPreview {
    if (what === "last_import") {
      const { lastImport } = this.world();
      if (lastImport === null) throw NO_IMPORT;
      return { name: lastImport, stays: null, imported_at: Date.now(), counts: IMPORTED };
    }
    const of = { imported_at: null, counts: this.#one(what) };
    if ("annotator" in what) {
      const person = this.world().people.find(({ id }) => id === what.annotator);
      return { name: person?.external_id ?? "", stays: (person?.labels ?? 0) > 0 ? USED : null, ...of };
    }
    if ("question" in what) {
      const asked = this.world().questions.find(({ id }) => id === what.question);
      return { name: asked?.name ?? "", stays: (asked?.labels ?? 0) > 0 ? USED : null, ...of };
    }
    return { name: `t${what.text}`, stays: USED, ...of };
  }

  remove(what: view.Removal): view.Removed {
    const { name } = this.preview(what);
    const world = this.world();
    if (what === "last_import") {
      world.lastImport = null;
      return { name, gone: IMPORTED, kept: { ...NOTHING, texts: 1, answers: 2 } };
    }
    if ("annotator" in what) world.people = world.people.filter(({ id }) => id !== what.annotator);
    if ("question" in what) world.questions = world.questions.filter(({ id }) => id !== what.question);
    return { name, gone: this.#one(what), kept: NOTHING };
  }

  #one(what: Exclude<view.Removal, "last_import">): view.RemovalCounts {
    if ("annotator" in what) return { ...NOTHING, annotators: 1 };
    return "question" in what ? { ...NOTHING, questions: 1 } : { ...NOTHING, texts: 1 };
  }
}
