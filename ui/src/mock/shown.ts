// What the window shows in the pseudo-language that is neither in a catalogue nor data of the invented
// project.
import { LANGUAGES } from "$messages/languages";

/** Whether everything is in the pseudo-language: `?pseudo`. */
export const PSEUDO = new URLSearchParams(globalThis.location?.search ?? "").has("pseudo");

/** Members of answers that hold data: names, texts, files, and what people wrote. */
const DATA = [
  [
    "name",
    "names",
    "external_id",
    "annotator",
    "annotator_id",
    "annotator_name",
    "who",
    "by",
    "members",
    "people",
  ],
  [
    "text_id",
    "body",
    "snippet",
    "prompt",
    "levels",
    "level_name",
    "answer",
    "answer_name",
    "usual_name",
    "group",
  ],
  [
    "question",
    "question_name",
    "questions",
    "attribute",
    "attributes",
    "value",
    "values",
    "option",
    "options",
  ],
  [
    "path",
    "file",
    "files",
    "folder",
    "copies",
    "project",
    "rejected_file",
    "source",
    "address",
    "host",
    "link",
  ],
  ["header", "column", "rows", "metadata", "definition", "definitions", "help", "comment", "word", "title"],
  ["split", "sha256", "pooling", "pattern", "version", "licence", "encoder", "date", "label"],
].flat();

/** Members that hold texts to be judged, and rows of a file with such texts. */
const BODIES = ["body", "snippet", "text", "rows"];

const known = new Set<string>();
const bodies = new Set<string>();

/** Remembers the data of an answer. */
export function remember(answer: unknown, isData = false): void {
  if (!PSEUDO) return;
  if (typeof answer === "string") {
    if (!isData || !/[A-Za-z]/.test(answer)) return;
    known.add(answer);
    // Files are shown without their folders.
    if (answer.includes("/")) remember(answer.split("/").at(-1), true);
  } else if (Array.isArray(answer)) answer.forEach((one) => remember(one, isData));
  else if (typeof answer === "object" && answer !== null)
    for (const [name, member] of Object.entries(answer)) {
      if (BODIES.includes(name))
        [member].flat(2).forEach((one) => typeof one === "string" && bodies.add(one.trim()));
      remember(member, DATA.includes(name) || SOMETIMES[name]?.(answer) === true);
      if (name === "attributes")
        Object.entries(member ?? {})
          .flat()
          .forEach((one) => remember(one, true));
    }
}

/** Members that hold data in some answers only. */
const SOMETIMES: Readonly<Record<string, (of: object) => boolean>> = {
  // That of a job is a sentence.
  note: (of) => !("state" in of),
};

/** What is the same in every language, with the reason. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "names of this program and of others": ["Dissensus", "Inter", "SIL Open Font License"],
  "languages are named in themselves": Object.values(LANGUAGES),
  "names of devices": ["CPU", "cpu", "CUDA"],
  "names of measures, functions and poolings": ["AUROC", "ReLU", "mean"],
  "symbols of units and figures": ["px", "p"],
  "what files write for a missing value": ["NA"],
};

/**
 * Words and sentences of the program that its catalogue does not have: single words that it puts into
 * sentences, and what the list of encoders (`models/encoders.toml`) says about them.
 */
const NOT_YET = [
  "text",
  "values",
  "finished",
  "real difference",
  "Small",
  "quick",
  "layers",
  "million parameters",
  "The default",
  "About a hundred languages: 12 layers, 118 million parameters, 4-bit weights (not the file of the model hub).",
];

/** Paths and names of files; what is quoted, which is a name; keys; single letters, such as group A. */
const PATTERNS = [
  /(?:\/[\p{L}\d._-]+)+\/?/gu,
  /[^\s⟦]*\.(?:dissensus|csv|age)\b/gu,
  /"[^"]*"/g,
  /(?:(?:Ctrl|Alt|Shift)\+)+(?:\p{L}+|\S)/gu,
  /(?<!\p{L})[A-Z](?!\p{L})/gu,
];

/** Keys of the keyboard, and commands to be typed. */
const AS_IT_IS = "kbd, .key, code, pre, script, style";
const READ_OUT = [
  "title",
  "aria-label",
  "aria-description",
  "aria-roledescription",
  "aria-valuetext",
  "placeholder",
  "alt",
];

const fixed = [...Object.values(NAMES).flat(), ...NOT_YET];
const quoted = (words: string) => words.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** The plain letters of a text that are no data. */
function unknown(text: string): string {
  if (!/[A-Za-z]/.test(text)) return "";
  const data = [...known, ...fixed].filter((one) => text.includes(one)).sort((a, b) => b.length - a.length);
  let rest = text;
  for (const one of data)
    rest = rest.replaceAll(new RegExp(String.raw`(?<!\p{L})${quoted(one)}(?!\p{L})`, "gu"), " ");
  for (const pattern of PATTERNS) rest = rest.replaceAll(pattern, " ");
  if (!/[A-Za-z]/.test(rest)) return "";
  // Texts are shown in parts.
  const part = rest.replaceAll("…", "").trim();
  return part.length > 11 && data.concat([...known]).some((one) => one.includes(part)) ? "" : rest.trim();
}

/** The element of which a text is a part, as people read it. */
function blockOf(node: Node): Element {
  let block = node.parentElement ?? document.body;
  while (getComputedStyle(block).display === "inline" && block.tagName !== "text" && block.parentElement)
    block = block.parentElement;
  return block;
}

/** Where an element is. */
export function placeOf(element: Element): string {
  const named = element.closest("[data-testid]");
  const id = named?.getAttribute("data-testid") ?? element.closest("[role=dialog], main, nav")?.tagName ?? "";
  return `${element.tagName.toLowerCase()} in ${id}`;
}

const isShown = (element: Element) =>
  element.checkVisibility({ visibilityProperty: true }) && element.closest(AS_IT_IS) === null;

/** Each text and name on the screen that is not translated, with its place. */
export function untranslated(): string[] {
  const blocks = new Map<Element, string>();
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
    const words = node.nodeValue ?? "";
    if (words.trim() === "" || !node.parentElement || !isShown(node.parentElement)) continue;
    const block = blockOf(node);
    blocks.set(block, (blocks.get(block) ?? "") + words);
  }
  const texts = [...blocks].map(([element, text]) => [element, "", text] as const);
  const named = [...document.querySelectorAll(READ_OUT.map((name) => `[${name}]`).join())].filter(isShown);
  const names = named.flatMap((element) =>
    READ_OUT.map((name) => [element, ` ${name}`, element.getAttribute(name) ?? ""] as const),
  );
  return [...texts, ...names, [document.documentElement, " title", document.title] as const].flatMap(
    ([element, what, text]) => {
      const rest = unknown(text);
      return rest === "" ? [] : [`not translated:${what} ${JSON.stringify(rest)} (${placeOf(element)})`];
    },
  );
}

/** Whether this is a text of the project that people judge: lists show its beginning. */
export const isBody = (text: string): boolean => bodies.has(text);
