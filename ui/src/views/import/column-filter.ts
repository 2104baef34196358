// Which columns of a wide table are shown.

/** So many columns are drawn at most. */
export const MAX_COLUMNS = 60;

/** Columns whose names contain the filter; with "*" the filter is a pattern for the whole name. */
export function matching(header: readonly string[], filter: string): string[] {
  const wanted = filter.trim().toLowerCase();
  if (wanted === "") return [...header];
  if (!wanted.includes("*")) return header.filter((name) => name.toLowerCase().includes(wanted));
  const parts = wanted.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`^${parts.join(".*")}$`, "s");
  return header.filter((name) => pattern.test(name.toLowerCase()));
}

/** Indices of the drawn columns: those that must be visible, then the first ones, in file order. */
export function drawn(
  header: readonly string[],
  filter: string,
  always: ReadonlySet<string>,
  most = MAX_COLUMNS,
): number[] {
  const found = new Set(matching(header, filter));
  const places = header.flatMap((name, at) => (found.has(name) ? [at] : []));
  if (places.length <= most) return places;
  const first = places.filter((at) => always.has(header[at]!)).slice(0, most);
  const kept = new Set(first);
  for (const at of places) {
    if (kept.size >= most) break;
    kept.add(at);
  }
  return places.filter((at) => kept.has(at));
}
