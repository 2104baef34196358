// The practice round of the person who labels: its progress, and whether labelling is allowed.
import { commands } from "$bindings";
import type { AnnotatorId, PracticeState } from "$api/bindings";

/** What it needs of the window around it. */
interface Host {
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

/** Error codes of texts that are refused until practice is done. */
const REFUSALS = ["practice-first", "practice-stopped"];

export class PracticeStore {
  /** Null where nothing is practised on; undefined before it is known. */
  state = $state.raw<PracticeState | null | undefined>(undefined);
  /** Practice is on screen instead of texts, from its first text until its result was read. */
  shown = $state(false);
  #of: AnnotatorId | null = null;
  #turn = 0;

  constructor(private readonly host: Host) {}

  /** Loads the progress of a person. The screen is unchanged meanwhile, unless it shows another person. */
  async look(annotator: AnnotatorId): Promise<void> {
    if (annotator !== this.#of) this.forget();
    this.#of = annotator;
    const mine = ++this.#turn;
    const found = await this.host.attempt(() => commands.practiceState(annotator));
    if (mine !== this.#turn) return;
    // An error does not block labelling: refused texts are refused by the program.
    this.setState(found ?? null);
  }

  /** This is how far it is now. */
  setState(state: PracticeState | null): void {
    this.#turn += 1;
    this.state = state;
    if (state && state.step !== "label") this.shown = true;
  }

  /** The result was read: the texts come now. */
  leave(): void {
    if (this.state?.step === "label" || this.state === null) this.shown = false;
  }

  /** A text was refused; true where the practice is the reason, which is shown then. */
  refused(code: string): boolean {
    if (!REFUSALS.includes(code) || this.#of === null) return false;
    void this.look(this.#of);
    return true;
  }

  /** Another project is open, or another person labels. */
  forget(): void {
    this.#turn += 1;
    this.#of = null;
    this.state = undefined;
    this.shown = false;
  }
}
