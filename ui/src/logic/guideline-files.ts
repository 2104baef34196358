// Files that a guideline is made of: pictures, and a text to start from.
import { t } from "$messages/messages.svelte";

const PICTURE = /\.(png|jpe?g|gif|webp)$/i;
/** No text of a guideline needs more bytes. */
const LARGEST = 1 << 20;

/** Whether a file is a picture that is shown, by its name. */
export function isPicture(path: string): boolean {
  return PICTURE.test(path);
}

/**
 * The text of a file, with lines that end alike.
 * @throws Error in words for a person, where it is too large or no text
 */
export async function readText(file: Blob & { name: string }): Promise<string> {
  if (file.size > LARGEST) throw new Error(t("guideline.file_too_large", { file: file.name }));
  try {
    const bytes = await bytesOf(file);
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.includes("\0")) throw new TypeError("a null byte");
    return text.replace(/\r\n?/g, "\n");
  } catch {
    throw new Error(t("guideline.file_not_text", { file: file.name }));
  }
}

function bytesOf(file: Blob): Promise<ArrayBuffer> {
  return new Promise((read, failed) => {
    const reader = new FileReader();
    reader.onload = () => read(reader.result as ArrayBuffer);
    reader.onerror = () => failed(reader.error ?? new Error("the file cannot be read"));
    reader.readAsArrayBuffer(file);
  });
}
