// The list of runs while events and answers cross, and what settings may be.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { commands, TRAINING_SETTINGS } from "$bindings";
import type { ActiveModel, ModelKind, RunInfo } from "$api/bindings";
import { duration, pValue, range } from "$words/format";
import { t } from "$messages/messages.svelte";
import { activeModelWords, metricName, MODELS, tuningWords } from "$words/run";
import { RunsStore } from "./runs.svelte";
import { readSplit, splitWords, writeSplit } from "$words/splits";
import { EPOCHS, faults, GROUPS, numberFault, SEED, settingLines, valueWords } from "$words/train-fields";
import { reset, runs } from "../mock/bindings";
import { defaults } from "../mock/runs";

beforeEach(() => reset());

const first = (): RunInfo => {
  const [run] = runs.list();
  if (!run) throw new Error("no run");
  return run;
};

describe("the store", () => {
  it("applies events that arrive while the list is loading", async () => {
    const store = new RunsStore();
    const old = runs.list();
    let answer: (list: RunInfo[]) => void = () => {};
    vi.spyOn(commands, "runs").mockReturnValue(new Promise((resolve) => (answer = resolve)));
    const loading = store.load();
    store.receive({ ...first(), seconds: 999 });
    store.receive({ ...first(), id: 77, started_at: Date.now() + 1 });
    answer(old);
    await loading;
    expect(store.get(8)?.seconds).toBe(999);
    expect(store.list[0]?.id).toBe(77);
    expect(store.list).toHaveLength(9);
  });

  it("reports no end of runs that it never saw running", () => {
    const store = new RunsStore();
    expect(store.receive({ ...first(), state: "finished" })).toBe(false);
    store.receive(first());
    expect(store.receive({ ...first(), state: "finished" })).toBe(true);
    expect(store.receive({ ...first(), state: "finished" })).toBe(false);
    store.receive(first());
    expect(store.receive({ ...first(), state: "failed" })).toBe(false);
  });

  it("ignores the response for a project that was closed", async () => {
    const store = new RunsStore();
    const loading = store.load();
    store.forget();
    await loading;
    expect(store.list).toEqual([]);
    expect(store.loaded).toBe(false);
  });

  it("accepts a new run with the number of a deleted one", async () => {
    const store = new RunsStore();
    await store.load();
    await store.delete(8);
    expect(store.get(8)).toBeNull();
    store.receive({ ...runs.list()[0], id: 8 } as RunInfo);
    expect(store.get(8)).not.toBeNull();
  });

  it("offers the last choice, else that of the newest run, else the default", async () => {
    const store = new RunsStore();
    expect(store.lastChoice(1)).toEqual({ model: "multilevel", tuning: "frozen" });
    await store.load();
    expect(store.lastChoice(1)).toEqual({ model: "share-rec-dcn", tuning: "frozen" });
    await store.start(defaults(1, "shared", "lora"));
    expect(store.lastChoice(1)).toEqual({ model: "shared", tuning: "lora" });
    expect(store.lastChoice(2).model).toBe("multilevel");
  });
});

describe("splits", () => {
  it("are parsed, formatted and described", () => {
    expect(readSplit("by-text:0.7")).toEqual({ kind: "by-text", share: 0.7 });
    expect(readSplit("column")).toEqual({ kind: "column", share: null });
    expect(readSplit("by-text:")).toEqual({ kind: "by-text", share: null });
    expect(writeSplit({ kind: "grouped", share: 0.1 + 0.2 })).toBe("grouped:0.3");
    expect(writeSplit({ kind: "column", share: null })).toBe("column");
    expect(splitWords("by-annotator:0.8")).toBe("by annotator, 80 %");
    expect(splitWords("column")).toBe("official split");
    expect(splitWords("k-fold:5/3")).toBe("k-fold:5/3");
  });
});

describe("settings", () => {
  it("are valid by default, for every model and tuning", () => {
    for (const model of Object.keys(MODELS) as ModelKind[])
      for (const tuning of ["frozen", "last_k", "lora", "prompt", "full"] as const)
        expect(faults(defaults(1, model, tuning))).toEqual({});
  });

  it("are refused if they are invalid", () => {
    const at = (change: object) =>
      Object.keys(faults({ ...defaults(1, "share-rec-ffn", "frozen"), ...change }));
    expect(at({ epochs: 0 })).toEqual(["epochs"]);
    expect(at({ epochs: 2.5, seed: -1 })).toEqual(["epochs", "seed"]);
    expect(at({ validation: null })).toEqual(["validation"]);
    expect(at({ split: "by-text" })).toEqual(["split"]);
    expect(at({ split: "by-text:0.99" })).toEqual(["split"]);
    expect(at({ split: "column" })).toEqual([]);
    expect(at({ use_identity: false, use_attributes: false })).toEqual(["people"]);
    // What does not count cannot be wrong.
    expect(at({ layers: 0, rank: 0, encoder_lr: -1 })).toEqual([]);
    expect(at({ layers: 0, tuning: "last_k" })).toEqual(["layers"]);
    expect(at({ vectors: 65 })).toEqual([]);
    expect(at({ vectors: 65, tuning: "prompt" })).toEqual(["vectors"]);
    expect(numberFault(EPOCHS, 0)).toBe("Write a number from 1 to 1000000.");
    expect(numberFault(EPOCHS, 1.5)).toBe("Write a whole number from 1 to 1000000.");
  });

  it("and their values appear once in the form, with the text of their definition", () => {
    const fields = [EPOCHS, SEED, ...GROUPS.flatMap((group) => group.fields)];
    expect(fields.map((field) => field.key).sort()).toEqual(TRAINING_SETTINGS.map((s) => s.key).sort());
    const asked = Object.keys(defaults(1, "shared", "frozen"));
    const elsewhere = ["question", "model", "tuning", "split"];
    expect(asked.filter((key) => !elsewhere.includes(key)).sort()).toEqual(
      fields.map((field) => field.key as string).sort(),
    );
    for (const { key, label, help } of TRAINING_SETTINGS) {
      expect(t(`models.setting_${key}`)).toBe(label);
      expect(t(`models.help_${key}`)).toBe(help);
    }
    const values = fields.flatMap((field) => field.values);
    expect(values.filter((value) => valueWords(value).label === value)).toEqual(["tanh"]);
  });

  it("are listed if they apply", () => {
    const lines = new Map(settingLines({ ...defaults(1, "share-rec-dcn", "lora"), hidden: 0 }));
    expect(lines.get("LoRA rank")).toBe("8");
    expect(lines.get("Annotator identity")).toBe("yes");
    expect(lines.get("Encoder learning rate")).toBe("0.00002");
    expect(lines.has("Layers")).toBe(false);
    expect(lines.has("Activation")).toBe(false);
    expect(lines.get("Head dropout")).toBe("0.1");
    expect(lines.has("Soft labels")).toBe(false);
  });
});

describe("words", () => {
  it("for durations", () => {
    expect([0.84, 9.94, 9.97, 42, 59.6, 200, 240, 780, 3599, 3600, 4320].map(duration)).toEqual([
      "0.8 s",
      "9.9 s",
      "10 s",
      "42 s",
      "1 min",
      "3 min 20 s",
      "4 min",
      "13 min",
      "1 h",
      "1 h",
      "1 h 12 min",
    ]);
    expect(duration(null)).toBe("–");
  });

  it("for intervals and p", () => {
    expect(range(-0.0412, 0.05)).toBe("[−0.041, 0.050]");
    expect(range(null, 0.05)).toBe("");
    expect([0.00004, 0.0312, 0.456, null].map(pValue)).toEqual(["< 0.001", "0.031", "0.46", "–"]);
  });

  it("for metrics unknown to the window", () => {
    expect(metricName("log_loss")).toBe("Log loss");
    expect(metricName("acc_hate")).toBe("Acc hate");
  });

  it("for tunings", () => {
    expect(tuningWords({ tuning: "last_k", layers: 2, rank: 8, vectors: 5, auxiliary: 0 })).toBe(
      "last 2 layers",
    );
    expect(tuningWords({ tuning: "last_k", layers: 1, rank: 8, vectors: 5, auxiliary: 0 })).toBe(
      "last layer",
    );
    expect(tuningWords({ tuning: "lora", layers: 2, rank: 8, vectors: 5, auxiliary: 0 })).toBe(
      "LoRA, rank 8",
    );
    expect(tuningWords({ tuning: "prompt", layers: 2, rank: 8, vectors: 5, auxiliary: 0 })).toBe(
      "soft prompt of 5 vectors",
    );
    expect(tuningWords({ tuning: "frozen", layers: 2, rank: 8, vectors: 5, auxiliary: 0 })).toBe(
      "frozen encoder",
    );
    expect(tuningWords({ tuning: "lora", layers: 2, rank: 8, vectors: 5, auxiliary: 2 })).toBe(
      "LoRA, rank 8, with 2 auxiliary questions",
    );
    expect(tuningWords({ tuning: "full", layers: 2, rank: 8, vectors: 5, auxiliary: 0, joint: 3 })).toMatch(
      /, one of 3 questions on it$/,
    );
  });
});

it("describes exactly what predicts", () => {
  const active: ActiveModel = {
    question: 1,
    encoder: "all-MiniLM-L6-v2/53aa51172d14/mean/256",
    pooling: "mean",
    precision: "fp32",
    run: null,
    tuned: false,
    model: "multilevel",
    fitted_on: 1456,
    learned_since: 0,
    fitted_at: null,
    labels: 1456,
  };
  expect(activeModelWords(active)).toBe(
    "Predictions: Multilevel, fitted on 1,456 labels. Encoder: all-MiniLM-L6-v2, mean pooling.",
  );
  const tuned = activeModelWords({ ...active, run: 4, tuned: true, learned_since: 1 });
  expect(tuned).toContain("and 1 change since");
  expect(tuned).toContain("Encoder: of run 4, tuned by it");
  expect(activeModelWords({ ...active, encoder: null, fitted_on: null })).toContain("not fitted yet");
});
