// Letters that this machine cannot draw: a text that is read as boxes gets a false label.

/** What a letter looks like, drawn: equal where two look the same. */
export type Draw = (letter: string) => string;

/** Scripts that fonts lack most, by their codes (ISO 15924), which Unicode properties take as values. */
const CODES =
  "Hang Hrkt Hani Arab Armn Beng Cher Cyrl Deva Ethi Geor Grek Gujr Guru Hebr Knda Khmr Laoo Mlym Mong Mymr Orya Sinh Syrc Taml Telu Thaa Thai Tibt Tfng".split(
    " ",
  );
const PICTURES = /\p{Extended_Pictographic}|\p{Regional_Indicator}/u;
const SCRIPTS: readonly [string, RegExp][] = [
  ["emoji", PICTURES],
  ...CODES.map((code): [string, RegExp] => [
    code,
    code === "Hrkt" ? /[\p{Script=Hira}\p{Script=Kana}]/u : new RegExp(`\\p{Script=${code}}`, "u"),
  ]),
];

/** A code point that will never be assigned: fonts draw it like any missing character. */
const NEVER = "\uffff";
/** Characters that are invisible or combine with others. */
const UNSEEN = /[\p{C}\p{Z}\p{M}\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u;

/**
 * The scripts of a text with characters that cannot be drawn, by their codes, "emoji" or "other", each with
 * the number of characters; empty if all can be drawn.
 */
export function undrawn(text: string, draw: Draw): { script: string; letters: number }[] {
  const box = draw(NEVER);
  const found = new Map<string, number>();
  for (const letter of text) {
    // What is in every font there is.
    if (letter <= "\u024f" || UNSEEN.test(letter) || draw(letter) !== box) continue;
    const script = SCRIPTS.find(([, of]) => of.test(letter))?.[0] ?? "other";
    found.set(script, (found.get(script) ?? 0) + 1);
  }
  return [...found].map(([script, letters]) => ({ script, letters }));
}

const SIZE = 28;

/** Draws on a canvas, in the font of an element; null where there is no canvas. */
export function canvasDraw(like: Element): Draw | null {
  if (typeof CanvasRenderingContext2D === "undefined") return null;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [SIZE * 2, SIZE * 2];
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) return null;
  context.font = `${SIZE}px ${getComputedStyle(like).fontFamily}`;
  context.textBaseline = "middle";
  const drawn = new Map<string, string>();
  return (letter) => {
    const known = drawn.get(letter);
    if (known !== undefined) return known;
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.fillText(letter, 4, SIZE);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const looks = `${context.measureText(letter).width} ${hash(data)}`;
    drawn.set(letter, looks);
    return looks;
  };
}

/** FNV-1a of the bytes: only used to compare pictures. */
function hash(bytes: Uint8ClampedArray): number {
  let sum = 2166136261;
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 16777619);
  return sum >>> 0;
}
