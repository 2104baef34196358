// The training settings: their position in the form, and when they apply. Ranges come from the definition
// that the command also uses; its names and hints are messages here.
import { TRAINING_SETTINGS } from "$bindings";
import type { TrainChoices } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { readSplit, SPLITS } from "./splits";

type SettingKey = (typeof TRAINING_SETTINGS)[number]["key"];

export interface Field {
  key: SettingKey;
  /** The smallest and the largest number; null where it is no number. */
  range: readonly [number, number] | null;
  whole: boolean;
  /** Names to choose from; empty where it is a number, or yes or no. */
  values: readonly string[];
  /** Whether it counts, given the others. */
  when: (choices: TrainChoices) => boolean;
}

interface FieldGroup {
  key: "checkpoint" | "optimisation" | "encoder" | "head" | "annotators" | "labels";
  fields: Field[];
}

const tuned = (c: TrainChoices) => c.tuning !== "frozen";
const hidden = (c: TrainChoices) => c.hidden > 0;
const stepped = (c: TrainChoices) => !isSolved(c);

const known = new Map<string, Omit<Field, "when">>(
  TRAINING_SETTINGS.map(({ key, range, whole, values }) => [key, { key, range, whole, values }]),
);

function field(key: SettingKey, when: Field["when"] = () => true): Field {
  const found = known.get(key);
  if (!found) throw new Error(`no setting ${key}`);
  return { ...found, when };
}

export const EPOCHS = field("epochs", stepped);
export const SEED = field("seed");

/** Everything else, as it is grouped under "More settings". */
export const GROUPS: FieldGroup[] = [
  {
    key: "checkpoint",
    fields: [
      field("metric_for_best_model", stepped),
      field("validation", stepped),
      field("evaluate_every", stepped),
      field("patience", stepped),
    ],
  },
  {
    key: "optimisation",
    fields: [
      field("max_steps", stepped),
      field("batch", stepped),
      field("gradient_accumulation_steps", stepped),
      field("head_lr", stepped),
      field("encoder_lr", tuned),
      field("weight_decay", stepped),
      field("schedule", stepped),
      field("warmup", stepped),
      field("max_grad_norm", stepped),
    ],
  },
  {
    key: "encoder",
    fields: [
      field("layers", (c) => c.tuning === "last_k"),
      field("rank", (c) => c.tuning === "lora"),
      field("vectors", (c) => c.tuning === "prompt"),
    ],
  },
  {
    key: "head",
    fields: [
      field("hidden"),
      field("activation", hidden),
      field("embedding_dropout", stepped),
      field("head_dropout", (c) => hidden(c) || usesAnnotator(c)),
      field("label_smoothing"),
      field("class_weights"),
      field("pos_weight", (c) => c.model !== "multilevel" && !c.class_weights),
      field("soft_labels", canBeSoft),
    ],
  },
  {
    key: "annotators",
    fields: [field("use_identity", usesAnnotator), field("use_attributes", usesAnnotator)],
  },
  {
    key: "labels",
    fields: [field("without_slips")],
  },
];

/** True for a linear head on a frozen encoder with equal weights: it is solved exactly, not in steps. */
export function isSolved(choices: TrainChoices): boolean {
  const alike = !choices.class_weights && choices.pos_weight === 1;
  const plain = alike && choices.label_smoothing === 0 && !choices.soft_labels;
  return !tuned(choices) && !usesAnnotator(choices) && plain && !hidden(choices);
}

/** True for the two models that recommend by text and person. */
function usesAnnotator(choices: TrainChoices): boolean {
  return choices.model.startsWith("share-rec");
}

/** True for the two models that can learn from a text's distribution of labels. */
function canBeSoft(choices: TrainChoices): boolean {
  return choices.model === "majority" || choices.model === "shared";
}

/** What is wrong with a number; null where nothing is. */
export function numberFault({ range, whole }: Field, value: number | null): string | null {
  if (range === null) return null;
  // As it is typed: 1000000 and not 1,000,000, which a number field would not take.
  const ends = { low: String(range[0]), high: String(range[1]) };
  if (value === null || !Number.isFinite(value)) return t("models.number_from", ends);
  if (whole && !Number.isInteger(value)) return t("models.whole_number_from", ends);
  if (value < range[0] || value > range[1]) return t("models.number_from", ends);
  return null;
}

/** All that is wrong, by the setting's name; empty where the run can start. */
export function faults(choices: TrainChoices): Record<string, string> {
  const found: Record<string, string> = {};
  for (const field of [EPOCHS, SEED, ...GROUPS.flatMap((group) => group.fields)]) {
    if (field.range === null || !field.when(choices)) continue;
    const fault = numberFault(field, choices[field.key] as number | null);
    if (fault) found[field.key] = fault;
  }
  for (const { question, weight } of choices.joint ?? []) {
    if (weight === null || !(weight > 0)) found[`weight-${question}`] = t("models.positive_number");
  }
  const { kind, share } = readSplit(choices.split);
  if (SPLITS[kind]?.share && (share === null || share < 0.05 || share > 0.95))
    found["split"] = t("models.share_from", { low: 5, high: 95 });
  if (usesAnnotator(choices) && !choices.use_identity && !choices.use_attributes)
    found["people"] = t("models.needs_identity");
  return found;
}

/** The name of a value, for people, and where it needs one a hint. */
export function valueWords(value: string): { label: string; hint?: string } {
  switch (value) {
    case "log_loss":
    case "linear":
    case "cosine":
      return { label: t(`models.value_${value}`), hint: t(`models.value_hint_${value}`) };
    case "accuracy":
    case "macro_f1":
    case "constant":
      return { label: t(`models.value_${value}`) };
    default:
      return { label: value === "relu" ? "ReLU" : value };
  }
}

/** All settings that count, with their values as text, for reading. */
export function settingLines(choices: TrainChoices): [string, string][] {
  const words = (value: TrainChoices[SettingKey]) => {
    if (typeof value === "boolean") return value ? t("models.value_yes") : t("models.value_no");
    return typeof value === "string" ? valueWords(value).label : (value?.toString() ?? "–");
  };
  return [EPOCHS, ...GROUPS.flatMap((group) => group.fields)]
    .filter((field) => field.when(choices))
    .map(({ key }) => [t(`models.setting_${key}`), words(choices[key])]);
}
