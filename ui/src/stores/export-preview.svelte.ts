// The contents of a file to export, fetched again on each change; only the latest request is used.
import { commands } from "$bindings";
import type { ExportContents, ExportRequest, Problem } from "$api/bindings";
import { asProblem } from "$words/problems";

export class ExportLook {
  /** Of the last choice that was answered, and the name of its format. */
  contents = $state.raw<ExportContents | null>(null);
  format = $state.raw<string | null>(null);
  problem = $state.raw<Problem | null>(null);
  looking = $state(false);
  #turn = 0;

  async at(request: ExportRequest): Promise<void> {
    const mine = ++this.#turn;
    this.looking = true;
    try {
      const found = await commands.exportContents(request);
      if (mine !== this.#turn) return;
      this.contents = found;
      this.format = request.format;
      this.problem = null;
    } catch (thrown) {
      if (mine !== this.#turn) return;
      this.contents = null;
      this.problem = asProblem(thrown);
    } finally {
      if (mine === this.#turn) this.looking = false;
    }
  }

  /** Nobody wants to know any more. */
  stop(): void {
    this.#turn++;
    if (!this.looking) return;
    this.looking = false;
    // Whether it ended by itself meanwhile is of no interest.
    void commands.stopExportContents().catch(() => undefined);
  }
}
