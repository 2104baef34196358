// The open page: its packet, its journal and its settings.
import type { AppInfo, AppSettings, ProjectChoices, ProjectInfo, SubmissionInfo } from "$api/bindings";
import { t } from "$messages/messages.svelte";
import { CLOCK, PacketDesk } from "./desk";
import type { OpenContent } from "./join";
import type { Journal } from "./journal";
import { problem } from "./problems";
import { handed } from "./handed.svelte";
import { fileName, giveFile } from "./save-file";
import { Sender } from "./sender.svelte";
import { submissionOf } from "./submission";

const SETTINGS: AppSettings = {
  theme: "system",
  blur: false,
  greyscale: false,
  break_minutes: 0,
  random_share: 0,
  text_size: 20,
  letter_keys: true,
  snap_to_words: true,
};

/** How long an address may take to accept what is sent. */
const LONGEST_MS = 30_000;
/** How long one to the server of the page may take, which may be all that was done over a slow network. */
const LONGEST_SEND_MS = 90_000;

export class Session {
  readonly content: OpenContent;
  readonly desk: PacketDesk;
  /** Sends what is done to the server from which the page came; none of a page that is a file. */
  readonly sender: Sender | null;
  readonly #journal: Journal;
  #choices: ProjectChoices | null = null;

  /** `opened` identifies a page that came from a server, since it was opened. */
  constructor(content: OpenContent, journal: Journal, opened: string | null = null) {
    [this.content, this.#journal] = [content, journal];
    this.desk = new PacketDesk(content, journal);
    this.sender = opened === null ? null : this.#senderAs(opened);
  }

  #senderAs(opened: string): Sender {
    const journal = this.#journal;
    const address = `${location.pathname.replace(/\/$/, "")}/work/${opened}`;
    const sending = {
      count: () => journal.records.length,
      submission: () => this.submission(Date.now(), true),
      isComplete: () => {
        const { given, wanted } = this.desk.openPacket();
        return given >= wanted;
      },
      put: (body: string, keepalive: boolean) => {
        // Browsers finish a request that outlives its page in their own time.
        const signal = keepalive ? null : AbortSignal.timeout(LONGEST_SEND_MS);
        return fetch(address, { method: "PUT", body, keepalive, signal });
      },
      wait: (milliseconds: number, work: () => void) => {
        const timer = setTimeout(work, milliseconds);
        return () => clearTimeout(timer);
      },
    };
    return new Sender(sending);
  }

  appInfo(): AppInfo {
    return {
      version: "",
      encoder: "",
      encoder_problem: null,
      device: "",
      device_reason: "",
      settings_notice: null,
    };
  }

  settings(): AppSettings {
    return { ...SETTINGS, ...this.#journal.local.settings };
  }

  saveSettings(settings: AppSettings): Promise<void> {
    return this.#journal.change("settings", () => settings);
  }

  saveChoices(choices: ProjectChoices): void {
    this.#choices = choices;
  }

  project(): ProjectInfo {
    const { name, questions, texts, annotator, care, language, packet } = this.content;
    const ids = questions.map(({ id }) => id);
    const choices: ProjectChoices = this.#choices ?? {
      annotator: annotator.id,
      question: ids[0] ?? null,
      order: "file",
      view: "label",
      screen: ids,
      group_by: null,
      compared: null,
      plan: null,
    };
    return {
      path: packet,
      name,
      texts: texts.length,
      annotators: 1,
      annotators_without_labels: 0,
      labels: 0,
      questions,
      attributes: [],
      reveals: false,
      labels_after_shown: 0,
      care,
      language,
      simulated_notice: null,
      encoding: { version: null, encoded: 0, total: 0, problem: null },
      choices,
      packet: { annotator: annotator.id, questions: ids },
      read_only: false,
      journal_notice: null,
      sync_notice: null,
      network_notice: null,
      readable_notice: null,
      backup_notice: null,
    };
  }

  /** Everything so far, as the file that is handed in, or `sent` while the person works. */
  submission(at_ms: number, sent = false): string {
    const { copies, records, submitted } = this.#journal;
    const { given, wanted } = this.desk.openPacket();
    return submissionOf(this.content, { copies, records, submitted }, at_ms, given, sent && given < wanted);
  }

  /** Gives the file. It can be repeated: what is in several submissions is merged once. */
  async handIn(file: string): Promise<SubmissionInfo> {
    return this.#submit(file, async (text) => {
      handed.by = await giveFile(file, text);
      // Where answers are sent, a file is what the person falls back on: nothing is handed in by it.
      return handed.by !== "cancelled" && !this.content.target;
    });
  }

  /** Sends the file to the address that the study has set, under a name that no other has. */
  send(): Promise<SubmissionInfo> {
    const { annotator, packet, target } = this.content;
    if (!target) throw problem("not-in-a-page");
    const filename = fileName(annotator.external_id, packet, CLOCK.now_ms());
    return this.#submit(filename, async (data) => {
      const body = JSON.stringify({ ...target.fields, filename, data });
      // What many such addresses expect, among them DataPipe for OSF.
      const headers = { "Content-Type": "application/json", Accept: "*/*" };
      const { host } = new URL(target.url);
      const signal = AbortSignal.timeout(LONGEST_MS);
      // Behind most redirects browsers send no body, and an answer there says nothing about the answers here.
      const redirect = "manual";
      const answer = await fetch(target.url, { method: "POST", headers, body, signal, redirect }).catch(
        (thrown: unknown) => {
          throw problem("page-target", host, String(thrown));
        },
      );
      if (answer.type === "opaqueredirect") throw problem("page-target-forwards", host);
      if (!answer.ok)
        throw problem("page-target", host, `${answer.status} ${(await answer.text()).slice(0, 200)}`);
      return true;
    });
  }

  /** `work` resolves to whether the text is handed in with it. */
  async #submit(file: string, work: (text: string) => Promise<boolean>): Promise<SubmissionInfo> {
    const { given, wanted } = this.desk.openPacket();
    const at_ms = CLOCK.now_ms();
    const records = this.#journal.records.length;
    const text = this.submission(at_ms);
    if (await work(text)) await this.#journal.submit({ at_ms, answers: given, records });
    return { file, bytes: text.length, given, wanted };
  }
}

/** The session of this page, once it is open. */
export const session: { current: Session | null } = { current: null };

/** Explains why the browser does not store an answer, or else a setting or what is being typed. */
export function storageProblem(thrown: unknown, isAnswer = true) {
  const { name = "", message = String(thrown) } = (thrown ?? {}) as { name?: string; message?: string };
  const full = name === "QuotaExceededError";
  const lost = full ? t("page.storage_full") : t("page.storage_refused");
  return problem("page-storage", isAnswer ? lost : t("page.storage_setting"), `${name}: ${message}`);
}
