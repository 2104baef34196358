// What a link leads to, roughly as the server crate reads it.
import type { LinkTarget } from "$api/bindings";
import { problem } from "./refusals";

export function readLink(link: string): LinkTarget {
  const found = /^dissensus:\/\/(page|packet)\/?\?url=(.*)$/.exec(link);
  if (!found) throw problem("link-form");
  const address = new URL(decodeURIComponent(found[2] ?? ""));
  if (!/^https?:$/.test(address.protocol)) throw problem("link-scheme");
  return {
    kind: found[1] === "page" ? "page" : "packet",
    host: address.host,
    address: address.href,
    unencrypted: address.protocol === "http:",
    file: address.pathname.split("/").at(-1) || "packet.dissensus",
  };
}
