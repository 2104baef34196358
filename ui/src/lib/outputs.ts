// What leaves the window: copies of the project, reports of runs, and what is put on the clipboard.
import { commands } from "$bindings";
import type { PaperWish } from "$lib/bindings";
import { counted, fileName } from "$lib/format";
import { asProblem } from "$lib/problems";
import type { Toasts } from "$lib/toasts.svelte";
import * as platform from "$platform";

/** What it needs of the window around it. */
interface Host {
  readonly toasts: Toasts;
  readonly project: { readonly name: string } | null;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

export class Outputs {
  constructor(private readonly host: Host) {}

  /** Writes a whole copy of the project, as it is now. */
  async saveCopy(path: string): Promise<boolean> {
    const { toasts } = this.host;
    const copy = await this.host.attempt(async () => {
      try {
        return await commands.saveCopy(path);
      } catch (thrown) {
        if (asProblem(thrown).code !== "cancelled") throw thrown;
        toasts.note("Saving a copy was stopped", "Nothing was written.");
        return undefined;
      }
    });
    if (!copy) return false;
    // Encoders and checkpoints of runs lie beside the project; models need none of them to open the copy.
    const left = copy.runs_left ? ` The files of its runs stay in ${copy.runs_left}.` : "";
    toasts.done(`A copy was saved as ${fileName(copy.path)}`, `${copy.path}${left}`);
    return true;
  }

  /**
   * Asks where to, then writes all labels: for others with pseudonyms, or to import again; with or without what was decided beside them.
   * False where nothing was written.
   */
  async exportLabels(pseudonyms: boolean, notes: boolean, decisions: boolean): Promise<boolean> {
    const name = this.host.project?.name ?? "labels";
    const path = await this.host.attempt(() =>
      platform.chooseExport(pseudonyms ? `${name} for others` : name),
    );
    if (!path) return false;
    const done = await this.host.attempt(() => commands.exportProject(path, pseudonyms, notes, decisions));
    if (!done) return false;
    const words = [path];
    if (done.suppressed > 0)
      words.push(
        `${counted(done.suppressed, "value")} of attributes left empty: fewer than five people share them.`,
      );
    if (done.told_apart > 0)
      words.push(
        `${counted(done.told_apart, "person", "people")} can still be told from all but a few by their attributes together.`,
      );
    this.host.toasts.done(
      `${counted(done.rows, "row")} written to ${fileName(path)}`,
      words.join("\n"),
      words.length > 1,
    );
    return true;
  }

  /** Asks where to, then writes what a paper's appendix needs. False where nothing was written. */
  async writeReport(wish: PaperWish): Promise<boolean> {
    const { toasts } = this.host;
    const name = this.host.project?.name ?? "project";
    const folder = await this.host.attempt(() => platform.chooseReportFolder(name));
    if (!folder) return false;
    const done = await this.host.attempt(async () => {
      try {
        return await commands.writeReport(folder, wish);
      } catch (thrown) {
        if (asProblem(thrown).code !== "cancelled") throw thrown;
        toasts.note("The report was stopped", "Nothing was written.");
        return undefined;
      }
    });
    if (!done) return false;
    const words = [`Open report.html in ${done.folder}`];
    if (done.told_apart > 0)
      words.push(
        `${counted(done.told_apart, "person", "people")} can still be told from all but a few by their attributes together.`,
      );
    toasts.done(
      `${counted(done.figures, "figure")} and ${counted(done.tables, "table")} written to ${fileName(done.folder)}`,
      words.join("\n"),
      true,
    );
    return true;
  }

  /** Asks where to, then {@link saveCopy}. */
  async askForCopy(): Promise<void> {
    const name = this.host.project?.name ?? "project";
    const path = await this.host.attempt(() => platform.chooseCopy(name));
    if (path) await this.saveCopy(path);
  }

  /** Writes a report of these runs. */
  async exportRuns(runs: number[], path: string): Promise<boolean> {
    const done = await this.host.attempt(async () => {
      await commands.exportRuns(runs, path);
      return true;
    });
    if (done) this.host.toasts.done(`${counted(runs.length, "run")} written to ${fileName(path)}`, path);
    return done ?? false;
  }

  /** Asks where to, then {@link handInTo}. */
  async handIn(): Promise<void> {
    const name = this.host.project?.name ?? "packet";
    const path = await this.host.attempt(() => platform.chooseHandIn(name));
    if (path) await this.handInTo(path);
  }

  /** Writes what was done with the packet that is open to one file. */
  async handInTo(path: string): Promise<boolean> {
    const handed = await this.host.attempt(() => commands.handIn(path));
    if (!handed) return false;
    const { given, wanted, file } = handed;
    const far =
      given === wanted ? `All ${counted(wanted, "text")}` : `${given} of ${counted(wanted, "text")}`;
    const rest = given === wanted ? "" : " You can go on, and hand in again.";
    const detail = `Send ${file} to whoever gave you this packet.${rest}`;
    this.host.toasts.done(`${far} handed in as ${fileName(file)}`, detail, true);
    return true;
  }

  /** Puts a description of the program and its last log lines on the clipboard; it holds no text of a project. */
  async copyDiagnostics(): Promise<void> {
    await this.host.attempt(async () => {
      await platform.copyText(commands.diagnostics());
      this.host.toasts.done("Diagnostics copied", "They hold no text, label or name of a project.");
    });
  }
}
