// Passphrases that files are encrypted with.

/** A passphrase as it is typed twice. */
export interface NewPassphrase {
  first: string;
  second: string;
}

export const NO_PASSPHRASE: NewPassphrase = { first: "", second: "" };

/** The number of characters from which a passphrase is not called short. */
export const LONG_ENOUGH = 12;

/** Digits of five bits that are not mistaken for each other. */
const DIGITS = "0123456789abcdefghjkmnpqrstvwxyz";

/** The passphrase, once it was typed twice alike and is not blank. */
export function passphraseOf({ first, second }: NewPassphrase): string | null {
  return first === second && first.trim() !== "" ? first : null;
}

/** A passphrase of 80 random bits, such as `k7qm-3fzh-9xw2-ab4c`. */
export function generatePassphrase(): string {
  const digits = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => DIGITS[byte % 32]);
  return [0, 4, 8, 12].map((at) => digits.slice(at, at + 4).join("")).join("-");
}

/** A file name with the ending of encrypted files. */
export function encryptedName(path: string): string {
  return path.toLowerCase().endsWith(".age") ? path : `${path}.age`;
}
