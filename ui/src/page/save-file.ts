// Gives a file to the person: as a download, or on a phone by what it shares files with.

/** What became of a file. */
export type Given = "saved" | "shared" | "cancelled";

const TYPE = "application/octet-stream";

/** Whether files are shared here: on a phone, where a download is hard to find again. */
export function sharesFiles(): boolean {
  const isTouched = window.matchMedia("(pointer: coarse)").matches;
  return isTouched && canShare(new File([""], "a.handin", { type: TYPE }));
}

function canShare(file: File): boolean {
  return navigator.canShare?.({ files: [file] }) ?? false;
}

/** Shares the file where {@link sharesFiles}; downloads it elsewhere, and where the browser refuses. */
export async function giveFile(name: string, text: string): Promise<Given> {
  const file = new File([text], name, { type: TYPE });
  if (sharesFiles() && canShare(file)) {
    try {
      await navigator.share({ files: [file] });
      return "shared";
    } catch (thrown) {
      if ((thrown as { name?: string } | null)?.name === "AbortError") return "cancelled";
    }
  }
  saveFile(name, text);
  return "saved";
}

export function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: TYPE }));
  const link = document.createElement("a");
  [link.href, link.download] = [address, name];
  document.body.append(link);
  link.click();
  link.remove();
  // Browsers read the address after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** The name of a submission: of its person, without what file names cannot have, the packet, and a time. */
export function fileName(person: string, packet: string, at_ms: number | null = null): string {
  const plain = person.replaceAll(/[^\p{L}\p{N}\-_.@ ]/gu, "_").replaceAll(/^[ .]+|[ .]+$/g, "");
  return `${plain.slice(0, 50) || "packet"}-${packet.slice(-6)}${at_ms === null ? "" : `-${at_ms}`}.handin`;
}
