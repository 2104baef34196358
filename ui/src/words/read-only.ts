// A project that is open to read.

/** Why what writes is off. */
export const READ_ONLY = "The project is open read-only: nothing can be written to it";
