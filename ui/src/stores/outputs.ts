// Files that the window writes: copies of the project, exports, reports of runs; and the clipboard.
import { commands } from "$bindings";
import type { ExportFormat, ExportRequest, PaperRequest, SummaryRequest } from "$api/bindings";
import { contentsCounts, maskWords, exportReport } from "$words/export";
import { t } from "$messages/messages.svelte";
import { fileName } from "$words/format";
import { asProblem } from "$words/problems";
import type { Toasts } from "./toasts.svelte";
import * as platform from "$platform";

/** What it needs of the window around it. */
interface Host {
  readonly toasts: Toasts;
  readonly project: { readonly name: string } | null;
  attempt<T>(work: () => Promise<T>): Promise<T | undefined>;
}

/** A name as it was chosen, with the ending of its format. */
function withEnding(path: string, ending: string): string {
  return ending === "" || path.toLowerCase().endsWith(`.${ending}`) ? path : `${path}.${ending}`;
}

export class Outputs {
  constructor(private readonly host: Host) {}

  /** Writes a whole copy of the project, as it is now. */
  async saveCopy(path: string, passphrase: string | null = null): Promise<boolean> {
    const { toasts } = this.host;
    const copy = await this.host.attempt(async () => {
      try {
        return await commands.saveCopy(path, passphrase);
      } catch (thrown) {
        if (asProblem(thrown).code !== "cancelled") throw thrown;
        toasts.note(t("exporting.copy_stopped"), t("exporting.nothing_written"));
        return undefined;
      }
    });
    if (!copy) return false;
    // Encoders and checkpoints of runs are next to the project; models do not need them to open the copy.
    const left = copy.runs_left ? ` ${t("exporting.copy_runs_left", { folder: copy.runs_left })}` : "";
    toasts.done(t("exporting.copy_saved", { file: fileName(copy.path) }), `${copy.path}${left}`);
    return true;
  }

  /**
   * Chooses a file, then writes all labels: with pseudonyms for others, or to import again; with or without
   * decisions. False if nothing was written.
   */
  async exportLabels(pseudonyms: boolean, notes: boolean, decisions: boolean): Promise<boolean> {
    const name = this.host.project?.name ?? "labels";
    const path = await this.host.attempt(() =>
      platform.chooseExport(pseudonyms ? `${name} for others` : name),
    );
    if (!path) return false;
    const done = await this.host.attempt(() => commands.exportProject(path, pseudonyms, notes, decisions));
    if (!done) return false;
    const words = [path, ...maskWords(done)];
    this.host.toasts.done(
      t("exporting.rows_written", { count: done.rows, file: fileName(path) }),
      words.join("\n"),
    );
    return true;
  }

  /** Asks where to, then {@link exportForProgramTo}. False where nothing was written. */
  async exportForProgram(format: ExportFormat, request: ExportRequest): Promise<boolean> {
    const name = `${this.host.project?.name ?? "labels"} ${format.name}`;
    const chosen = await this.host.attempt(() =>
      platform.chooseProgramFile(format.title, name, format.ending),
    );
    if (!chosen) return false;
    const path = withEnding(chosen, format.ending);
    // The dialog has confirmed overwriting the selected name, and no other.
    return this.exportForProgramTo(path, request, path === chosen);
  }

  /** Writes labels in the format of another program. */
  async exportForProgramTo(path: string, request: ExportRequest, replace: boolean): Promise<boolean> {
    const done = await this.#unlessStopped(() => commands.exportForProgram(path, request, replace));
    if (!done) return false;
    const rest = exportReport(done);
    this.host.toasts.done(
      t("exporting.labels_written", { ...contentsCounts(done), file: fileName(path) }),
      [path, ...rest].join("\n"),
    );
    return true;
  }

  /** Chooses a file, then writes predictions for every person and text. False if nothing was written. */
  async exportPredictions(question: string): Promise<boolean> {
    const name = `${this.host.project?.name ?? "project"} predictions`;
    const path = await this.host.attempt(() =>
      platform.chooseExport(name, t("exporting.choose_predictions")),
    );
    if (!path) return false;
    const done = await this.#unlessStopped(() => commands.exportPredictions(path, question));
    if (!done) return false;
    const texts = t("counts.texts", { count: done.texts });
    const people = t("counts.people", { count: done.people });
    const strangers = done.people_without_labels;
    const rest = strangers > 0 ? `\n${t("exporting.predicted_as_average", { count: strangers })}` : "";
    this.host.toasts.done(
      t("exporting.predictions_written", { texts, people, file: fileName(path) }),
      `${path}${rest}`,
    );
    return true;
  }

  /** Asks where to, then writes labels summed up by text or by person. False where nothing was written. */
  async exportSummary(request: SummaryRequest): Promise<boolean> {
    const what = request.of === "texts" ? "texts" : request.pseudonyms ? "people for others" : "people";
    const name = `${this.host.project?.name ?? "project"} ${what}`;
    const path = await this.host.attempt(() => platform.chooseExport(name));
    if (!path) return false;
    const done = await this.#unlessStopped(() => commands.exportSummary(path, request));
    if (!done) return false;
    const count = done.rows;
    const rows = request.of === "texts" ? t("counts.texts", { count }) : t("counts.people", { count });
    const labels = t("counts.labels", { count: done.labels });
    const names = done.not_converged.join(t("format.list_separator"));
    const unfinished = names === "" ? [] : [t("exporting.not_converged", { names })];
    const words = [path, ...maskWords(done), ...unfinished];
    this.host.toasts.done(
      t("exporting.summary_written", { rows, labels, file: fileName(path) }),
      words.join("\n"),
    );
    return true;
  }

  /** Writes a file as a job; nothing is written if it was stopped. */
  async #unlessStopped<T>(work: () => Promise<T>): Promise<T | undefined> {
    return this.host.attempt(async () => {
      try {
        return await work();
      } catch (thrown) {
        if (asProblem(thrown).code !== "cancelled") throw thrown;
        this.host.toasts.note(t("exporting.stopped"), t("exporting.nothing_written"));
        return undefined;
      }
    });
  }

  /** Asks where to, then writes what a paper's appendix needs. False where nothing was written. */
  async writeReport(request: PaperRequest): Promise<boolean> {
    const { toasts } = this.host;
    const name = this.host.project?.name ?? "project";
    const folder = await this.host.attempt(() => platform.chooseReportFolder(name));
    if (!folder) return false;
    const done = await this.host.attempt(async () => {
      try {
        return await commands.writeReport(folder, request);
      } catch (thrown) {
        if (asProblem(thrown).code !== "cancelled") throw thrown;
        toasts.note(t("exporting.report_stopped"), t("exporting.nothing_written"));
        return undefined;
      }
    });
    if (!done) return false;
    const words: string[] = [t("exporting.report_open", { folder: done.folder })];
    if (done.identifiable > 0) words.push(t("exporting.identifiable", { count: done.identifiable }));
    const figures = t("exporting.figures", { count: done.figures });
    const tables = t("exporting.tables", { count: done.tables });
    toasts.done(
      t("exporting.report_written", { figures, tables, file: fileName(done.folder) }),
      words.join("\n"),
    );
    return true;
  }

  /** Asks where to, then writes what an institution asks for. False where nothing was written. */
  async writeInstitutionPapers(): Promise<boolean> {
    const { toasts } = this.host;
    const name = this.host.project?.name ?? "project";
    const folder = await this.host.attempt(() => platform.choosePapersFolder(name));
    if (!folder) return false;
    const done = await this.host.attempt(async () => {
      try {
        return await commands.writeInstitutionPapers(folder);
      } catch (thrown) {
        if (asProblem(thrown).code !== "cancelled") throw thrown;
        toasts.note(t("exporting.papers_stopped"), t("exporting.nothing_written"));
        return undefined;
      }
    });
    if (!done) return false;
    toasts.done(
      t("exporting.papers_written", { count: done.files.length, file: fileName(done.folder) }),
      t("exporting.papers_open", { count: done.open, folder: done.folder }),
    );
    return true;
  }

  /** Asks where to, then {@link saveCopy}. False where nothing was written. */
  async chooseCopyPath(passphrase: string | null = null): Promise<boolean> {
    const name = this.host.project?.name ?? "project";
    const path = await this.host.attempt(() =>
      passphrase === null ? platform.chooseCopy(name) : platform.chooseEncrypted(`${name} copy.dissensus`),
    );
    return path ? this.saveCopy(path, passphrase) : false;
  }

  /** Writes a report of these runs. */
  async exportRuns(runs: number[], path: string): Promise<boolean> {
    const done = await this.host.attempt(async () => {
      await commands.exportRuns(runs, path);
      return true;
    });
    if (done)
      this.host.toasts.done(t("exporting.runs_written", { count: runs.length, file: fileName(path) }), path);
    return done ?? false;
  }

  /** Asks where to, then {@link handInTo}. False where nothing was written. */
  async handIn(passphrase: string | null = null): Promise<boolean> {
    const name = this.host.project?.name ?? "packet";
    const path = await this.host.attempt(() =>
      passphrase === null ? platform.chooseHandIn(name) : platform.chooseEncrypted(`${name}.handin`),
    );
    return path ? this.handInTo(path, passphrase) : false;
  }

  /** Sends the answers of the open packet to the address that the study has set. */
  async sendHandIn(): Promise<boolean> {
    const sent = await this.host.attempt(() => platform.sendHandIn());
    if (sent) {
      for (const code of ["page-target", "page-target-forwards"]) this.host.toasts.over(code);
      this.host.toasts.done(t("hand_in.sent"));
    }
    return sent !== undefined;
  }

  /** Writes the answers of the open packet to one file. */
  async handInTo(path: string, passphrase: string | null = null): Promise<boolean> {
    const submission = await this.host.attempt(() => commands.handIn(path, passphrase));
    const was = platform.handInWas();
    if (!submission || was === "cancelled") return false;
    const { given, wanted, file } = submission;
    const all = given === wanted;
    const detail = all ? t("hand_in.send_all", { file }) : t("hand_in.send_some", { file });
    // A page has only made a file: what to do with it stays on the screen.
    if (platform.IS_PAGE && was === "saved") {
      const of = { file, given, count: wanted };
      this.host.toasts.note(all ? t("hand_in.made_all", of) : t("hand_in.made_some", of), detail, true);
    } else {
      const of = { file: fileName(file), given, count: wanted };
      const done = all ? t("hand_in.submitted_all", of) : t("hand_in.submitted_some", of);
      this.host.toasts.done(done, was === "shared" ? t("hand_in.shared") : detail);
    }
    return true;
  }

  /** Copies a description of the program and its last log lines; it contains no text of a project. */
  async copyDiagnostics(): Promise<void> {
    await this.host.attempt(async () => {
      await platform.copyText(commands.diagnostics());
      this.host.toasts.done(t("exporting.diagnostics_copied"), t("exporting.diagnostics_hint"));
    });
  }
}
