// Names for what a run is made of: models, tunings, metrics, devices, states.
import type { ActiveModel, ModelKind, RunInfo, RunMetric, Tuning } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { decimal } from "./format";

/** The annotator models, simplest first, each with the end of the keys of its messages. */
export const MODELS = {
  majority: "majority",
  shared: "shared",
  "sep-heads": "sep_heads",
  "share-rec-ffn": "share_rec_ffn",
  "share-rec-dcn": "share_rec_dcn",
  multilevel: "multilevel",
} as const satisfies Record<ModelKind, string>;

export const TUNINGS: readonly Tuning[] = ["frozen", "last_k", "lora", "prompt", "full"];

/** A model's name in plain words. */
export function modelName(model: string): string {
  return Object.hasOwn(MODELS, model) ? t(`models.model_${MODELS[model as ModelKind]}`) : model;
}

/** The key of an encoder version is NAME/FINGERPRINT/POOLING/...; a name can be a path. */
function partsOf(key: string): { name: string; pooling: string | null } {
  const [, name, pooling] = /^(.*)\/[0-9a-f]{12}\/([^/]*)/.exec(key) ?? [];
  return { name: name ?? key, pooling: pooling ?? null };
}

/** "all-MiniLM-L6-v2, mean pooling" */
export function encoderWords(key: string): string {
  const { name, pooling } = partsOf(key);
  return pooling === null ? name : t("models.encoder_pooling", { encoder: name, pooling });
}

/** "Predictions: Multilevel, fitted on 1,456 labels. Encoder: all-MiniLM-L6-v2, mean pooling." */
export function activeModelWords(active: ActiveModel): string {
  return `${fittedWords(active)} ${usedEncoderWords(active)}`;
}

function fittedWords(active: ActiveModel): string {
  const model = modelName(active.model);
  if (active.fitted_on === null) return t("models.active_not_fitted", { model });
  const labels = t("counts.labels", { count: active.fitted_on });
  if (active.learned_since === 0) return t("models.active_fitted", { model, labels });
  const changes = t("counts.changes", { count: active.learned_since });
  return t("models.active_fitted_since", { model, labels, changes });
}

function usedEncoderWords({ encoder, run, tuned, pooling: given }: ActiveModel): string {
  const pooling = given ?? "mean";
  if (encoder === null) return t("models.active_no_encoder");
  if (run === null) return t("models.active_encoder", { encoder: partsOf(encoder).name, pooling });
  return tuned
    ? t("models.active_encoder_tuned", { run, pooling })
    : t("models.active_encoder_frozen", { run, pooling });
}

/**
 * "frozen encoder", "last 2 layers", "soft prompt of 5 vectors", "LoRA, rank 8, with 1 auxiliary question",
 * "whole encoder, one of 3 questions on it".
 */
export function tuningWords(
  run: Pick<RunInfo, "tuning" | "layers" | "rank" | "vectors" | "auxiliary"> &
    Partial<Pick<RunInfo, "joint">>,
): string {
  const tuning = tunedWords(run);
  const joint = run.joint ?? 0;
  if (joint > 0) return t("models.tuned_joint", { tuning, count: joint });
  return run.auxiliary > 0 ? t("models.tuned_auxiliary", { tuning, count: run.auxiliary }) : tuning;
}

function tunedWords(run: Pick<RunInfo, "tuning" | "layers" | "rank" | "vectors">): string {
  const { tuning, layers, rank, vectors } = run;
  switch (tuning) {
    case "last_k":
      return t("models.tuned_layers", { count: layers });
    case "prompt":
      return t("models.tuned_vectors", { count: vectors });
    case "lora":
      return t("models.tuned_lora", { rank });
    default:
      return t(`models.tuned_${tuning}`);
  }
}

/** The metrics that have messages. */
const METRICS = [
  "log_loss",
  "accuracy",
  "macro_f1",
  "macro_f1_median",
  "micro_f1",
  "weighted_f1",
  "annotator_accuracy",
  "annotator_macro_f1",
  "worst_tenth_accuracy",
  "brier",
  "ece",
  "soft_cross_entropy",
  "disagreement_auroc",
  "disagreement_spearman",
  "mae",
  "pearson",
  "pearson_median",
  "ranked_probability_score",
  "quadratic_kappa",
  "normalized_absolute_distance",
  "error_rate",
  "wasserstein",
  "wasserstein_probabilities",
  "manhattan",
  "manhattan_probabilities",
  "soft_micro_f1",
  "po_jsd",
] as const;
type Metric = (typeof METRICS)[number];

const isKnown = (key: string): key is Metric => METRICS.some((metric) => metric === key);

/** The three headline metrics of a run. */
export const HEADLINE = ["log_loss", "accuracy", "disagreement_auroc"] as const;

/** "12 texts are excluded: the encoder was tuned on their labels."; null if there are none. */
export function excludedWords(run: RunInfo): string | null {
  const texts = run.scores?.left_out_texts ?? 0;
  if (texts === 0) return null;
  return t("models.excluded", { count: texts });
}

/** A metric's name; one this window does not know is named after its key. */
export function metricName(key: string): string {
  if (isKnown(key)) return t(`models.metric_${key}`);
  const words = key.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function metricExplanation(key: string): string | undefined {
  return isKnown(key) ? t(`models.metric_what_${key}`) : undefined;
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

/** "Multilevel · LoRA · seed 3", for titles and labels. */
export function runTitle(run: RunInfo): string {
  return `${modelName(run.model)} · ${tuningWords(run)} · ${t("models.seed", { seed: run.seed })}`;
}

/** Finished runs have figures, and so can be compared. */
export function isScored(run: RunInfo): boolean {
  return run.state === "finished" && run.scores !== null;
}
