// Lists that people type, such as names or values.

/** The items of a list, separated by the commas of any script or by new lines, without empty ones. */
export function itemsOf(text: string): string[] {
  return text
    .split(/[,،，、\n]/u)
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
