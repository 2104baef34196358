// Backups of the mock project: `?backups=none`, `?backups=many`.
import type * as view from "$api/bindings";
import { problem } from "./refusals";

const ID = "0198f2c4-7d1e-7a31-9c55-3a1b6f2e8d07";
const PATH = "/home/you/Documents/Comments.dissensus";
const DAY = 86_400_000;

const NOTHING: view.BackupChanges = {
  answers: [],
  marks: 0,
  texts_added: 0,
  texts_removed: 0,
  people_added: 0,
  people_removed: 0,
  people_changed: 0,
  people_withdrawn: 0,
  questions_added: 0,
  questions_removed: 0,
  questions_changed: 0,
  guidelines: 0,
  packets: 0,
  other: 0,
};

export class MockBackups {
  #all: view.BackupInfo[] = [];

  constructor(private readonly how: string | null) {
    this.begin();
  }

  /** As they are when the window starts, with the newest of yesterday. */
  begin(): void {
    const { how } = this;
    const ages = how === "none" ? [] : how === "many" ? [1, 2, 3, 4, 5, 6, 9, 16, 23, 40, 71] : [1, 2, 9];
    this.#all = ages.map((days) => this.#made(Date.now() - days * DAY, "Comments", PATH, days !== 2));
    if (how === "many") {
      const other = "/home/you/Desktop/A packet with a rather long name for somebody.dissensus";
      this.#all.push(this.#made(Date.now() - 5.5 * DAY, "Comments", other, true));
      this.#all.sort((a, b) => (b.at ?? 0) - (a.at ?? 0));
    }
  }

  list(): view.BackupList {
    return { folder: "/home/you/.local/share/dissensus/backups", sync_notice: null, backups: [...this.#all] };
  }

  make(name: string): view.BackupInfo {
    const made = this.#made(Date.now(), name, PATH, false);
    this.#all.unshift(made);
    return made;
  }

  changes(id: string): view.BackupChanges {
    const at = this.#all.indexOf(this.#one(id));
    if (this.#all[at]?.time === "now") return NOTHING;
    const answers: view.BackupAnswers[] = [
      { annotator: "Ada", question: "offensiveness", added: 24, changed: 3, withdrawn: 1, missing: 0 },
      { annotator: "Ben Okafor", question: "offensiveness", added: 12, changed: 0, withdrawn: 0, missing: 0 },
    ];
    if (at > 1)
      answers.push({ annotator: "Ada", question: "target", added: 8, changed: 1, withdrawn: 0, missing: 4 });
    return { ...NOTHING, answers, marks: 5, texts_added: 40 * at, questions_changed: 1, guidelines: at };
  }

  restore(id: string, target: string | null): view.RestoredBackup {
    const { at, time } = this.#one(id);
    const day = new Date(at ?? 0).toISOString().slice(0, 10);
    return { path: target ?? PATH.replace(/\.dissensus$/, ` (backup ${day}).dissensus`), time };
  }

  delete(id: string): void {
    const one = this.#one(id);
    this.#all = this.#all.filter((other) => other !== one);
  }

  #one(id: string): view.BackupInfo {
    const found = this.#all.find((one) => one.id === id);
    if (!found) throw problem("no-backup", [id]);
    return found;
  }

  #made(at: number, name: string, path: string, automatic: boolean): view.BackupInfo {
    const moment = new Date(at).toISOString();
    const stem = `${moment.slice(0, 19).replaceAll(":", "-")}Z`;
    return {
      id: `${ID}/${stem}`,
      at,
      time: Date.now() - at < 1000 ? "now" : moment.slice(0, 16).replace("T", " "),
      bytes: 2_400_000 + (at % 400_000),
      labels: 1_240 - Math.round((Date.now() - at) / DAY) * 31,
      automatic,
      name,
      path,
      other_file: path !== PATH,
      file: `/home/you/.local/share/dissensus/backups/${ID}/${stem}.dissensus`,
    };
  }
}
