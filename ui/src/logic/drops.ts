// What dropped files do: submissions are merged, a project is opened, anything else is imported.
import { t } from "$messages/messages.svelte";
import type { View } from "./views";

export type Drop =
  | { kind: "nothing" }
  /** Merged into the open project; other dropped files are in `left`. */
  | { kind: "merge"; files: string[]; left: string[] }
  /** Opened or imported; other dropped files are in `left`. */
  | { kind: "take"; file: string; left: string[] };

/** Whether a file is a submission, which may be encrypted. */
export function isSubmission(path: string): boolean {
  return /\.handin(\.age)?$/i.test(path);
}

/** Whether a file is named as an encrypted one. */
export function isEncryptedName(path: string): boolean {
  return path.toLowerCase().endsWith(".age");
}

/** What becomes of files that are dropped while a view is shown; none where no project is open. */
export function routeDrop(paths: readonly string[], view: View | null): Drop {
  if (view === "people-study" && paths.length > 0) return { kind: "merge", files: [...paths], left: [] };
  const files = paths.filter(isSubmission);
  const left = paths.filter((path) => !isSubmission(path));
  if (files.length > 0) return { kind: "merge", files, left };
  const [file, ...rest] = left;
  return file === undefined ? { kind: "nothing" } : { kind: "take", file, left: rest };
}

/** Said while files are dragged over the window. Which ones is not always known before they are dropped. */
export function dropWords(paths: readonly string[], view: View | null): string {
  return routeDrop(paths, view).kind === "merge" || view === "people-study"
    ? t("importing.drop_merge")
    : t("importing.drop_import");
}
