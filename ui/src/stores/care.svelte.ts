// Protection of the person who labels: a daily limit of harmful texts, excluded topics, and stopping at any
// time.
import { commands } from "$bindings";
import type { AnnotatorId, CareInfo, OwnCare, TextId } from "$api/bindings";

interface Host {
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

export class CareStore {
  /** The state of the person who labels, as far as loaded. */
  info = $state.raw<CareInfo | null>(null);
  /** The person stopped: nothing of the project is on screen until they come back. */
  stopped = $state(false);
  #of: AnnotatorId | null = null;

  constructor(private readonly host: Host) {}

  /** No more texts today, unless the person may and wants to go on. */
  get ended(): boolean {
    return this.info?.reached ?? false;
  }

  /** Loads the state of a person. */
  load(annotator: AnnotatorId): Promise<void> {
    return this.#ask(annotator, () => commands.care(annotator));
  }

  /** Notes that a text is read, or that something was done with it. */
  read(annotator: AnnotatorId, text: TextId): Promise<void> {
    return this.#ask(annotator, () => commands.readText(annotator, text));
  }

  /** Goes on beyond the limit until the day ends. */
  goOn(annotator: AnnotatorId): Promise<void> {
    return this.#ask(annotator, () => commands.goOnToday(annotator));
  }

  /** Stores the person's choices; false if that failed, which was reported. */
  async choose(annotator: AnnotatorId, own: OwnCare): Promise<boolean> {
    let kept = false;
    await this.#ask(annotator, async () => {
      const info = await commands.setOwnCare(annotator, own);
      kept = true;
      return info;
    });
    return kept;
  }

  /** Another project: nothing of the old one stays. */
  forget(): void {
    this.info = null;
    this.stopped = false;
    this.#of = null;
  }

  async #ask(annotator: AnnotatorId, work: () => Promise<CareInfo>): Promise<void> {
    if (this.#of !== annotator) this.info = null;
    this.#of = annotator;
    const info = await this.host.attempt(work);
    // Somebody else may have sat down meanwhile.
    if (info && this.#of === annotator) this.info = info;
  }
}
