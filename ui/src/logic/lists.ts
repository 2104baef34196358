// Lists that people type, such as names or values.

/**
 * The items of a list, separated by commas or new lines, without empty ones. The commas of other scripts
 * separate where there is no Latin one, with which stored lists are shown: their items can have the others.
 */
export function itemsOf(text: string): string[] {
  return text
    .split(text.includes(",") ? /[,\n]/u : /[،，、\n]/u)
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
