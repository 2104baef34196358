// What was handed in, and what was done since.
import type { Given } from "./save-file";

/** `since` is the number of answers and changes; `by` is what became of the last file. */
export const handed = $state<{ since: number; by: Given }>({ since: 0, by: "saved" });
