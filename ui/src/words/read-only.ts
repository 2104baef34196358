// A project that is open to read.
import en from "$messages/en";

/** Why what writes is off, for researchers, who have the window in English. */
export const READ_ONLY: string = en.shell.read_only_writes;
