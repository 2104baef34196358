/** A name inside of a sentence, whose direction does not change that of the words around it. */
export const isolated = (name: string): string => `\u2068${name}\u2069`;
