// Downloads a file from the page.

export function saveFile(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
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
