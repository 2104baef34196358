// Newer versions of the application: what the last check found, and the check.
import { commands } from "$bindings";
import type { AppSettings, Problem, UpdateState } from "$api/bindings";
import type { OpenDialog } from "$logic/views";
import { t } from "$messages/messages.svelte";
import { asProblem } from "$words/problems";
import { dateOf } from "$words/format";
import type { Toasts } from "./toasts.svelte";

/** What it needs of the window around it. */
interface Host {
  readonly toasts: Toasts;
  readonly settings: AppSettings;
  dialog: OpenDialog;
}

/** Answers that can be an attack: shown also where nobody asked for the check. */
const SUSPICIOUS = ["update-signature", "update-redirect", "update-older"];

/** The day of a release, as the window's language writes it. */
export const dayOfRelease = (date: string): string => dateOf(new Date(`${date}T12:00`).getTime());

export class UpdateStore {
  state = $state.raw<UpdateState | null>(null);
  problem = $state.raw<Problem | null>(null);
  checking = $state(false);

  constructor(private readonly host: Host) {}

  /** Reads what the last check found. */
  async load(): Promise<void> {
    try {
      this.state = await commands.updateState();
    } catch (thrown) {
      this.problem = asProblem(thrown);
    }
  }

  async check(): Promise<void> {
    if (this.checking) return;
    this.checking = true;
    this.problem = null;
    try {
      this.state = await commands.checkUpdates();
    } catch (thrown) {
      const problem = asProblem(thrown);
      if (problem.code !== "cancelled") this.problem = problem;
    } finally {
      this.checking = false;
    }
  }

  cancel(): void {
    void commands.cancelUpdateCheck();
  }

  /** Shows the dialog, and checks. */
  async open(): Promise<void> {
    this.host.dialog = "updates";
    await this.load();
    await this.check();
  }

  /** Checks if this is switched on and the last check is a week ago; only news and suspicions are shown. */
  async checkWeekly(): Promise<void> {
    if (!this.host.settings.check_updates) return;
    await this.load();
    if (!this.state?.due) return;
    await this.check();
    const newer = this.state.newer;
    if (this.problem && SUSPICIOUS.includes(this.problem.code)) this.host.toasts.problem(this.problem);
    else if (newer && !this.problem)
      this.host.toasts.done(
        t("updates.newer", { version: newer.version, date: dayOfRelease(newer.date) }),
        null,
        { label: t("updates.show"), run: () => (this.host.dialog = "updates") },
      );
  }
}
