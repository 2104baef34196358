// The training settings: their position in the form, and when they apply. Names, hints and ranges come from
// the definition that the command also uses.
import { TRAINING_SETTINGS } from "$bindings";
import type { TrainChoices } from "$api/bindings";
import { readSplit, SPLITS } from "./splits";

type SettingKey = (typeof TRAINING_SETTINGS)[number]["key"];

export interface Field {
  key: SettingKey;
  label: string;
  help: string;
  /** The smallest and the largest number; null where it is no number. */
  range: readonly [number, number] | null;
  whole: boolean;
  /** Names to choose from; empty where it is a number, or yes or no. */
  values: readonly string[];
  /** Whether it counts, given the others. */
  when: (choices: TrainChoices) => boolean;
}

interface FieldGroup {
  name: string;
  fields: Field[];
}

const tuned = (c: TrainChoices) => c.tuning !== "frozen";
const hidden = (c: TrainChoices) => c.hidden > 0;
const stepped = (c: TrainChoices) => !isSolved(c);

const known = new Map<string, Omit<Field, "when">>(
  TRAINING_SETTINGS.map((setting) => [setting.key, setting]),
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
    name: "Checkpoint",
    fields: [
      field("metric_for_best_model", stepped),
      field("validation", stepped),
      field("evaluate_every", stepped),
      field("patience", stepped),
    ],
  },
  {
    name: "Optimisation",
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
    name: "Encoder",
    fields: [
      field("layers", (c) => c.tuning === "last_k"),
      field("rank", (c) => c.tuning === "lora"),
      field("vectors", (c) => c.tuning === "prompt"),
    ],
  },
  {
    name: "Head",
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
    name: "Annotators",
    fields: [field("use_identity", usesAnnotator), field("use_attributes", usesAnnotator)],
  },
  {
    name: "Labels",
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
  const ends = `${String(range[0])} to ${String(range[1])}`;
  if (value === null || !Number.isFinite(value)) return `Write a number from ${ends}.`;
  if (whole && !Number.isInteger(value)) return `Write a whole number from ${ends}.`;
  if (value < range[0] || value > range[1]) return `Write a number from ${ends}.`;
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
    if (weight === null || !(weight > 0)) found[`weight-${question}`] = "Write a number above 0.";
  }
  const { kind, share } = readSplit(choices.split);
  if (SPLITS[kind]?.share && (share === null || share < 0.05 || share > 0.95))
    found["split"] = "Write a share from 5 to 95 %.";
  if (usesAnnotator(choices) && !choices.use_identity && !choices.use_attributes)
    found["people"] = "Switch one of the two on: this model needs one to distinguish people.";
  return found;
}

/** Names of values, for people. */
export const VALUES: Readonly<Record<string, { label: string; hint?: string }>> = {
  log_loss: { label: "Log loss", hint: "accuracy hides over-confidence" },
  accuracy: { label: "Accuracy" },
  macro_f1: { label: "Macro F1" },
  constant: { label: "Constant" },
  linear: { label: "Linear", hint: "falls to 0 evenly" },
  cosine: { label: "Cosine", hint: "falls slowly, then fast, then slowly" },
  relu: { label: "ReLU" },
  tanh: { label: "tanh" },
};

/** All settings that count, with their values as text, for reading. */
export function settingLines(choices: TrainChoices): [string, string][] {
  const words = (value: TrainChoices[SettingKey]) => {
    if (typeof value === "boolean") return value ? "yes" : "no";
    return typeof value === "string" ? (VALUES[value]?.label ?? value) : (value?.toString() ?? "–");
  };
  return [EPOCHS, ...GROUPS.flatMap((group) => group.fields)]
    .filter((field) => field.when(choices))
    .map((field) => [field.label, words(choices[field.key])]);
}
