// How long something was looked at: time in a hidden window does not count.

/** A stopwatch that pauses while the document is hidden. */
export class VisibleTime {
  #counted = 0;
  #since: number | null = null;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** From zero; runs if the document is visible. */
  restart(visible = document.visibilityState === "visible"): void {
    this.#counted = 0;
    this.#since = visible ? this.now() : null;
  }

  /** Called when the document appears or is hidden. */
  setVisible(visible: boolean): void {
    if (visible && this.#since === null) this.#since = this.now();
    if (!visible && this.#since !== null) {
      this.#counted += this.now() - this.#since;
      this.#since = null;
    }
  }

  /** Milliseconds so far. */
  get elapsed(): number {
    return Math.round(this.#counted + (this.#since === null ? 0 : this.now() - this.#since));
  }
}
