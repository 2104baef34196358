// What was done since the packet was handed in.

/** Number of answers and changes. */
export const handed = $state({ since: 0 });
