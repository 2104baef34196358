// Values inside of sentences, whose direction does not change that of the words around them.

/** Whether this is a path or an address: a name, whatever words are in it. */
export const isPath = (text: string): boolean => /^(?:[/~\\]|\w:[\\/]|\w+:\/\/)|^\S*[/\\]\S*$/.test(text);

/** A name, in the direction of its first letter. */
export const isolated = (name: string): string => `\u2068${name}\u2069`;

/** A path or an address: from left to right, also where it begins with a slash. */
export const isolatedPath = (path: string): string => `\u2066${path}\u2069`;
