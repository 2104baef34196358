// The guideline panel: whether it is open, its width, and the version that each person has seen on this
// computer.
import type { AnnotatorId, GuidelineInfo } from "$api/bindings";

export const NARROWEST = 260;
export const WIDEST = 720;
const USUAL = 380;
const PANEL = "dissensus.guideline-panel:";
const SEEN_VERSION = "dissensus.guideline-seen:";

/** Width below which the panel is above the text; the styles of the view and the panel use the same width. */
const NARROW = "(max-width: 1000px)";

function isNarrow(): boolean {
  return matchMedia(NARROW).matches;
}

export class GuidelineSide {
  open = $state(false);
  width = $state(USUAL);
  /** The version that opened by itself, until it is closed; null if the person has seen the current one. */
  news = $state<string | null>(null);
  /** The version that the person had on screen before the news. */
  before = $state<string | null>(null);

  /** Who has not had the newest version on screen, though it is there. */
  #unseen: AnnotatorId | null = null;

  /** @param project the path of the project */
  constructor(private readonly project: string) {
    const { open, width } = read(PANEL + project);
    this.open = open === true && !isNarrow();
    if (typeof width === "number") this.width = within(width);
  }

  toggle(): void {
    this.open = !this.open;
    if (!this.open) this.news = null;
    else if (this.#unseen !== null && this.news !== null) {
      write(SEEN_VERSION + this.project, { ...read(SEEN_VERSION + this.project), [this.#unseen]: this.news });
      this.#unseen = null;
    }
    this.#keep();
  }

  close(): void {
    if (this.open) this.toggle();
  }

  /** As wide as this, within bounds. */
  resize(width: number): void {
    this.width = within(width);
    this.#keep();
  }

  /**
   * The person labels under this version: an unseen version opens by itself, which is not stored as a choice.
   * If there is no room for it, it is only marked as new.
   */
  look(annotator: AnnotatorId, { id }: GuidelineInfo): void {
    const seen = read(SEEN_VERSION + this.project);
    const before = seen[annotator];
    if (before === id) return;
    this.before = typeof before === "string" ? before : null;
    this.news = id;
    this.#unseen = null;
    if (isNarrow()) {
      this.open = false;
      this.#unseen = annotator;
      return;
    }
    this.open = true;
    write(SEEN_VERSION + this.project, { ...seen, [annotator]: id });
  }

  /** There is a version that the person has not had on screen, and it is not. */
  get waiting(): boolean {
    return this.news !== null && !this.open;
  }

  #keep(): void {
    write(PANEL + this.project, { open: this.open, width: this.width });
  }
}

/**
 * The versions newer than `before`, newest first; only the newest if `before` is not among them. Without
 * `before`, the guideline as a whole is new.
 */
export function newSince(versions: readonly GuidelineInfo[], before: string | null): GuidelineInfo[] {
  if (before === null) return [];
  const at = versions.findIndex(({ id }) => id === before);
  return (at < 0 ? versions.slice(-1) : versions.slice(at + 1)).toReversed();
}

function within(width: number): number {
  return Math.round(Math.min(WIDEST, Math.max(NARROWEST, width)));
}

/** The stored state, if it can be read. */
function read(key: string): Record<string, unknown> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
    return typeof stored === "object" && stored !== null ? (stored as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Without room for it, it is as it was the next time. */
function write(key: string, value: Record<string, unknown>): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // It is a convenience.
  }
}
