// A Markdown lexer with limits: any input ends soon, and what exceeds a limit stays text.
import { Lexer, Tokenizer, type Token, type Tokens } from "marked";

/** Maximum nesting of quotes and lists. */
const DEEPEST = 16;
/** How many signs that could mean something a paragraph may have: beyond, it is no prose. */
const MAX_SIGNS = 400;
/** After so long no more is looked at. An honest guideline of 200,000 characters takes a tenth of it. */
const LONGEST_MS = 2000;

const SYNTAX = /[*_~`[\]<!@]/g;
const QUOTE = /^ {0,3}>/;
const ITEM = /^ {0,3}(?:[*+-]|\d{1,9}[.)])(?:[ \t\n]|$)/;

/** Source that is shown literally. */
const asWritten = (source: string): Tokens.Text => ({ type: "text", raw: source, text: source });

class BoundedTokenizer extends Tokenizer {
  #depth = 0;

  constructor(private readonly late: () => boolean) {
    super();
  }

  override blockquote(source: string): Tokens.Blockquote | undefined {
    return this.#inside(source, QUOTE, () => super.blockquote(source));
  }

  override list(source: string): Tokens.List | undefined {
    return this.#inside(source, ITEM, () => super.list(source));
  }

  /** An address that is not marked as a link is text, as in CommonMark. */
  override url(_source: string): undefined {
    return undefined;
  }

  /** The lexer looks at nothing of a token but how much of the source it took. */
  #inside<T extends Token>(source: string, begins: RegExp, read: () => T | undefined): T | undefined {
    if (!begins.test(source)) return undefined;
    if (this.#depth >= DEEPEST || this.late()) return asWritten(source) as Token as T;
    this.#depth += 1;
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }
}

class BoundedLexer extends Lexer {
  constructor(private readonly late: () => boolean) {
    super({ gfm: true, tokenizer: new BoundedTokenizer(late) });
  }

  override inline(source: string, tokens: Token[] = []): Token[] {
    return this.#unless((source.match(SYNTAX)?.length ?? 0) > MAX_SIGNS, source, tokens, () =>
      super.inline(source, tokens),
    );
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    return this.#unless(false, source, tokens, () => super.inlineTokens(source, tokens));
  }

  #unless(tooMuch: boolean, source: string, tokens: Token[], read: () => Token[]): Token[] {
    if (!tooMuch && !this.late()) return read();
    tokens.push(asWritten(source));
    return tokens;
  }
}

interface Lexed {
  tokens: Token[];
  /** The reference definitions as one text. */
  references: string;
  /** It took too long, and the rest is text. */
  late: boolean;
}

/** The tokens of a body. Nothing is thrown: what cannot be read is one piece of text. */
export function lexed(body: string): Lexed {
  const until = performance.now() + LONGEST_MS;
  const late = () => performance.now() > until;
  try {
    const tokens = new BoundedLexer(late).lex(body);
    return { tokens, references: JSON.stringify(tokens.links), late: late() };
  } catch {
    return { tokens: [asWritten(body)], references: "", late: true };
  }
}
