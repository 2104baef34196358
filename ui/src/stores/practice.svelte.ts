// The practice round of whoever labels: how far it is, and whether texts may be labelled now.
import { commands } from "$bindings";
import type { AnnotatorId, PracticeState } from "$api/bindings";

/** What it needs of the window around it. */
interface Host {
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

/** Codes of what refuses a text before the practice is done. */
const REFUSALS = ["practice-first", "practice-stopped"];

export class PracticeStore {
  /** Null where nothing is practised on; undefined before it is known. */
  state = $state.raw<PracticeState | null | undefined>(undefined);
  /** The practice is on screen in place of the texts: from its first text until its result was read. */
  shown = $state(false);
  #of: AnnotatorId | null = null;
  #turn = 0;

  constructor(private readonly host: Host) {}

  /** Asks how far somebody is. What is on screen stays meanwhile, unless it is of somebody else. */
  async look(annotator: AnnotatorId): Promise<void> {
    if (annotator !== this.#of) this.forget();
    this.#of = annotator;
    const mine = ++this.#turn;
    const found = await this.host.attempt(() => commands.practiceState(annotator));
    if (mine !== this.#turn) return;
    // What cannot be asked keeps nobody from the texts: these are refused where they must be.
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

  /** Another project is open, or somebody else labels. */
  forget(): void {
    this.#turn += 1;
    this.#of = null;
    this.state = undefined;
    this.shown = false;
  }
}
