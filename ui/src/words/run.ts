// Names for what a run is made of: models, tunings, metrics, devices, states.
import type { ActiveModel, ModelKind, RunInfo, RunMetric, Tuning, WorkState } from "$api/bindings";
import { counted, decimal } from "./format";

interface ModelWords {
  name: string;
  /** A one-line description. */
  what: string;
}

/** The annotator models, simplest first. */
export const MODELS: Readonly<Record<ModelKind, ModelWords>> = {
  majority: {
    name: "Majority",
    what: "Learns each text's most frequent answer, without differences between people.",
  },
  shared: {
    name: "Shared head",
    what: "Learns from every label, and predicts the same for everybody.",
  },
  "sep-heads": {
    name: "Separate heads",
    what: "One encoder for all, and a separate head for each person.",
  },
  "share-rec-ffn": {
    name: "Feed-forward",
    what: "A small feed-forward network combines text and person.",
  },
  "share-rec-dcn": {
    name: "Deep & cross",
    what: "A Deep & Cross Network multiplies features of text and person.",
  },
  multilevel: {
    name: "Multilevel",
    what: "Learns what is shared and how each person differs. Works with few labels.",
  },
};

export const TUNINGS: Readonly<Record<Tuning, { name: string; what: string }>> = {
  frozen: { name: "Frozen encoder", what: "uses the embeddings you already have; fast" },
  last_k: { name: "Last layers", what: "also trains the encoder's last layers; slow" },
  lora: { name: "LoRA", what: "trains small additions to every layer; slow" },
  prompt: { name: "Soft prompt", what: "trains a few vectors added to every text, not the encoder; slow" },
  full: { name: "Whole encoder", what: "trains every weight; slowest" },
};

/** A model's name in plain words. */
export function modelName(model: string): string {
  return Object.hasOwn(MODELS, model) ? MODELS[model as ModelKind].name : model;
}

/** The key of an encoder version is NAME/FINGERPRINT/POOLING/...; a name can be a path. */
function partsOf(key: string): { name: string; pooling: string | null } {
  const [, name, pooling] = /^(.*)\/[0-9a-f]{12}\/([^/]*)/.exec(key) ?? [];
  return { name: name ?? key, pooling: pooling ?? null };
}

/** "all-MiniLM-L6-v2, mean pooling" */
export function encoderWords(key: string): string {
  const { name, pooling } = partsOf(key);
  return pooling === null ? name : `${name}, ${pooling} pooling`;
}

/** "Predictions: Multilevel, fitted on 1,456 labels. Encoder: all-MiniLM-L6-v2, mean pooling." */
export function activeModelWords(active: ActiveModel): string {
  const name = modelName(active.model);
  const since = active.learned_since > 0 ? `, and ${counted(active.learned_since, "change")} since` : "";
  const model =
    active.fitted_on === null
      ? `Predictions: ${name}, not fitted yet.`
      : `Predictions: ${name}, fitted on ${counted(active.fitted_on, "label")}${since}.`;
  const encoder = active.encoder === null ? null : partsOf(active.encoder).name;
  if (encoder === null) return `${model} Without an encoder: it does not use the content of texts.`;
  const origin =
    active.run === null ? encoder : `of run ${active.run}, ${active.tuned ? "tuned by it" : "frozen"}`;
  return `${model} Encoder: ${origin}, ${active.pooling ?? "mean"} pooling.`;
}

/**
 * "frozen encoder", "last 2 layers", "soft prompt of 5 vectors", "LoRA, rank 8, with 1 auxiliary question",
 * "whole encoder, one of 3 questions on it".
 */
export function tuningWords(
  run: Pick<RunInfo, "tuning" | "layers" | "rank" | "vectors" | "auxiliary"> &
    Partial<Pick<RunInfo, "joint">>,
): string {
  const words = tunedWords(run);
  if ((run.joint ?? 0) > 0) return `${words}, one of ${run.joint} questions on it`;
  return run.auxiliary > 0 ? `${words}, with ${counted(run.auxiliary, "auxiliary question")}` : words;
}

function tunedWords(run: Pick<RunInfo, "tuning" | "layers" | "rank" | "vectors">): string {
  const { tuning, layers, rank, vectors } = run;
  if (tuning === "last_k") return layers === 1 ? "last layer" : `last ${layers} layers`;
  if (tuning === "prompt") return `soft prompt of ${counted(vectors, "vector")}`;
  const { name } = TUNINGS[tuning];
  return tuning === "lora" ? `${name}, rank ${rank}` : name.charAt(0).toLowerCase() + name.slice(1);
}

const METRICS: Readonly<Record<string, { name: string; what: string }>> = {
  log_loss: { name: "Log loss", what: "How surprised the model is by the labels, in nats: lower is better" },
  accuracy: { name: "Accuracy", what: "Share of labels that are the most likely level" },
  macro_f1: {
    name: "Macro F1 (tuned)",
    what: "Unweighted mean F1 of the levels, for the decision rule tuned on training or validation texts",
  },
  macro_f1_median: {
    name: "Macro F1 (median)",
    what: "Unweighted mean F1 of the levels, predicting the median level",
  },
  micro_f1: { name: "Micro F1", what: "F1 over all labels" },
  weighted_f1: { name: "Weighted F1", what: "Mean F1 of the levels, weighted by frequency" },
  annotator_accuracy: { name: "Annotator accuracy", what: "Mean of the people's accuracies" },
  annotator_macro_f1: { name: "Annotator macro F1", what: "Mean of the people's macro F1" },
  worst_tenth_accuracy: {
    name: "Accuracy, lowest 10 %",
    what: "Mean accuracy of the 10 % of annotators with the lowest accuracy",
  },
  brier: { name: "Brier score", what: "Squared error of the probabilities: lower is better" },
  ece: { name: "Calibration error", what: "Expected calibration error: lower is better" },
  soft_cross_entropy: {
    name: "Soft cross-entropy",
    what: "Against the share of people who gave each level: lower is better",
  },
  disagreement_auroc: {
    name: "Disagr. AUROC",
    what: "How well texts that split people are distinguished from others: 0.5 is chance",
  },
  disagreement_spearman: {
    name: "Disagr. Spearman",
    what: "Rank correlation of predicted with observed disagreement",
  },
  mae: { name: "Mean absolute error", what: "Levels between the median and the label: lower is better" },
  pearson: { name: "Pearson r", what: "Correlation of the expected (mean) level with the label" },
  pearson_median: { name: "Pearson r (median)", what: "Correlation of the median level with the label" },
  ranked_probability_score: {
    name: "Ranked prob. score",
    what: "Squared error of the cumulative probabilities: lower is better",
  },
  quadratic_kappa: {
    name: "Quadratic kappa",
    what: "Agreement of the most likely level with the label beyond chance",
  },
  normalized_absolute_distance: {
    name: "Norm. abs. distance",
    what: "Levels between the median and the label, mean over texts, divided by the number of levels (LeWiDi): lower is better",
  },
  error_rate: {
    name: "Error rate",
    what: "Share of a text's labels that are not the most likely level, mean over texts (LeWiDi): lower is better",
  },
  wasserstein: {
    name: "Wasserstein (median)",
    what: "Levels between the shares of a text's labels and the shares that minimise this distance, which are not probabilities: lower is better",
  },
  wasserstein_probabilities: {
    name: "Wasserstein (mean)",
    what: "Levels between the shares of a text's labels and the mean prediction: lower is better",
  },
  manhattan: {
    name: "Manhattan (median)",
    what: "Distance, 0 to 2, of the shares of a text's labels from the shares that minimise it, which are not probabilities: lower is better",
  },
  manhattan_probabilities: {
    name: "Manhattan (mean)",
    what: "Distance, 0 to 2, of the shares of a text's labels from the mean prediction: lower is better",
  },
  soft_micro_f1: {
    name: "Soft micro F1",
    what: "Overlap of the mean prediction with the shares of a text's labels",
  },
  po_jsd: {
    name: "PO-JSD",
    what: "One minus the Jensen-Shannon divergence of the mean prediction from the shares of a text's labels",
  },
};

/** The three headline metrics of a run. */
export const HEADLINE = ["log_loss", "accuracy", "disagreement_auroc"] as const;

/** "12 texts are excluded: the encoder was tuned on their labels."; null if there are none. */
export function excludedWords(run: RunInfo): string | null {
  const texts = run.scores?.left_out_texts ?? 0;
  if (texts === 0) return null;
  return `${counted(texts, "text")} ${texts === 1 ? "is" : "are"} excluded: the encoder was tuned on their labels.`;
}

/** A metric's name; one this window does not know is named after its key. */
export function metricName(key: string): string {
  const known = METRICS[key]?.name;
  if (known) return known;
  const words = key.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function metricExplanation(key: string): string | undefined {
  return METRICS[key]?.what;
}

/** One metric of a run that has ended. */
export function metricOf(run: RunInfo, key: string): RunMetric | null {
  return run.scores?.metrics.find((metric) => metric.key === key) ?? null;
}

/** "Log loss 1.064 · Accuracy 0.553 · ..."; null where none of them is known. */
export function headlineWords(run: RunInfo): string | null {
  const known = HEADLINE.filter((key) => metricOf(run, key) !== null);
  return (
    known.map((key) => `${metricName(key)} ${decimal(metricOf(run, key)?.value, 3)}`).join(" · ") || null
  );
}

export function deviceName(device: string): string {
  const names: Record<string, string> = { cpu: "CPU", cuda: "CUDA", metal: "Metal" };
  return names[device] ?? device;
}

export const STATES: Readonly<Record<WorkState, string>> = {
  running: "running",
  finished: "finished",
  cancelled: "stopped",
  failed: "failed",
  interrupted: "interrupted",
};

/** "Multilevel · LoRA · seed 3", for titles and labels. */
export function runTitle(run: RunInfo): string {
  return `${modelName(run.model)} · ${tuningWords(run)} · seed ${run.seed}`;
}

/** Finished runs have figures, and so can be compared. */
export function isScored(run: RunInfo): boolean {
  return run.state === "finished" && run.scores !== null;
}
