// A study of the mock: packets in memory, and files identified by their names.
import type * as view from "$api/bindings";
import { fileName } from "$words/format";
import { seeded, type World } from "./world";
import { problem, refuse } from "./refusals";

interface Share {
  texts: number;
  anchors: number;
  repeats: number;
  packets: number;
  given: number;
  handed_in: number | null;
}

const ENDINGS = {
  file: "dissensus",
  page: "html",
  locked_page: "html",
  locked_file: "dissensus.age",
} as const;

export class MockStudy {
  #people = new Map<string, Share>();
  #anchors = 0;
  #merged = new Set<string>();
  /** Names of files that a watched folder has next. */
  arriving: string[] = ["ada.handin"];
  /** Paths of encrypted files that it had. */
  locked: string[] = [];

  constructor(
    private readonly world: () => World,
    private readonly changed: () => void,
  ) {}

  forget(): void {
    this.#people = new Map();
    this.#anchors = 0;
    this.#merged = new Set();
    this.arriving = ["ada.handin"];
    this.locked = [];
  }

  /** A study that is under way, as a browser asks for with `?study=12`. */
  begin(people: number): void {
    const random = seeded(people);
    const names = ["ada", "ben", "cleo", "dora", "emil", "fatima", "gustav", "hana", "عمر", "jun"];
    const twelve = Array.from({ length: people }, (_, i) => names[i] ?? `person-${i + 1}`);
    this.handOut(
      {
        questions: [],
        people: twelve,
        per_text: Math.min(3, people),
        per_person: null,
        anchors: 12,
        repeat: 0.05,
        again_after: 20,
        new_people: false,
        balance: null,
        seed: 0,
      },
      "/home/you/packets",
      "file",
    );
    for (const [i, share] of [...this.#people.values()].entries()) {
      if (i % 5 === 4) continue;
      share.given = Math.round((share.texts + share.repeats) * (i % 4 === 0 ? 1 : random()));
      share.handed_in = Date.now() - i * 0.7 * 86_400_000;
    }
  }

  draft(request: view.StudyRequest): view.StudyDraft {
    const { people, per_text, anchors } = request;
    if (people.length === 0) refuse("plan-nobody");
    const twice = people.find((name, i) => people.indexOf(name) !== i);
    if (twice) refuse("plan-twice", [twice]);
    if (per_text > people.length)
      refuse("plan-impossible", [
        `${per_text} people are needed for each text, and this plan has ${people.length}: name more people, or ask for fewer labels a text`,
      ]);
    const texts = this.world().texts.length;
    const each = Math.min(
      request.per_person ?? texts,
      anchors + Math.ceil(((texts - anchors) * per_text) / people.length),
    );
    const shares = people.map((annotator): view.StudyShare => {
      const before = this.#people.get(annotator)?.texts ?? 0;
      const fresh = Math.max(0, each - before);
      const names = [...this.#people.keys(), ...this.world().people.map((p) => p.external_id)];
      const known = names.includes(annotator);
      const look = (name: string) => name.toLowerCase().replaceAll(" ", "");
      return {
        annotator,
        known,
        looks_like: known ? null : (names.find((name) => look(name) === look(annotator)) ?? null),
        looks_withdrawn: false,
        texts: fresh,
        anchors: before > 0 ? 0 : anchors,
        repeats: Math.round(fresh * (request.repeat ?? 0)),
        before,
        file: null,
      };
    });
    const asked = shares.reduce((sum, share) => sum + share.texts + share.repeats, 0);
    const repeats = shares.map((share) => share.repeats).filter((n) => n > 0);
    return {
      people: shares,
      answers: asked * Math.max(1, request.questions.length || this.world().questions.length),
      texts,
      anchors: Math.max(anchors, this.#anchors),
      seconds: asked * 9.4,
      margin: 98 / Math.sqrt(texts),
      self_margin: repeats.length > 0 ? 98 / Math.sqrt(Math.min(...repeats)) : null,
    };
  }

  handOut(request: view.StudyRequest, folder: string, format: view.PacketFormat): view.StudyDraft {
    const draft = this.draft(request);
    const near = draft.people.find((share) => share.looks_like !== null);
    if (near && !request.new_people) refuse("near-name", [near.annotator, near.looks_like ?? ""]);
    if (draft.people.every((share) => share.texts + share.repeats === 0)) refuse("plan-nothing-new");
    this.#anchors = draft.anchors;
    const people = draft.people.map((share) => {
      if (share.texts + share.repeats === 0) return share;
      const has = this.#people.get(share.annotator);
      this.#people.set(share.annotator, {
        texts: (has?.texts ?? 0) + share.texts,
        anchors: (has?.anchors ?? 0) + share.anchors,
        repeats: (has?.repeats ?? 0) + share.repeats,
        packets: (has?.packets ?? 0) + 1,
        given: has?.given ?? 0,
        handed_in: has?.handed_in ?? null,
      });
      const next = has ? `-${has.packets + 1}` : "";
      return { ...share, file: `${folder}/${share.annotator}${next}.${ENDINGS[format]}` };
    });
    this.changed();
    return { ...draft, people };
  }

  writeAgain(people: string[], folder: string, format: view.PacketFormat): string[] {
    return people.flatMap((name) => {
      const share = this.#people.get(name);
      if (!share) return refuse("no-packet", [name]);
      const next = (i: number) => (i === 0 ? "" : `-${i + 1}`);
      return Array.from(
        { length: share.packets },
        (_, i) => `${folder}/${name}${next(i)}.${ENDINGS[format]}`,
      );
    });
  }

  report(): view.StudyReport {
    const figure = (share: number, of: number): view.StudyFigure | null =>
      of < 5
        ? null
        : {
            share,
            low: Math.max(0, share - 0.98 / Math.sqrt(of)),
            high: Math.min(1, share + 0.98 / Math.sqrt(of)),
            of,
          };
    const random = seeded(5);
    const people = [...this.#people].map(([annotator, share]): view.StudyPerson => {
      const wanted = share.texts + share.repeats;
      const done = wanted > 0 ? share.given / wanted : 0;
      const repeated = Math.floor(share.repeats * done);
      const [x, y, z] = [random(), random(), random()];
      return {
        annotator,
        name: annotator,
        packets: share.packets,
        wanted,
        given: share.given,
        repeated,
        left_out: 0,
        handed_in: share.handed_in,
        seconds: share.given > 0 ? 4 + 14 * x : null,
        anchor_agreement: figure(0.5 + 0.4 * y, Math.floor(share.anchors * done)),
        self_agreement: figure(0.7 + 0.3 * z, repeated),
        attention: figure(0.6 + 0.4 * z, this.checks.length > 0 ? share.given : 0),
        attention_status: null,
        practice: null,
      };
    });
    const sum = (of: (person: view.StudyPerson) => number) => people.reduce((n, person) => n + of(person), 0);
    const texts = people.length > 0 ? this.world().texts.length : 0;
    const [wanted, given] = [sum((p) => p.wanted), sum((p) => p.given)];
    return {
      people,
      texts,
      texts_done: wanted > 0 ? Math.floor(texts * (given / wanted) ** 3) : 0,
      anchors: this.#anchors,
      wanted,
      given,
      anchor_agreement: figure(0.71, given > 0 ? this.#anchors : 0),
      self_agreement: figure(
        0.88,
        sum((p) => p.repeated),
      ),
      checks: this.checks.length,
      labels_after_shown: 0,
      earlier: this.earlier,
      per_text: 3,
      short_texts: this.short,
    };
  }

  checks: view.AttentionCheckInfo[] = [];
  /** Packets that are out with what holds no longer; texts that lack a person. */
  earlier: view.EarlierPacket[] = [];
  short = 0;

  /** Contradicting answers of a merged copy. */
  #apart(annotator: string): Partial<view.MergedFile> {
    const answer = (named: string, minutes: number, current: boolean) => {
      const at_ms = Date.now() - minutes * 60_000;
      return {
        answer: named,
        at_ms,
        time: new Date(at_ms).toISOString().slice(0, 19).replace("T", " "),
        current,
      };
    };
    const answers = [answer("4", 90, false), answer("2", 30, true)];
    return {
      contradicted: 1,
      contradictions: [{ annotator, text: "c007", question: "offensiveness", answers }],
      texts_changed: 2,
      splits_changed: 1,
      splits: [{ text: "c012", was: "train", now: "test" }],
    };
  }

  /**
   * By the name of a file: `again`, `another`, `cut`, `late`, `whole copy`, `changes`; a submission by the
   * name of its person.
   */
  collect(folder: string): view.CollectedFiles | null {
    if (this.arriving.length === 0) return null;
    const paths = this.arriving.map((name) => `${folder}/${name}`);
    this.arriving = [];
    const isWaiting = (path: string) => path.includes("half");
    const consent = { whole_copies: false, changes: false, seen: [] };
    const { files } = this.merge(
      paths.filter((path) => !isWaiting(path)),
      consent,
    );
    this.locked.push(...paths.filter((path) => path.endsWith(".age")));
    return { files, waiting: paths.filter(isWaiting) };
  }

  /** Merges the encrypted files of the watched folder. */
  unlock(): view.CollectedFiles {
    const consent = { whole_copies: false, changes: false, seen: [] };
    const decrypted = this.locked.map((path) => path.replace(/\.age$/, ""));
    this.locked = [];
    const { files } = this.merge(decrypted, consent);
    return { files: files.map((file) => ({ ...file, file: `${file.file}.age` })), waiting: [] };
  }

  merge(files: string[], consent: view.MergeConsent): view.MergeReport {
    const merged = files.map((file): view.MergedFile => {
      const name = fileName(file);
      const [annotator = ""] = name.split(/[ .]/);
      const handIn = name.endsWith(".handin");
      const base = {
        file,
        handed_in: null,
        events: 0,
        new: 0,
        contradicted: 0,
        contradictions: [],
        texts_changed: 0,
        splits_changed: 0,
        splits: [],
        effect: null,
        asks: null,
        backup: null,
      };
      const refused = (kind: view.MergedKind | null, ...why: Parameters<typeof problem>) => ({
        ...base,
        kind,
        annotator: null,
        problems: [{ refused: true, problem: problem(...why) }],
        refused: true,
        withdrawn: 0,
      });
      if (name.includes("another")) return refused("hand_in", "merge-other-project");
      if (name.includes("cut")) return refused("hand_in", "merge-cut-off", [4096, 61440]);
      if (name.endsWith(".age")) return refused(null, "encrypted", [file]);
      if (!handIn && !name.endsWith(".dissensus")) return refused(null, "merge-not-ours");
      const changes = name.includes("changes") || name.includes("withdrawn");
      if (name.includes("whole copy") || changes) {
        const seen = `seen ${file}`;
        const effect = copyEffect(changes);
        if (!consent.seen.includes(seen))
          return {
            ...refused("copy", changes ? "merge-changes" : "merge-new-copy"),
            effect,
            asks: { whole_copy: name.includes("whole copy"), changes, seen },
          };
        this.changed();
        return {
          ...base,
          kind: "copy",
          annotator: null,
          events: 128,
          new: 84,
          effect,
          backup: changes ? "/home/you/studies/Forum comments.dissensus.before-merge-2026-11-27" : null,
          problems: [],
          refused: false,
          withdrawn: name.includes("withdrawn") ? 1 : 0,
        };
      }
      const share = this.#people.get(annotator);
      const events = share ? share.texts + share.repeats : 84;
      const fresh = this.#merged.has(file) || name.includes("again") ? 0 : events - (share?.given ?? 0);
      this.#merged.add(file);
      if (share) [share.given, share.handed_in] = [events, Date.now()];
      const remark =
        "the clock of the computer that wrote this was 366 days ahead: its answers count as given when they were handed in";
      return {
        ...base,
        kind: handIn ? "hand_in" : "packet",
        annotator,
        handed_in: handIn ? Date.now() - 2 * 86_400_000 : null,
        events,
        new: fresh,
        problems: name.includes("late")
          ? [{ refused: false, problem: { code: "merge-remark", message: remark, detail: null } }]
          : [],
        refused: false,
        withdrawn: 0,
        ...(name.includes("apart") ? this.#apart(annotator) : {}),
      };
    });
    this.changed();
    return { files: merged };
  }
}

/** What a whole copy of the project adds, and with \`changes\` what it changes here. */
function copyEffect(changes: boolean): view.MergeEffectInfo {
  return {
    answers: [
      { annotator: "emil", answers: 60 },
      { annotator: "fay", answers: 24 },
    ],
    new_people: ["emil"],
    texts: 12,
    new_questions: [],
    changes: changes
      ? [
          { kind: "erased", count: 1, names: ["zorro"] },
          { kind: "answers", count: 7, names: ["ada, c007, offensive", "ada, c012, offensive"] },
          { kind: "guideline", count: 1, names: [] },
        ]
      : [],
  };
}
