// The settings of a training: what each is called, when it counts, and which values it can have.
import type { TrainChoices } from "$lib/bindings";
import { readSplit, SPLITS } from "$lib/splits";

/** Settings that are numbers, by their type in the bindings. */
export type NumberKey = {
  [K in keyof TrainChoices]: TrainChoices[K] extends number | null ? K : never;
}[Exclude<keyof TrainChoices, "question">];

export interface NumberField {
  key: NumberKey;
  label: string;
  hint: string;
  /** Smallest and largest value there is. */
  from: number;
  to: number;
  whole?: boolean;
  /** Whether it counts, given the others. */
  when?: (choices: TrainChoices) => boolean;
}

export interface FieldGroup {
  name: string;
  fields: NumberField[];
}

const tuned = (c: TrainChoices) => c.tuning !== "frozen";
const hidden = (c: TrainChoices) => c.hidden > 0;
const stepped = (c: TrainChoices) => !isSolved(c);

export const EPOCHS: NumberField = {
  key: "epochs",
  label: "Epochs at most",
  hint: "Passes over the training texts",
  from: 1,
  to: 10_000,
  whole: true,
  when: stepped,
};

export const SEED: NumberField = {
  key: "seed",
  label: "Seed",
  hint: "Of split, weights, order and dropout: the same seed gives the same run.",
  from: 0,
  to: 4_294_967_295,
  whole: true,
};

/** Everything else, as it is grouped under "More settings". */
export const GROUPS: FieldGroup[] = [
  {
    name: "Checkpoint",
    fields: [
      {
        key: "validation",
        label: "Validation share",
        hint: "Training texts kept back to choose the best checkpoint, where the split names none",
        from: 0,
        to: 0.5,
        when: stepped,
      },
      {
        key: "evaluate_every",
        label: "Evaluate every",
        hint: "Steps between evaluations; 0: after each epoch",
        from: 0,
        to: 1_000_000,
        whole: true,
        when: stepped,
      },
      {
        key: "patience",
        label: "Patience",
        hint: "Evaluations without a better one before it stops; 0: never",
        from: 0,
        to: 1000,
        whole: true,
        when: stepped,
      },
    ],
  },
  {
    name: "Steps",
    fields: [
      {
        key: "max_steps",
        label: "Steps at most",
        hint: "Ends it before the epochs do; 0: no limit",
        from: 0,
        to: 100_000_000,
        whole: true,
        when: stepped,
      },
      { key: "batch", label: "Batch", hint: "Texts a step", from: 1, to: 4096, whole: true, when: stepped },
      {
        key: "gradient_accumulation_steps",
        label: "Accumulation",
        hint: "Batches added up before a step",
        from: 1,
        to: 1024,
        whole: true,
        when: stepped,
      },
      {
        key: "head_lr",
        label: "Head's rate",
        hint: "Learning rate of the head",
        from: 0,
        to: 10,
        when: stepped,
      },
      {
        key: "encoder_lr",
        label: "Encoder's rate",
        hint: "Learning rate of the encoder's top layer",
        from: 0,
        to: 1,
        when: tuned,
      },
      {
        key: "weight_decay",
        label: "Weight decay",
        hint: "Decoupled from the gradient",
        from: 0,
        to: 10,
        when: stepped,
      },
      {
        key: "warmup",
        label: "Warm-up",
        hint: "Share of the steps in which the rate rises from 0",
        from: 0,
        to: 1,
        when: stepped,
      },
      {
        key: "max_grad_norm",
        label: "Clip",
        hint: "Largest length of the gradient; 0: no limit",
        from: 0,
        to: 1e6,
        when: stepped,
      },
    ],
  },
  {
    name: "Encoder",
    fields: [
      {
        key: "layers",
        label: "Layers",
        hint: "How many of the last layers learn",
        from: 1,
        to: 48,
        whole: true,
        when: (c) => c.tuning === "last_k",
      },
      {
        key: "rank",
        label: "Rank",
        hint: "Size of the additions to the attention's weights",
        from: 1,
        to: 512,
        whole: true,
        when: (c) => c.tuning === "lora",
      },
    ],
  },
  {
    name: "Head",
    fields: [
      {
        key: "hidden",
        label: "Hidden units",
        hint: "Of a layer between embedding and answer; 0: none",
        from: 0,
        to: 8192,
        whole: true,
      },
      {
        key: "embedding_dropout",
        label: "Dropout, embedding",
        hint: "Share left out of the text's embedding",
        from: 0,
        to: 0.95,
        when: stepped,
      },
      {
        key: "head_dropout",
        label: "Dropout, head",
        hint: "Share left out before the last layer",
        from: 0,
        to: 0.95,
        when: hidden,
      },
      {
        key: "label_smoothing",
        label: "Label smoothing",
        hint: "Share of each label spread over all levels",
        from: 0,
        to: 0.9,
      },
    ],
  },
];

/** Whether a field counts for these choices. */
export function counts(field: NumberField, choices: TrainChoices): boolean {
  return field.when?.(choices) ?? true;
}

/** True for a linear head on a frozen encoder, all labels alike: that is solved exactly, not trained in steps. */
export function isSolved(choices: TrainChoices): boolean {
  const plain = !choices.class_weights && choices.label_smoothing === 0 && !choices.soft_labels;
  return !tuned(choices) && !knowsPeople(choices) && plain && !hidden(choices);
}

/** True for the two models that recommend by text and person. */
export function knowsPeople(choices: TrainChoices): boolean {
  return choices.model.startsWith("share-rec");
}

/** True for the two models that can learn from a text's distribution of labels. */
export function canBeSoft(choices: TrainChoices): boolean {
  return choices.model === "majority" || choices.model === "shared";
}

/** What is wrong with a number; null where nothing is. */
export function numberFault(field: NumberField, value: number | null): string | null {
  const ends = `${said(field.from)} to ${said(field.to)}`;
  if (value === null || !Number.isFinite(value)) return `Write a number from ${ends}.`;
  if (field.whole && !Number.isInteger(value)) return `Write a whole number from ${ends}.`;
  if (value < field.from || value > field.to) return `Write a number from ${ends}.`;
  return null;
}

/** All that is wrong, by the setting's name; empty where the run can start. */
export function faults(choices: TrainChoices): Record<string, string> {
  const found: Record<string, string> = {};
  for (const field of [EPOCHS, SEED, ...GROUPS.flatMap((group) => group.fields)]) {
    const fault = counts(field, choices) ? numberFault(field, choices[field.key]) : null;
    if (fault) found[field.key] = fault;
  }
  const { kind, share } = readSplit(choices.split);
  if (SPLITS[kind]?.share && (share === null || share < 0.05 || share > 0.95))
    found["split"] = "Write a share from 5 to 95 %.";
  if (knowsPeople(choices) && !choices.use_identity && !choices.use_attributes)
    found["people"] = "Switch one of the two on: this model tells people apart by them.";
  return found;
}

/** As it is typed: 1000000 and not 1,000,000, which a number field would not take. */
function said(n: number): string {
  return String(n);
}

export const METRIC_CHOICES = [
  { value: "log_loss", label: "Log loss", hint: "accuracy hides over-confidence" },
  { value: "accuracy", label: "Accuracy" },
  { value: "macro_f1", label: "Macro F1" },
];

export const SCHEDULES = [
  { value: "constant", label: "Constant" },
  { value: "linear", label: "Linear", hint: "falls to 0 evenly" },
  { value: "cosine", label: "Cosine", hint: "falls slowly, then fast, then slowly" },
];

export const ACTIVATIONS = [
  { value: "relu", label: "ReLU" },
  { value: "tanh", label: "tanh" },
];

/** All settings that count, with their values as text, for reading. */
export function settingLines(choices: TrainChoices): [string, string][] {
  const nameOf = (items: { value: string; label: string }[], value: string) =>
    items.find((item) => item.value === value)?.label ?? value;
  const yes = (on: boolean) => (on ? "yes" : "no");
  const numbers = (fields: NumberField[]) =>
    fields
      .filter((field) => counts(field, choices))
      .map((field): [string, string] => [field.label, choices[field.key]?.toString() ?? "–"]);
  const [checkpoint, steps, encoder, head] = GROUPS.map((group) => numbers(group.fields));
  return [
    ...numbers([EPOCHS]),
    ...(isSolved(choices)
      ? []
      : [["Checkpoint by", nameOf(METRIC_CHOICES, choices.metric_for_best_model)] as [string, string]]),
    ...(checkpoint ?? []),
    ...(steps ?? []),
    ...(isSolved(choices) ? [] : [["Schedule", nameOf(SCHEDULES, choices.schedule)] as [string, string]]),
    ...(encoder ?? []),
    ...(head ?? []),
    ...(choices.hidden > 0
      ? [["Activation", nameOf(ACTIVATIONS, choices.activation)] as [string, string]]
      : []),
    ["Class weights", yes(choices.class_weights)],
    ...(canBeSoft(choices) ? [["Soft labels", yes(choices.soft_labels)] as [string, string]] : []),
    ...(knowsPeople(choices)
      ? ([
          ["Knows who", yes(choices.use_identity)],
          ["Knows attributes", yes(choices.use_attributes)],
        ] as [string, string][])
      : []),
  ];
}
