// The guideline of the open project: the version that is on screen.
import { commands } from "$bindings";
import type { GuidelineInfo } from "$lib/bindings";

export class GuidelineStore {
  current = $state.raw<GuidelineInfo | null>(null);

  /** Reads the version that holds; nothing where no project is open. */
  async refresh(open: boolean): Promise<void> {
    this.current = open ? await commands.guideline() : null;
  }
}
