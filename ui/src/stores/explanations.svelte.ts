// Tooltips from `title` attributes, shown on hover, focus and tap alike.
//
// A native tooltip works only by mouse and stays above dialogs. So the title is moved into the window's own
// tooltip while it is shown, and restored afterwards. Views only write `title`.

/** How long the pointer rests before the tip comes. */
const REST_MS = 350;
const FOCUSABLE =
  "button, a[href], input, select, textarea, summary, [tabindex]:not(main, [data-focus-held]), [contenteditable='true']";
/** More than so many explanations of one row are no help. */
const MAX_LINES = 5;

export interface Shown {
  lines: readonly string[];
  /** What it is about, in pixels of the window. */
  at: DOMRect;
}

/** Words without spaces at the ends, and with single ones between. */
const plain = (words: string | null | undefined) => (words ?? "").replace(/\s+/g, " ").trim();

/**
 * The explanations of an element: its own title, or the titles inside it if it is one tab stop. Titles that
 * repeat the visible text are omitted.
 */
export function explanations(element: Element): string[] {
  const own = plain(element.getAttribute("title"));
  if (own !== "") return [own].filter((words) => words !== plain(element.textContent) || isCut(element));
  const inside = [...element.querySelectorAll("[title]")].flatMap((one) => {
    const words = plain(one.getAttribute("title"));
    const read = plain(one.textContent);
    if (words === "" || (words === read && !isCut(one))) return [];
    return [read === "" || words.startsWith(read) ? words : `${read}: ${words}`];
  });
  return [...new Set(inside)].slice(0, MAX_LINES);
}

/** The element's text is cut off. */
function isCut(element: Element): boolean {
  return element.scrollWidth > element.clientWidth;
}

/** Something with a title that the keyboard reaches neither by itself nor as a part of something else. */
function isOutOfReach(element: Element): boolean {
  return (
    element instanceof HTMLElement &&
    plain(element.title) !== "" &&
    plain(element.title) !== plain(element.textContent) &&
    element.closest(FOCUSABLE) === null &&
    element.querySelector(FOCUSABLE) === null &&
    element.closest("[aria-hidden='true'], [inert]") === null
  );
}

export class Explanations {
  shown = $state.raw<Shown | null>(null);
  #on: Element | null = null;
  /** Removed titles by their element. */
  #taken = new Map<Element, string>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Begins to listen; gives what ends it. */
  begin(root: HTMLElement = document.body): () => void {
    const end = new AbortController();
    const { signal } = end;
    const on = <K extends keyof DocumentEventMap>(name: K, handler: (event: DocumentEventMap[K]) => void) =>
      document.addEventListener(name, handler, { signal, capture: true });
    on("pointerover", (event) => this.#hover(event));
    // Focus also moves while a view is being drawn, as where what has it goes: nothing may change under that.
    on("focusin", ({ target }) =>
      queueMicrotask(() => {
        // What only a script can focus is no stop of the keyboard.
        const isStop =
          target instanceof Element &&
          target.matches(":focus-visible:not(:is(section, main, [data-focus-held])[tabindex='-1'])");
        if (isStop) this.#show(target);
      }),
    );
    on("focusout", () => queueMicrotask(() => this.hide()));
    // A finger rests nowhere: a tap on what does nothing else explains it.
    on("pointerup", (event) => {
      if (event.pointerType !== "mouse") this.#tap(event.target);
    });
    on("pointerdown", () => this.hide());
    on("scroll", () => this.hide());
    // The same key also closes what is under the tip.
    on("keydown", (event) => {
      if (event.key === "Escape") this.hide();
    });
    const reach = new MutationObserver((changes) => {
      if (this.#on && !this.#on.isConnected) this.hide();
      for (const { target, addedNodes } of changes) {
        this.#reach(target);
        addedNodes.forEach((node) => {
          this.#reach(node);
          // A dialog that opens has nothing over it.
          if (node instanceof Element && node.querySelector("[role='dialog']")) this.hide();
        });
      }
    });
    reach.observe(root, { childList: true, subtree: true, attributes: true, attributeFilter: ["title"] });
    this.#reach(root);
    return () => {
      end.abort();
      reach.disconnect();
      this.hide();
    };
  }

  hide(): void {
    clearTimeout(this.#timer);
    this.#on = null;
    this.shown = null;
    for (const [element, words] of this.#taken)
      if (!element.hasAttribute("title")) element.setAttribute("title", words);
    this.#taken.clear();
  }

  #hover({ target, pointerType }: PointerEvent): void {
    if (pointerType !== "mouse" || !(target instanceof Element)) return;
    const element = target.closest("[title]");
    if (this.#on !== null && (element === this.#on || this.#on.contains(target))) return;
    this.hide();
    if (!element) return;
    this.#on = element;
    const lines = explanations(element);
    this.#take(element);
    if (lines.length > 0) this.#timer = setTimeout(() => this.#draw(element, lines), REST_MS);
  }

  #tap(target: EventTarget | null): void {
    if (!(target instanceof Element) || target.closest("button, a[href], input, select, textarea, summary"))
      return;
    const element = target.closest("[title]");
    if (element) this.#show(element);
  }

  #show(element: Element): void {
    this.hide();
    const lines = explanations(element);
    if (lines.length === 0) return;
    this.#on = element;
    this.#take(element);
    this.#draw(element, lines);
  }

  #draw(element: Element, lines: readonly string[]): void {
    if (element.isConnected) this.shown = { lines, at: element.getBoundingClientRect() };
  }

  /**
   * Removes the title, so that no native tip appears. Its accessible name is preserved if the title was the
   * name.
   */
  #take(element: Element): void {
    const words = element.getAttribute("title");
    if (words === null) return;
    this.#taken.set(element, words);
    element.removeAttribute("title");
  }

  /** Makes what has a title a stop of the keyboard, where nothing else leads to it. */
  #reach(node: Node): void {
    if (!(node instanceof Element)) return;
    for (const element of [node, ...node.querySelectorAll("[title]")])
      if (isOutOfReach(element)) (element as HTMLElement).tabIndex = 0;
  }
}
