// The guideline of the open project: the version that is on screen, and its pictures.
import { commands } from "$bindings";
import type { GuidelineInfo, PictureData } from "$api/bindings";

/** The size of the picture cache; for a guideline with more, the oldest are fetched again. */
const CACHED = 40;

export class GuidelineStore {
  current = $state.raw<GuidelineInfo | null>(null);
  /** Takes files that are dropped while a guideline is written; none at other times. */
  onPictures = $state.raw<((paths: readonly string[]) => void) | null>(null);

  #pictures = new Map<string, Promise<PictureData>>();
  #turn = 0;

  /** Reads the version that holds; nothing where no project is open. */
  async refresh(open: boolean): Promise<void> {
    const mine = ++this.#turn;
    const found = open ? await commands.guideline() : null;
    if (mine === this.#turn) this.set(found);
  }

  /** Shows this version. One that is the same stays as it is, so that nothing is drawn anew. */
  set(found: GuidelineInfo | null): void {
    const { current } = this;
    if (current?.id !== found?.id || current?.number !== found?.number) this.current = found;
  }

  /** Another project is open, or none. */
  forget(): void {
    this.#turn += 1;
    this.#pictures.clear();
    this.current = null;
  }

  /** A picture of the project, fetched once; failed ones are fetched again. */
  picture(name: string): Promise<PictureData> {
    const known = this.#pictures.get(name);
    if (known) return known;
    const asked = commands.picture(name);
    this.#pictures.set(name, asked);
    asked.catch(() => this.#pictures.delete(name));
    const [oldest] = this.#pictures.keys();
    if (this.#pictures.size > CACHED && oldest !== undefined) this.#pictures.delete(oldest);
    return asked;
  }
}
