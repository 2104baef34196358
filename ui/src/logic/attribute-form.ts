// The form with questions about people: parsing, formatting and validation.
import type { AttributeForm, AttributeInfo, FormAttribute } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { itemsOf } from "./lists";

/** An attribute as it is entered: its values in one line, with commas between them. */
export interface FormLine {
  name: string;
  prompt: string;
  values: string;
  optional: boolean;
}

/** The choice that declines to answer. */
export const preferNotToSay = (): string => t("shell.prefer_not_to_say");

export const emptyLine = (): FormLine => ({ name: "", prompt: "", values: "", optional: false });

export function lineOf({ name, prompt, values, optional }: FormAttribute): FormLine {
  return { name, prompt: prompt ?? "", values: values.join(", "), optional: optional ?? false };
}

/** The line of an attribute that people have already, with the values that are in use. */
export function attributeLine({ name, values }: AttributeInfo): FormLine {
  return { ...emptyLine(), name, values: [...values].sort().join(", ") };
}

export function valuesOf({ values }: FormLine): string[] {
  return itemsOf(values);
}

export function formOf(lines: readonly FormLine[]): AttributeForm {
  return {
    attributes: lines.map((line) => ({
      name: line.name.trim(),
      prompt: line.prompt.trim(),
      values: valuesOf(line),
      optional: line.optional,
    })),
  };
}

/** What no value can be in any project, whatever the language of its form. */
const DECLINES = "prefer not to say";

/** What is wrong with these lines, in words; null where nothing is. */
export function formProblem(lines: readonly FormLine[]): string | null {
  for (const [at, line] of lines.entries()) {
    const name = line.name.trim();
    const values = valuesOf(line);
    if (name === "") return t("questions.form_unnamed");
    if (lines.findIndex((other) => other.name.trim() === name) !== at)
      return t("questions.form_twice", { name });
    if (values.length < 2) return t("questions.form_too_few", { name });
    const twice = values.find((value, i) => values.indexOf(value) !== i);
    if (twice !== undefined) return t("questions.form_value_twice", { value: twice, name });
    const declines = [DECLINES, preferNotToSay().toLowerCase()];
    if (values.some((value) => declines.includes(value.toLowerCase())))
      return t("questions.form_always", { value: preferNotToSay() });
  }
  return null;
}
