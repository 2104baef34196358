// Pages that open with a passphrase: AES-256-GCM, with a key derived by PBKDF2-HMAC-SHA-256.
import { gcm } from "@noble/ciphers/aes.js";
import { pbkdf2Async } from "@noble/hashes/pbkdf2.js";
import { sha256 } from "@noble/hashes/sha2.js";

/** The encrypted content of a page; everything but the iterations is in base64. */
interface Envelope {
  iterations: number;
  salt: string;
  nonce: string;
  /** The encrypted content, and the tag. */
  data: string;
}

/** The envelope of a locked page, or null for a page that is open to everybody. */
export function envelopeIn(content: unknown): Envelope | null {
  return (content as { locked?: Envelope } | null)?.locked ?? null;
}

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));

/** A passphrase as it was meant: no matter how it is separated and spelled, and without look-alike digits. */
const plain = (typed: string) =>
  typed
    .normalize("NFKC")
    .replaceAll(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 0xf))
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "")
    .replaceAll("o", "0")
    .replaceAll(/[il]/g, "1")
    .replaceAll("u", "v");

/** The content of a locked page, or null where the passphrase is another. */
export async function unlock(envelope: Envelope, typed: string): Promise<string | null> {
  // Not by Web Crypto: a page that came over plain HTTP has none.
  const options = { c: envelope.iterations, dkLen: 32 };
  const key = await pbkdf2Async(sha256, plain(typed), bytesOf(envelope.salt), options);
  try {
    return new TextDecoder().decode(gcm(key, bytesOf(envelope.nonce)).decrypt(bytesOf(envelope.data)));
  } catch {
    return null;
  }
}
