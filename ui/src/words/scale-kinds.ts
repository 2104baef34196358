// Kinds of scales by their names.
import type { ScaleKind } from "$api/bindings";

export const SCALE_KINDS: { value: ScaleKind; label: string; hint: string }[] = [
  { value: "ordinal", label: "Rating scale", hint: "ordered levels, e.g. 1 to 5, lowest first" },
  { value: "choice", label: "Single choice", hint: "one of several, without an order" },
  { value: "multi-label", label: "Multi-label", hint: "any number of up to 64 options" },
  { value: "spans", label: "Spans", hint: "passages marked in the text, each with one of up to 20 types" },
  { value: "binary", label: "Yes or no", hint: "“no” first, then “yes”" },
];

/** "Rating scale" */
export function kindName(kind: ScaleKind): string {
  return SCALE_KINDS.find(({ value }) => value === kind)?.label ?? kind;
}
