// A version of the guideline that is being written: its base, its text, and versions saved meanwhile.
import { commands } from "$bindings";
import type { GuidelineInfo, GuidelineWritten, PictureData, Problem } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { asProblem } from "$words/problems";

/** The longest guideline, in characters: the same limit as in Rust. */
export const LONGEST = 200_000;
const BY = "dissensus.written-by";

export class GuidelineDraft {
  body = $state("");
  change = $state("");
  by = $state(localStorage.getItem(BY) ?? "");
  /** The version that this one comes after; none of the first. */
  base = $state.raw<GuidelineInfo | null>(null);
  /** The version that somebody else saved meanwhile. */
  other = $state.raw<GuidelineInfo | null>(null);
  problem = $state.raw<Problem | null>(null);
  saving = $state(false);
  /** Pictures that were added here and are not in the project yet, by name. */
  pictures = $state.raw<ReadonlyMap<string, PictureData>>(new Map());
  #files = new Map<string, string>();
  /** What the body was when it was begun. */
  #begun = $state("");

  readonly number = $derived((this.base?.number ?? 0) + 1);
  /** Something was written that would be lost. */
  readonly changed = $derived(this.body !== this.#begun || this.change.trim() !== "");
  readonly tooLong = $derived(this.body.length > LONGEST ? Math.max(0, [...this.body].length - LONGEST) : 0);
  /** What is missing before it can be saved; null where nothing is. */
  readonly missing: string | null = $derived.by(() => {
    if (this.body.trim() === "") return t("guideline.missing_text");
    if (this.tooLong > 0) return t("guideline.missing_room", { count: this.tooLong });
    if (this.base && this.body === this.base.body)
      return t("guideline.missing_difference", { version: this.base.number });
    if (this.base && this.change.trim() === "") return t("guideline.missing_change");
    return null;
  });

  constructor(current: GuidelineInfo | null) {
    this.base = current;
    this.startFrom(current?.body ?? "");
  }

  /** Begins anew with this text, after the same version. */
  startFrom(body: string): void {
    this.body = body;
    this.#begun = this.base?.body ?? "";
    this.change = "";
  }

  /** Reads a picture from a file; the caller inserts it. Null if it cannot be read. */
  async add(file: string): Promise<PictureData | null> {
    this.problem = null;
    try {
      const picture = await commands.readPicture(file);
      this.#files.set(picture.name, file);
      this.pictures = new Map(this.pictures).set(picture.name, picture);
      return picture;
    } catch (thrown) {
      this.problem = asProblem(thrown);
      return null;
    }
  }

  /** Saves it as a version of its own. What was written stays where that fails. */
  async save(): Promise<GuidelineWritten | null> {
    if (this.saving || this.missing !== null) return null;
    this.saving = true;
    this.problem = null;
    try {
      const { body, change, by, base } = this;
      const pictures = [...this.#files].flatMap(([name, file]) =>
        body.includes(`picture:${name}`) ? [file] : [],
      );
      const written = await commands.writeGuideline({ body, change, by, pictures, after: base?.id ?? null });
      saveAuthor(by);
      return written;
    } catch (thrown) {
      this.problem = asProblem(thrown);
      if (this.problem.code === "guideline-outdated") await this.#lookAtOther();
      return null;
    } finally {
      this.saving = false;
    }
  }

  /** What was written here comes after the other version from now on, now that it has been seen. */
  follow(): void {
    if (!this.other) return;
    this.base = this.other;
    this.other = null;
    this.problem = null;
  }

  async #lookAtOther(): Promise<void> {
    try {
      this.other = await commands.guideline();
    } catch {
      // The conflict was already reported.
    }
  }
}

/** Without room for it, it is entered again the next time. */
function saveAuthor(by: string): void {
  try {
    localStorage.setItem(BY, by);
  } catch {
    // It is a convenience.
  }
}
