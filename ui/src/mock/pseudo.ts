// The pseudo-language: English with accents, in brackets and 40 % longer. What a screen still shows in plain
// letters is in no catalogue, and what has no room there has none for German.

const PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const ACCENTED = [..."áƀçðéƒĝĥîĵķļɱñöþɋŕšţûṽŵẋýžÂƁÇÐÉƑĜĤÎĴĶĻⱮÑÖÞɊŔŠŢÛṼŴẊÝŽ"];
/** What is filled in: values, and other messages. */
const CODE = /(\{\{[^}]*\}\}|\$t\([^)]*\))/;
/** Parts of the length that are added, and how many signs without a space between them. */
const LONGER = 0.4;
const GROUP = 5;

/** The text with an accent on every letter from A to Z. */
export const accented = (text: string): string =>
  text.replaceAll(/[A-Za-z]/g, (letter) => ACCENTED[PLAIN.indexOf(letter)] ?? letter);

/** A message in the pseudo-language, with what is filled in as it is. */
export function pseudo(message: string): string {
  const parts = message.split(CODE);
  const own = parts.filter((_, at) => at % 2 === 0).join("");
  if (!/\p{L}/u.test(own)) return message;
  const more = Array.from({ length: Math.ceil(own.length * LONGER) }, (_, at) =>
    at % (GROUP + 1) === 0 ? " " : "·",
  );
  const text = parts.map((part, at) => (at % 2 === 0 ? accented(part) : part)).join("");
  // Spaces at the ends separate a message from what is next to it.
  const [, before = "", inner = "", after = ""] = /^(\s*)(.*?)(\s*)$/s.exec(text) ?? [];
  return `${before}⟦${inner}${more.join("")}⟧${after}`;
}

/** A catalogue of messages in the pseudo-language. */
export function pseudoCatalogue<T>(messages: T): T {
  if (typeof messages === "string") return pseudo(messages) as T;
  return Object.fromEntries(
    Object.entries(messages as object).map(([key, message]) => [key, pseudoCatalogue<unknown>(message)]),
  ) as T;
}

type Written = (...values: never[]) => string;

/** Makes a method, or a getter of one, write with accents. */
function accent(of: object, name: string): void {
  const own = Object.getOwnPropertyDescriptor(of, name) ?? {};
  const { get, value } = own as { get?: () => Written; value?: Written };
  const written = (by: Written | undefined, self: unknown, values: never[]) =>
    accented(by?.apply(self, values) ?? "");
  Object.defineProperty(
    of,
    name,
    get
      ? {
          ...own,
          get(this: unknown) {
            const by = get.call(this);
            return (...values: never[]) => written(by, this, values);
          },
        }
      : {
          ...own,
          value(this: unknown, ...values: never[]) {
            return written(value, this, values);
          },
        },
  );
}

/** Puts accents on what the browser writes: months, units, "yesterday", and the words between names. */
export function accentFormats(): void {
  for (const { prototype } of [Intl.DateTimeFormat, Intl.NumberFormat, Intl.RelativeTimeFormat])
    accent(prototype, "format");
  accent(Intl.DisplayNames.prototype, "of");
  for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"])
    accent(Date.prototype, name);
  Intl.ListFormat.prototype.format = function (this: Intl.ListFormat, names: Iterable<string>) {
    const parts = this.formatToParts(names);
    return parts.map(({ type, value }) => (type === "literal" ? accented(value) : value)).join("");
  };
}
