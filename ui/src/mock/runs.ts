// Invented runs: finished ones with curves, one at work, one failed, one that broke off.
import type * as view from "$api/bindings";
import { entropy, seeded, type World } from "./world";
import { problem, refuse } from "./refusals";

type Emit = (name: "runChanged" | "jobChanged", payload: unknown) => void;

interface Run {
  info: view.RunInfo;
  choices: view.TrainChoices;
}

/** How good each model is here: log loss, accuracy, AUROC of disagreement. */
const SKILL: Record<view.ModelKind, [number, number, number]> = {
  majority: [1.312, 0.471, 0.582],
  shared: [1.184, 0.502, 0.611],
  "sep-heads": [1.097, 0.541, 0.662],
  "share-rec-ffn": [1.071, 0.549, 0.668],
  "share-rec-dcn": [1.064, 0.553, 0.671],
  multilevel: [1.012, 0.578, 0.694],
};
const HOUR = 3_600_000;
const JOB = 70;

export function defaults(question: number, model: view.ModelKind, tuning: view.Tuning): view.TrainChoices {
  const tuned = tuning !== "frozen";
  return {
    question,
    model,
    tuning,
    layers: 2,
    rank: 8,
    vectors: 5,
    split: "by-text:0.7",
    validation: 0.1,
    seed: 0,
    epochs: tuned ? 5 : 30,
    batch: tuned ? 16 : 64,
    gradient_accumulation_steps: 1,
    encoder_lr: 0.00002,
    head_lr: tuned ? 0.0005 : 0.001,
    weight_decay: 0.01,
    schedule: "linear",
    warmup: 0.06,
    max_grad_norm: 1,
    patience: 4,
    metric_for_best_model: "log_loss",
    hidden: model.startsWith("share-rec") ? 64 : 0,
    activation: "relu",
    embedding_dropout: 0.1,
    head_dropout: 0.1,
    class_weights: false,
    pos_weight: 1,
    label_smoothing: 0,
    soft_labels: false,
    max_steps: 0,
    evaluate_every: 0,
    use_identity: true,
    use_attributes: true,
    without_slips: false,
  };
}

/** The runs of a project, and the commands about them. */
export class MockRuns {
  #runs: Run[] = [];
  #last = new Map<string, view.TrainChoices>();
  #next = 1;
  readonly #world: () => World;
  readonly #say: Emit;
  /** The question of the initial runs. */
  readonly #question: number;
  /** How many people are scored; 0 for those of the project. */
  readonly #crowd: number;

  constructor(world: () => World, emit: Emit, question: number, crowd: number) {
    this.#world = world;
    this.#say = emit;
    this.#question = question;
    this.#crowd = crowd;
  }

  /** As the project was made; `none` begins without runs. */
  reset(none = false): void {
    this.#runs = [];
    this.#last.clear();
    this.#next = 1;
    if (none) return;
    this.#finished("multilevel", "frozen", { split: "by-annotator:0.8" }, 220);
    this.#finished("majority", "frozen", {}, 98, { data_changed: true });
    // On an encoder that an earlier run had tuned on some of its test texts.
    this.#finished("shared", "frozen", {}, 50, {}, 31);
    const broken = this.#add("share-rec-ffn", "lora", { epochs: 8 }, 27, "interrupted");
    this.#evaluate(broken, 3);
    broken.info.resumable = true;
    const failed = this.#add("sep-heads", "full", { head_lr: 0.05, encoder_lr: 0.01 }, 26, "failed");
    this.#evaluate(failed, 1);
    failed.info.problem = problem("model diverged", [412, 2, "; the checkpoint of step 400 is stored"]);
    this.#finished("sep-heads", "last_k", { epochs: 6 }, 25);
    this.#finished("multilevel", "frozen", {}, 2.2, { predicts: true });
    const going = this.#add("share-rec-dcn", "frozen", { epochs: 24 }, 0.02, "running");
    this.#evaluate(going, 9);
    going.info.seconds_left = 62;
  }

  list = (): view.RunInfo[] => [...this.#runs].reverse().map((run) => ({ ...run.info }));

  defaultsOf(question: number, model: view.ModelKind, tuning: view.Tuning): view.TrainChoices {
    return this.#last.get(`${question}:${model}:${tuning}`) ?? defaults(question, model, tuning);
  }

  /** Of another project two questions; of a file called "empty" none; of one called "single" one. */
  auxiliaryCandidates(question: number, project: string): view.AuxiliaryCandidate[] {
    const file = project.split("/").at(-1) ?? project;
    const of = (name: string, labels: number) => ({ project, file, question: name, labels });
    const world = this.#world();
    if (project === "/home/you/Documents/Comments.dissensus") {
      return world.questions.filter((q) => q.id !== question).map((q) => of(q.name, 120));
    }
    if (file.startsWith("empty")) return [];
    if (file.startsWith("single")) return [of("rude", 53_764)];
    return [of("toxic", 1_200), of("fair", 1)];
  }

  start(choices: view.TrainChoices): number {
    if (choices.split === "column") {
      refuse("split", [choices.split]);
    }
    this.#last.set(`${choices.question}:${choices.model}:${choices.tuning}`, choices);
    const run = this.#add(choices.model, choices.tuning, choices, 0, "running");
    run.info.question = choices.question;
    this.#tell(run);
    return run.info.id;
  }

  resume(id: number): null {
    const run = this.#find(id);
    Object.assign(run.info, { state: "running", job: JOB + id, resumable: false });
    this.#tell(run);
    return null;
  }

  cancel(job: number): boolean {
    const run = this.#runs.find((r) => r.info.job === job);
    if (!run) return false;
    this.#end(run, "cancelled");
    return true;
  }

  use(id: number | null): null {
    for (const { info } of this.#runs) info.predicts = info.id === id;
    return null;
  }

  delete(id: number): null {
    this.#find(id);
    this.#runs = this.#runs.filter((run) => run.info.id !== id);
    return null;
  }

  /** One more evaluation of every run at work. */
  step(): void {
    for (const run of this.#runs.filter((r) => r.info.state === "running")) {
      const { info } = run;
      this.#evaluate(run, info.epochs.length + 1);
      info.seconds_left = (info.epochs_planned - info.epochs.length) * 4;
      if (info.epochs.length >= info.epochs_planned) {
        this.#score(run);
        this.#end(run, "finished");
      } else this.#tell(run);
    }
  }

  detail(id: number): view.RunDetail {
    const run = this.#find(id);
    const scored = run.info.scores !== null;
    const levels = this.#levels(run);
    const confusion = scored ? this.#confusion(run, levels.length) : [];
    return {
      info: { ...run.info },
      choices: run.choices,
      sizes: {
        train_texts: 101,
        train_labels: 526,
        validation_texts: 11,
        validation_labels: 57,
        test_texts: 48,
        test_labels: 249,
      },
      encoder: "all-MiniLM-L6-v2/53aa51172d14/mean/256",
      levels,
      auxiliary: [],
      classes: scored ? classesOf(confusion, levels) : [],
      options: [],
      confusion,
      calibration: scored ? calibrationOf(run) : [],
      annotators: scored ? this.#people(run) : [],
      words: null,
      baselines: scored ? baselinesOf(run) : [],
      notes: run.info.scores?.left_out_texts
        ? [
            `${run.info.scores.left_out_texts} texts are left out of the test: the encoder was tuned on their labels.`,
          ]
        : run.info.model === "majority"
          ? ["14 texts had a tie: their labels were split evenly among the levels that tied."]
          : run.info.model === "sep-heads"
            ? ["2 annotators have fewer than 5 labels to learn from; the shared head answers for them."]
            : [],
    };
  }

  compare(a: number, b: number): view.RunComparison {
    const [one, two] = [this.#find(a), this.#find(b)];
    if (one.info.split !== two.info.split || one.info.seed !== two.info.seed) {
      refuse("not-comparable", [
        "the runs were scored on different labels: give both the same split and seed, on the same data",
      ]);
    }
    const first = new Map(this.#people(one).map((p) => [p.annotator, p]));
    return {
      a,
      b,
      labels: 249,
      metrics: (one.info.scores?.metrics ?? []).map((metric, i) => {
        const other = two.info.scores?.metrics[i]?.value ?? 0;
        const by = other - (metric.value ?? 0);
        const wide = 0.021 + (i % 3) * 0.009;
        const known = metric.key !== "disagreement_spearman";
        return {
          key: metric.key,
          a: metric.value,
          b: other,
          low: known ? by - wide : null,
          high: known ? by + wide : null,
          p: known ? Math.min(1, Math.exp((-2.1 * Math.abs(by)) / wide)) : null,
          higher_is_better: metric.higher_is_better,
        };
      }),
      annotators: this.#people(two).map((p) => ({
        annotator: p.annotator,
        name: p.name,
        a: first.get(p.annotator)?.accuracy ?? null,
        b: p.accuracy,
        labels: p.labels,
      })),
      baselines: baselinesOf(one),
    };
  }

  #find(id: number): Run {
    return this.#runs.find((r) => r.info.id === id) ?? refuse("no-such-run", [id]);
  }

  #levels(run: Run): string[] {
    return this.#world().questions.find((q) => q.id === run.info.question)?.scale.levels ?? [];
  }

  #add(
    model: view.ModelKind,
    tuning: view.Tuning,
    asked: Partial<view.TrainChoices>,
    hoursAgo: number,
    state: view.WorkState,
  ): Run {
    const id = this.#next++;
    const choices = { ...defaults(this.#question, model, tuning), ...asked };
    const run: Run = {
      choices,
      info: {
        id,
        uid: `00000000-0000-7000-8000-${String(id).padStart(12, "0")}`,
        question: choices.question,
        question_name: this.#world().questions.find((q) => q.id === choices.question)?.name ?? "",
        model,
        tuning,
        layers: choices.layers,
        rank: choices.rank,
        vectors: choices.vectors,
        auxiliary: choices.auxiliary?.length ?? 0,
        joint: choices.joint?.length ?? 0,
        trained_with: [],
        split: choices.split,
        seed: choices.seed,
        state,
        job: state === "running" ? JOB + id : null,
        started_at: Date.now() - hoursAgo * HOUR,
        seconds: 0,
        device: tuning === "full" ? "cuda" : "cpu",
        epochs: [],
        epochs_planned: choices.epochs,
        seconds_left: null,
        scores: null,
        problem: null,
        predicts: false,
        usable: false,
        data_changed: false,
        resumable: false,
      },
    };
    this.#runs.push(run);
    return run;
  }

  #finished(
    model: view.ModelKind,
    tuning: view.Tuning,
    asked: Partial<view.TrainChoices>,
    hoursAgo: number,
    more: Partial<view.RunInfo> = {},
    excluded = 0,
  ): void {
    const run = this.#add(model, tuning, asked, hoursAgo, "finished");
    // The model of the window is solved in one go where the encoder is frozen.
    if (model !== "multilevel") this.#evaluate(run, Math.min(run.info.epochs_planned, 18));
    this.#score(run, excluded);
    Object.assign(run.info, { usable: true, ...more });
    if (model === "multilevel") run.info.seconds = 3.4;
  }

  /** The curve of so many evaluations: falls, and begins to rise again. */
  #evaluate({ info, choices }: Run, many: number): void {
    const [loss, accuracy] = SKILL[info.model];
    const random = seeded(info.id * 31 + info.seed);
    const slow = info.tuning === "frozen" ? 4 : 1.6;
    let least = Infinity;
    let best = 0;
    info.epochs = Array.from({ length: many }, (_, i): view.EpochInfo => {
      const fall = Math.exp(-(i + 1) / slow);
      const noise = (random() - 0.5) * 0.02;
      const validation = loss + 0.42 * fall + Math.max(0, i - slow * 2.4) * 0.006 + noise;
      if (validation < least) [least, best] = [validation, i];
      return {
        epoch: i + 1,
        step: (i + 1) * 9,
        train_loss: loss - 0.16 + 0.58 * fall - i * 0.006 + noise / 2,
        validation_loss: validation,
        validation_accuracy: accuracy - 0.16 * fall + noise / 2,
        rate: (choices.head_lr ?? 0) * (1 - i / info.epochs_planned),
        seconds: (i + 1) * (info.tuning === "frozen" ? 4.1 : 188),
        best: false,
        gradients:
          info.tuning === "frozen"
            ? [{ group: "head", norm: 0.42 * fall + 0.05 }]
            : [
                { group: "layer 4", norm: info.tuning === "last_k" ? 0.11 + noise : 0 },
                { group: "layer 5", norm: 0.23 + noise },
                { group: "head", norm: 0.61 * fall + 0.08 },
              ],
      };
    }).map((epoch, i) => ({ ...epoch, best: i === best }));
    info.seconds = info.epochs.at(-1)?.seconds ?? 0;
  }

  #score({ info }: Run, excluded = 0): void {
    const [loss, accuracy, auroc] = SKILL[info.model];
    const shift = info.tuning === "frozen" ? 0 : 0.021;
    const cold = info.split.startsWith("by-annotator") ? 0.06 : 0;
    const metric = (key: string, value: number, wide: number, higher = true): view.RunMetric => ({
      key,
      value,
      low: key === "disagreement_spearman" ? null : value - wide,
      high: key === "disagreement_spearman" ? null : value + wide * 0.9,
      higher_is_better: higher,
    });
    info.scores = {
      labels: 249,
      texts: 48,
      annotators: 8,
      left_out_texts: excluded,
      metrics: [
        metric("log_loss", loss - shift * 2 + cold * 2, 0.062, false),
        metric("accuracy", accuracy + shift - cold, 0.031),
        metric("macro_f1", accuracy - 0.052 + shift - cold, 0.036),
        metric("annotator_accuracy", accuracy - 0.004 + shift - cold, 0.034),
        metric("annotator_macro_f1", accuracy - 0.121 + shift - cold, 0.029),
        metric("worst_tenth_accuracy", accuracy - 0.168 - cold, 0.049),
        metric("brier", 0.86 - accuracy / 2 + cold, 0.022, false),
        metric("ece", 0.062 - accuracy / 20, 0.013, false),
        metric("soft_cross_entropy", loss + 0.055, 0.04, false),
        metric("disagreement_auroc", auroc + shift - cold, 0.044),
        metric("disagreement_spearman", auroc - 0.31, 0.05),
        metric("mae", 1.42 - accuracy, 0.05, false),
      ],
    };
  }

  #end(run: Run, state: view.WorkState): void {
    this.#tellJob(run, state);
    Object.assign(run.info, {
      state,
      job: null,
      seconds_left: null,
      usable: state === "finished",
      resumable: state === "cancelled",
    });
    this.#say("runChanged", { ...run.info });
  }

  #tell(run: Run): void {
    this.#tellJob(run, "running");
    this.#say("runChanged", { ...run.info });
  }

  #tellJob({ info }: Run, state: view.WorkState): void {
    this.#say("jobChanged", {
      id: info.job ?? JOB + info.id,
      kind: "train",
      title: info.model,
      state,
      done: info.epochs.length,
      total: info.epochs_planned,
      seconds_left: state === "running" ? info.seconds_left : null,
      note: null,
      problem: info.problem,
    } satisfies view.JobInfo);
  }

  #people({ info }: Run): view.RunAnnotator[] {
    const [loss, accuracy] = SKILL[info.model];
    const random = seeded(info.id * 7 + 1);
    const people =
      this.#crowd > 0
        ? Array.from({ length: this.#crowd }, (_, i) => ({ id: i + 1, name: `Annotator ${i + 1}` }))
        : this.#world().people;
    return people.map((person, i) => {
      const right = Math.min(
        0.94,
        Math.max(0.1, accuracy + Math.sin(i * 1.9) * 0.11 + (random() - 0.5) * 0.1),
      );
      return {
        annotator: person.id,
        name: person.name,
        labels: 22 + ((i * 13) % 19),
        accuracy: right,
        baseline: 0.29 + ((i * 7) % 11) / 60,
        log_loss: loss + (accuracy - right) * 1.7,
      };
    });
  }

  #confusion({ info }: Run, levels: number): number[][] {
    const [, accuracy] = SKILL[info.model];
    const random = seeded(info.id);
    return Array.from({ length: levels }, (_, t) => {
      const all = 30 + Math.round(40 * random());
      const near = (p: number) =>
        p === t
          ? accuracy
          : ((1 - accuracy) / (levels - 1)) * (1.8 / Math.abs(p - t)) * (0.6 + random() * 0.5);
      return Array.from({ length: levels }, (_, p) => Math.round(all * near(p)));
    });
  }
}

/** A little worse than a model, and of one answer no probabilities. */
function baselinesOf({ info }: Run): view.RunBaseline[] {
  const metrics = info.scores?.metrics ?? [];
  return ["own-most-frequent", "own-distribution", "prior"].map((name, i) => ({
    name,
    metrics: metrics
      .filter((metric) => i > 0 || !["log_loss", "brier", "ece"].includes(metric.key))
      .map((metric) => ({
        ...metric,
        value: (metric.value ?? 0) * (metric.higher_is_better ? 0.82 - 0.06 * i : 1.2 + 0.1 * i),
        low: null,
        high: null,
      })),
  }));
}

function classesOf(confusion: number[][], levels: string[]): view.RunClass[] {
  return levels.map((name, k) => {
    const support = confusion[k]?.reduce((a, b) => a + b, 0) ?? 0;
    const predicted = confusion.reduce((sum, row) => sum + (row[k] ?? 0), 0);
    const right = confusion[k]?.[k] ?? 0;
    const precision = predicted > 0 ? right / predicted : null;
    const recall = support > 0 ? right / support : null;
    const f1 = precision && recall ? (2 * precision * recall) / (precision + recall) : null;
    return { name, precision, recall, f1, support };
  });
}

function calibrationOf({ info }: Run): view.RunBin[] {
  const [, accuracy] = SKILL[info.model];
  const random = seeded(info.id * 3);
  return [0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.94].map((confidence, i) => ({
    confidence,
    accuracy: Math.min(1, Math.max(0, confidence - (0.62 - accuracy) * confidence + (random() - 0.5) * 0.09)),
    labels: Math.round(70 * entropy([0.15 + i * 0.09, 0.85 - i * 0.09]) + 8),
  }));
}
