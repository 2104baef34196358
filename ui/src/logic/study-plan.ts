// The form of a study plan: its request, its validation, and its storage on this computer.
import type { QuestionId, StudyRequest } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { itemsOf } from "./lists";

export interface StudyForm {
  /** The questions of each text; all if none is selected. */
  questions: QuestionId[];
  /** External ids of selected people of the study. */
  known: string[];
  /** Further names, one a line or separated by commas. */
  names: string;
  /** The number of unnamed people. */
  to_come: number | null;
  per_text: number | null;
  per_person: number | null;
  anchors: number | null;
  /** Percent of each person's texts. */
  again: number | null;
  again_after: number | null;
  balance: string | null;
  seed: number | null;
}

/** The defaults. */
export const USUAL: StudyForm = {
  questions: [],
  known: [],
  names: "",
  to_come: null,
  per_text: 3,
  per_person: null,
  anchors: 0,
  again: 0,
  again_after: 20,
  balance: null,
  seed: 0,
};

interface Limit {
  from: number;
  to: number;
  whole: boolean;
  empty: boolean;
  message: (limit: { from: number; to: number }) => string;
}
const LIMITS: Partial<Record<keyof StudyForm, Limit>> = {
  to_come: {
    from: 0,
    to: 10_000,
    whole: true,
    empty: true,
    message: ({ to }) => t("study_plan.fault_whole_up_to_or_empty", { to }),
  },
  per_text: {
    from: 1,
    to: 4e9,
    whole: true,
    empty: false,
    message: () => t("study_plan.fault_whole_positive"),
  },
  per_person: {
    from: 1,
    to: 4e9,
    whole: true,
    empty: true,
    message: () => t("study_plan.fault_whole_positive_or_empty"),
  },
  anchors: {
    from: 0,
    to: 4e9,
    whole: true,
    empty: true,
    message: () => t("study_plan.fault_whole_or_empty"),
  },
  again: {
    from: 0,
    to: 100,
    whole: false,
    empty: true,
    message: ({ from, to }) => t("study_plan.fault_range", { from, to }),
  },
  again_after: { from: 0, to: 4e9, whole: true, empty: true, message: () => t("study_plan.fault_whole") },
  seed: {
    from: 0,
    to: 4_294_967_295,
    whole: true,
    empty: true,
    message: ({ to }) => t("study_plan.fault_whole_up_to", { to }),
  },
};

/** The errors of the form, by field; empty if it is valid. */
export function faults(form: StudyForm): Partial<Record<keyof StudyForm, string>> {
  const found: Partial<Record<keyof StudyForm, string>> = {};
  for (const [field, limit] of Object.entries(LIMITS) as [keyof StudyForm, Limit][]) {
    // Hidden fields are not validated.
    if (field === "again_after" && !form.again) continue;
    const value = form[field] as number | null;
    const fits =
      value === null
        ? limit.empty
        : value >= limit.from && value <= limit.to && (!limit.whole || Number.isInteger(value));
    if (!fits) found[field] = limit.message(limit);
  }
  return found;
}

/** Names for unnamed people, numbered after existing ones, as the command does. */
function namesToCome(n: number, taken: ReadonlySet<string>): string[] {
  const names: string[] = [];
  for (let i = 1; names.length < n; i++) if (!taken.has(`person-${i}`)) names.push(`person-${i}`);
  return names;
}

/** The request; `project` are the people of the project. */
export function requestOf(
  form: StudyForm,
  project: readonly { external_id: string; name: string }[],
): StudyRequest {
  const known = new Set(form.known);
  const named = itemsOf(form.names).filter((name) => !known.has(name));
  const taken = new Set([...named, ...project.flatMap((person) => [person.external_id, person.name])]);
  return {
    questions: form.questions,
    people: [...form.known, ...named, ...namesToCome(form.to_come ?? 0, taken)],
    new_people: false,
    per_text: form.per_text ?? 1,
    per_person: form.per_person,
    anchors: form.anchors ?? 0,
    repeat: (form.again ?? 0) / 100,
    again_after: form.again ? (form.again_after ?? 0) : 0,
    balance: form.balance,
    seed: form.seed ?? 0,
  };
}

const KEY = "dissensus.study-plan:";

/** The last form for this project on this computer; null if none is stored. */
export function remembered(project: string): StudyForm | null {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY + project) ?? "null");
    return typeof stored === "object" && stored !== null ? fitted(stored as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Stores the form; if there is no space, it must be entered again. */
export function remember(project: string, form: StudyForm): void {
  try {
    localStorage.setItem(KEY + project, JSON.stringify(form));
  } catch {
    // It is a convenience.
  }
}

/** Deletes the stored form of this project: it names people. */
export function forget(project: string): void {
  localStorage.removeItem(KEY + project);
}

/** Only values of the right type: another version may have written it. */
function fitted(stored: Record<string, unknown>): StudyForm {
  const number = (field: keyof StudyForm) => {
    const value = stored[field];
    return typeof value === "number" || value === null ? value : (USUAL[field] as number | null);
  };
  const list = <T>(field: keyof StudyForm, is: (one: unknown) => one is T): T[] => {
    const value = stored[field];
    return Array.isArray(value) ? value.filter(is) : [];
  };
  return {
    questions: list("questions", (one): one is number => typeof one === "number"),
    known: list("known", (one): one is string => typeof one === "string"),
    names: typeof stored["names"] === "string" ? stored["names"] : "",
    to_come: number("to_come"),
    per_text: number("per_text"),
    per_person: number("per_person"),
    anchors: number("anchors"),
    again: number("again"),
    again_after: number("again_after"),
    balance: typeof stored["balance"] === "string" ? stored["balance"] : null,
    seed: number("seed"),
  };
}
