// Markdown as a tree without HTML, followable addresses or external pictures.
import type { Token, Tokens } from "marked";
import { plainEntities } from "./entities";
import { lexed } from "./markdown-lexer";

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "strong" | "em" | "del"; children: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "break" }
  /** The address is shown after the words; null if they are the address. */
  | { kind: "link"; children: Inline[]; address: string | null }
  /** A picture of the project. */
  | { kind: "picture"; name: string; alt: string }
  /** An external picture. */
  | { kind: "elsewhere"; alt: string };

interface Item {
  /** Of a task, whether it is done; null of any other item. */
  done: boolean | null;
  children: Block[];
}

export type Block =
  | { kind: "heading"; level: number; children: Inline[] }
  | { kind: "paragraph"; children: Inline[] }
  /** Words of a list's item that make no paragraph of their own. */
  | { kind: "line"; children: Inline[] }
  /** Shown literally: HTML, and content nested too deeply. */
  | { kind: "raw"; text: string }
  | { kind: "code"; text: string }
  | { kind: "quote"; children: Block[] }
  | { kind: "list"; start: number | null; items: Item[] }
  | { kind: "table"; align: (string | null)[]; head: Inline[][]; rows: Inline[][][] }
  | { kind: "rule" };

export interface Heading {
  level: number;
  words: string;
  /** The heading itself. */
  block: Block;
}

export interface Markdown {
  blocks: Block[];
  headings: Heading[];
  /** How many blocks are those of the body before. */
  kept: number;
  /** Blocks by their source, for reuse in the next body; each can be reused once. */
  known: Known;
}

interface Known {
  references: string;
  blocks: ReadonlyMap<string, readonly Read[]>;
}

/** A block of the body itself, with the headings in it. */
interface Read {
  block: Block;
  headings: readonly Heading[];
}

const PICTURE = /^picture:([0-9a-f]{16})$/;
/** Maximum nesting of blocks. */
const DEEPEST = 48;

/**
 * Parses CommonMark with tables, tasks and deletions. Blocks that are also in `before` are the same objects,
 * so that they need not be rendered again.
 */
export function readMarkdown(body: string, before: Markdown | null = null): Markdown {
  const { tokens, references, late } = lexed(body);
  const usable = before && before.known.references === references ? before.known.blocks : new Map();
  const left = new Map([...usable].map(([source, reads]: [string, readonly Read[]]) => [source, [...reads]]));
  const known = new Map<string, Read[]>();
  const all: Read[] = [];
  let kept = 0;
  for (const token of tokens) {
    const source = `${token.type} ${token.raw}`;
    const old = left.get(source)?.shift();
    const read = old ?? readBlock(token);
    if (old) kept += 1;
    if (!read) continue;
    all.push(read);
    const same = known.get(source);
    if (same) same.push(read);
    else known.set(source, [read]);
  }
  return {
    blocks: all.map(({ block }) => block),
    headings: all.flatMap(({ headings }) => headings),
    kept,
    // What was cut short is read anew.
    known: { references, blocks: late ? new Map() : known },
  };
}

function readBlock(token: Token): Read | null {
  const reader = new Reader();
  const [block] = reader.blocks([token], 0);
  return block ? { block, headings: reader.headings } : null;
}

/** The words of a part, without what marks them. */
export function wordsOf(children: readonly Inline[]): string {
  return children
    .map((child) => {
      if ("children" in child) return wordsOf(child.children);
      if ("text" in child) return child.text;
      return "alt" in child ? child.alt : " ";
    })
    .join("");
}

class Reader {
  readonly headings: Heading[] = [];

  blocks(tokens: readonly Token[], depth: number): Block[] {
    return tokens.flatMap((token) => this.#block(token, depth) ?? []);
  }

  #block(token: Token, depth: number): Block | null {
    if (depth > DEEPEST) return { kind: "raw", text: token.raw };
    switch (token.type) {
      case "space":
      case "def":
      case "checkbox":
        return null;
      case "heading":
        return this.#heading(token as Tokens.Heading);
      case "paragraph":
        return { kind: "paragraph", children: this.#inlines(token.tokens, depth) };
      case "text":
        return token.tokens
          ? { kind: "line", children: this.#inlines(token.tokens, depth) }
          : { kind: "raw", text: token.raw };
      case "code":
        return { kind: "code", text: (token as Tokens.Code).text };
      case "blockquote":
        return { kind: "quote", children: this.blocks(token.tokens ?? [], depth + 1) };
      case "list":
        return this.#list(token as Tokens.List, depth);
      case "table":
        return this.#table(token as Tokens.Table, depth);
      case "hr":
        return { kind: "rule" };
      default:
        return { kind: "raw", text: token.raw.trimEnd() };
    }
  }

  #heading({ depth: level, tokens }: Tokens.Heading): Block {
    const children = this.#inlines(tokens, 0);
    const block: Block = { kind: "heading", level, children };
    this.headings.push({ level, words: wordsOf(children), block });
    return block;
  }

  #list({ ordered, start, items }: Tokens.List, depth: number): Block {
    return {
      kind: "list",
      start: ordered ? Number(start) : null,
      items: items.map((item) => ({
        done: item.task ? (item.checked ?? false) : null,
        children: this.blocks(item.tokens, depth + 1),
      })),
    };
  }

  #table({ align, header, rows }: Tokens.Table, depth: number): Block {
    const cells = (row: readonly Tokens.TableCell[]) => row.map(({ tokens }) => this.#inlines(tokens, depth));
    return { kind: "table", align, head: cells(header), rows: rows.map(cells) };
  }

  #inlines(tokens: readonly Token[] | undefined, depth: number): Inline[] {
    return (tokens ?? []).flatMap((token) => this.#inline(token, depth) ?? []);
  }

  #inline(token: Token, depth: number): Inline | null {
    if (depth > DEEPEST) return { kind: "text", text: token.raw };
    switch (token.type) {
      case "strong":
      case "em":
      case "del":
        return { kind: token.type, children: this.#inlines(token.tokens, depth + 1) };
      case "codespan":
        return { kind: "code", text: (token as Tokens.Codespan).text };
      case "br":
        return { kind: "break" };
      case "link":
        return this.#link(token as Tokens.Link, depth);
      case "image":
        return picture(token as Tokens.Image);
      case "escape":
        return { kind: "text", text: (token as Tokens.Escape).text };
      case "checkbox":
        return null;
      case "text":
        return { kind: "text", text: plainEntities((token as Tokens.Text).text) };
      default:
        // HTML among it: as it is written.
        return { kind: "text", text: token.raw };
    }
  }

  #link({ href, tokens }: Tokens.Link, depth: number): Inline {
    const children = this.#inlines(tokens, depth + 1);
    const address = plainEntities(href);
    const words = wordsOf(children).trim();
    const same = words === address || `mailto:${words}` === address;
    return { kind: "link", children, address: same || address === "" ? null : address };
  }
}

function picture({ href, text }: Tokens.Image): Inline {
  const alt = plainEntities(text);
  const name = PICTURE.exec(href)?.[1];
  return name === undefined ? { kind: "elsewhere", alt } : { kind: "picture", name, alt };
}
