// The form with questions about people: parsing, formatting and validation.
import type { AttributeForm, AttributeInfo, FormAttribute } from "$api/bindings";
import { t } from "$messages/messages.svelte";

/** An attribute as it is entered: its values in one line, with commas between them. */
export interface FormLine {
  name: string;
  prompt: string;
  values: string;
  optional: boolean;
}

/** The choice that declines to answer, in English: for researchers. */
export const PREFER_NOT_TO_SAY = "Prefer not to say";

/** The same in the language in use: for annotators. */
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
  return values
    .split(",")
    .map((value) => value.trim())
    .filter((value) => value !== "");
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

/** What is wrong with these lines, in words; null where nothing is. */
export function formProblem(lines: readonly FormLine[]): string | null {
  for (const [at, line] of lines.entries()) {
    const name = line.name.trim();
    const values = valuesOf(line);
    if (name === "") return "Give every attribute a name, or remove it.";
    if (lines.findIndex((other) => other.name.trim() === name) !== at) return `“${name}” is listed twice.`;
    if (values.length < 2) return `“${name}” needs at least two values, separated by commas.`;
    const twice = values.find((value, i) => values.indexOf(value) !== i);
    if (twice !== undefined) return `“${twice}” is listed twice in “${name}”.`;
    if (values.some((value) => value.toLowerCase() === PREFER_NOT_TO_SAY.toLowerCase()))
      return `“${PREFER_NOT_TO_SAY}” is always offered: leave it out.`;
  }
  return null;
}
