// What the desk asks of a packet: texts, answers, practice and care, over the page's journal.
import type {
  AnnotatorId,
  Answer,
  AttributeForm,
  CareInfo,
  ConsentText,
  FoundTexts,
  LabelDetails,
  LabelReceipt,
  LabelTask,
  NewLabel,
  NewPracticeAnswer,
  Note,
  OpenPacket,
  OwnCare,
  PageContent,
  PageText,
  PracticeFeedback,
  PracticeState,
  PracticeTask,
  Progress,
  QuestionId,
  QuestionInfo,
  TextId,
  TextQuery,
  Undone,
} from "$api/bindings";
import { answerName } from "$kinds/level/levels";
import { canonical, isWithin, levelsIn, takes, isSameAnswer } from "$kinds/rules";
import { positionOf } from "$kinds/scale";
import { isEmpty, NO_NOTE, sameNote } from "$logic/notes";
import { t } from "$messages/messages.svelte";
import { Answers } from "./answers";
import { nextAssigned, progressOf, type PacketState } from "./assigned";
import * as care from "./care";
import {
  currentNote,
  isSameKey,
  type MarkKind,
  type PageEvent,
  type PageFact,
  type PageRecord,
} from "./events";
import type { Journal } from "./journal";
import { Names } from "./named";
import { Practice, type GivenInPractice } from "./practice";
import { refuse } from "./problems";
import { findTexts } from "./text-list";
import { areIn, checkTopics } from "./topics";

/** The time, for tests too. */
export interface Clock {
  now_ms(): number;
  /** The start of today in local time. */
  today_ms(): number;
  /** The local date, such as `2026-03-01`. */
  today(): string;
}

export const CLOCK: Clock = {
  now_ms: () => Date.now(),
  today_ms: () => new Date().setHours(0, 0, 0, 0),
  today: () => {
    const now = new Date();
    const two = (n: number) => String(n).padStart(2, "0");
    return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  },
};

/** The longest note, and the most reasons and the longest, in characters. */
const [MAX_NOTE, MAX_REASONS, MAX_REASON] = [10_000, 20, 100];
/** The largest limit of a day. */
const MAX_PER_DAY = 100_000;
/** What no reason has: control characters, and those that are not seen. */
const NOT_SEEN = /[\p{Cc}\u200b\u2028-\u202e\u2060\u2066-\u2069\ufeff]/u;

type FormValues = Record<string, { value: string | null; at_ms: number }>;

export class PacketDesk {
  readonly #content: PageContent;
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #answers: Answers;
  readonly #practice: Practice;
  readonly #names: Names;
  readonly #texts: ReadonlyMap<TextId, PageText>;
  readonly #ids: QuestionId[];
  #form: FormValues = {};
  /** The version of the consent text that the person agreed to. */
  #agreed: string | null = null;
  #leftOutCount = 0;
  /** Facts about practice and what is left out come after this time. */
  #facts_ms: Record<PageFact["kind"], number>;
  #leftOut: ReadonlySet<TextId> = new Set();
  /** Progress by questions and day, until something is done. */
  readonly #progress = new Map<string, Progress>();
  /** One change after the other. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(content: PageContent, journal: Journal, clock: Clock = CLOCK) {
    [this.#content, this.#journal, this.#clock] = [content, journal, clock];
    this.#ids = content.questions.map(({ id }) => id);
    this.#answers = new Answers(content.questions);
    const assigned = new Set(content.assignments.map(({ text }) => text));
    this.#practice = new Practice(content.practice, content.annotator.id, content.questions, assigned);
    this.#names = new Names(content);
    this.#texts = new Map(content.texts.map((one) => [one.text, one]));
    const after_ms = content.practice.after_ms ?? 0;
    this.#facts_ms = { "practice-answer": after_ms, "left-out": 0, "form-answers": 0, "consent-given": 0 };
    for (const named of journal.records) {
      const record = this.#names.resolve(named);
      if (record) this.#follow(record);
    }
    this.#leftOut = this.#containing(this.#care.own.words);
  }

  #follow(record: PageRecord): void {
    this.#progress.clear();
    if ("event" in record) {
      this.#answers.add(record.event);
      return;
    }
    const { kind, question, text, value, at_ms } = record.fact;
    this.#facts_ms[kind] = Math.max(this.#facts_ms[kind], at_ms);
    if (kind === "practice-answer" && question !== undefined && text !== undefined)
      this.#practice.add(question, text, value as GivenInPractice);
    if (kind === "form-answers") this.#form = { ...this.#form, ...(value as FormValues) };
    if (kind === "consent-given") this.#agreed = value as string;
    if (kind === "left-out") this.#leftOutCount = value as number;
  }

  async #append(records: readonly PageRecord[]): Promise<void> {
    await this.#journal.append(records.map((record) => this.#names.of(record)));
    for (const record of records) this.#follow(record);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#queue.then(work);
    this.#queue = turn.catch(() => undefined);
    return turn;
  }

  // Texts

  nextText(questions: readonly QuestionId[], after: TextId | null): LabelTask | null {
    if (questions.length === 0) refuse("no-question");
    this.#mayLabel();
    const [first] = this.#asked(questions);
    const next = nextAssigned(this.#state(questions), after);
    return next && this.labelTask(first, next.text, next.occasion);
  }

  labelTask(question: QuestionId, text: TextId, occasion: number): LabelTask {
    const { external_id, body } = this.#text(text);
    const { id } = this.#question(question);
    const answer = this.#answers.answer(id, text, occasion);
    const note = this.#note(id, text, occasion);
    return {
      text,
      external_id,
      body,
      group: null,
      occasion,
      asked: this.#answers.asks(id, text, occasion),
      answer,
      note,
      draft: this.#draft(id, text, occasion, note),
      // A flag would reveal that the text had come before.
      flagged: occasion === 1 && this.#answers.isFlagged(id, text),
      skipped: occasion === 1 && this.#answers.isSkipped(id, text),
      random: false,
      reveal: null,
      spans: null,
    };
  }

  /** The text so many places further in the order of the packet. */
  neighbourText(question: QuestionId, text: TextId, step: number): LabelTask | null {
    this.#mayLabel();
    const texts = this.#content.texts.map((one) => one.text);
    let row = texts.indexOf(this.#text(text).text) + step;
    const passed = (there: TextId | undefined) =>
      there !== undefined && (this.#practice.isPractice(there) || this.#leftOut.has(there));
    while (step !== 0 && passed(texts[row])) row += Math.sign(step);
    const there = texts[row];
    return there === undefined ? null : this.labelTask(question, there, 1);
  }

  progress(questions: readonly QuestionId[]): Progress {
    this.#asked(questions);
    const today_ms = this.#clock.today_ms();
    // Asked several times after each answer, and counts all texts.
    const key = JSON.stringify([questions, today_ms]);
    const known = this.#progress.get(key);
    if (known) return known;
    const real = this.#content.texts
      .map(({ text }) => text)
      .filter((text) => !this.#practice.isPractice(text));
    const progress = progressOf(this.#state(questions), real, today_ms);
    this.#progress.set(key, progress);
    return progress;
  }

  findTexts(query: TextQuery, offset: number, limit: number, lookFor: TextId | null): FoundTexts {
    const { questions, texts: all } = this.#content;
    const texts = all
      .map((text, at) => [text, at] as const)
      .filter(([{ text }]) => !this.#practice.isPractice(text));
    return findTexts({ texts, questions, answers: this.#answers }, query, offset, limit, lookFor);
  }

  // Answers

  recordLabel(label: NewLabel, details: LabelDetails): Promise<LabelReceipt> {
    return this.#inTurn(async () => {
      this.mayAnswer(label.annotator);
      this.#mayLabel();
      this.#mayTakeLabels(label.text);
      const note = checkNote(details.note);
      this.#check(label.question, label.answer);
      await this.#give(label, note, details.guideline, 1);
      return { progress: this.progress([label.question]), reveal: null, spans: null };
    });
  }

  recordAgain(label: NewLabel, details: LabelDetails, occasion: number): Promise<LabelReceipt> {
    return this.#inTurn(async () => {
      this.mayAnswer(label.annotator);
      this.#mayLabel();
      const note = checkNote(details.note);
      const { question, text, answer } = label;
      this.#check(question, answer);
      if (occasion < 2) refuse("setting", t("page.problem_packet_not_asked"));
      const isAsked = this.#content.assignments.some(
        (item) => item.text === text && item.occasion === occasion,
      );
      if (!isAsked) refuse("packet-not-asked");
      const known = this.#answers.current(question, text, occasion);
      const isSame = known?.answer && isSameAnswer(known.answer, answer);
      if (isSame && !sameNote(currentNote(this.#answers.events(question, text, occasion)), note))
        // A changed note is saved with the same answer: that is not a new answer.
        await this.#append([{ event: this.#mark(question, text, "note", note, known.guideline, occasion) }]);
      else await this.#give(label, note, details.guideline, occasion);
      return { progress: this.progress(this.#ids), reveal: null, spans: null };
    });
  }

  saveNote(question: QuestionId, text: TextId, details: LabelDetails): Promise<void> {
    return this.#inTurn(async () => {
      const note = checkNote(details.note);
      if (sameNote(this.#note(question, text, 1), note)) return;
      this.#mustExist(question, text);
      await this.#append([{ event: this.#mark(question, text, "note", note, details.guideline) }]);
    });
  }

  undoLabel(questions: readonly QuestionId[]): Promise<Undone | null> {
    return this.#inTurn(async () => {
      this.#asked(questions);
      const given = this.#answers.newestGiven(questions);
      if (!given?.answer) return null;
      const { question, text, occasion, key, answer } = given;
      if (!isSameKey(this.#answers.current(question, text, occasion)?.key, key)) refuse("label-replaced");
      const note = occasion > 1 ? currentNote(this.#answers.events(question, text, occasion)) : given.note;
      const event = { ...this.#event(question, text, occasion), retracts: key };
      await this.#append([{ event }]);
      const now = this.#answers.answer(question, text, occasion);
      return { question, text, occasion, answer, note, now, progress: this.progress(questions) };
    });
  }

  skipText(questions: readonly QuestionId[], text: TextId): Promise<Progress> {
    return this.#inTurn(async () => {
      this.#mayLabel();
      this.#mayTakeLabels(text);
      const open = this.#answers.open([...new Set(this.#asked(questions))], text);
      if (open.length > 0) this.#mustExist(open[0], text);
      const records = open.map((question, at): PageRecord => {
        return { event: { ...this.#mark(question, text, "skip"), key: this.#journal.key(at) } };
      });
      if (records.length > 0) await this.#append(records);
      return this.progress(questions);
    });
  }

  flagText(question: QuestionId, text: TextId, on: boolean): Promise<Progress> {
    return this.#inTurn(async () => {
      this.#mayLabel();
      this.#mayTakeLabels(text);
      const { id } = this.#question(question);
      this.#mustExist(id, text);
      await this.#append([{ event: this.#mark(id, text, on ? "flag" : "unflag") }]);
      return this.progress([question]);
    });
  }

  saveDraft(question: QuestionId, text: TextId, occasion: number, typed: Note | null): Promise<void> {
    return this.#inTurn(async () => {
      this.#text(text);
      const over = this.#note(this.#question(question).id, text, occasion);
      const place = this.#names.place(question, text, occasion);
      await this.#journal.change("drafts", (drafts = {}) => {
        const { [place]: _, ...others } = drafts;
        return typed === null ? others : { ...others, [place]: { typed, over } };
      });
    });
  }

  // Practice

  practiceState(): PracticeState | null {
    return this.#practice.state();
  }

  nextPractice(): PracticeTask | null {
    const { step, round } = this.#practice.gate();
    const [one] = step === "practise" ? this.#practice.left(round) : [];
    if (!one) return null;
    const { question, text } = one;
    const { external_id, body } = this.#text(text);
    return { question, text, external_id, body, round };
  }

  recordPractice({ annotator, question, text, answer }: NewPracticeAnswer): Promise<PracticeFeedback> {
    return this.#inTurn(async () => {
      this.mayAnswer(annotator);
      this.#check(question, answer);
      const one = this.#practice.text(question, text) ?? refuse("practice-not-there");
      const { step, round } = this.#practice.gate();
      if (step !== "practise") refuse("practice-done");
      const left = this.#practice.left(round);
      if (!left.includes(one)) refuse("practice-answered");
      this.#mustFit(question, text, answer);
      const value: GivenInPractice = { round, answer: canonical(answer), last: left.length === 1 };
      const at_ms = Math.max(this.#afterAnswers(), this.#facts_ms["practice-answer"] + 1);
      await this.#append([{ fact: { kind: "practice-answer", question, text, at_ms, value } }]);
      return {
        right: this.#practice.isRight(one, answer),
        answer: one.answer,
        answer_name: answerName(this.#question(question).scale, one.answer),
        reason: one.reason,
        state: this.#practice.state() ?? refuse("practice-done"),
      };
    });
  }

  // The person

  /** The consent text, until the person agrees to this version of it. */
  consentLeft(): ConsentText | null {
    const { consent } = this.#content;
    return consent?.version === this.#agreed ? null : consent;
  }

  agree(version: string): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#content.consent?.version !== version) refuse("consent-outdated");
      if (this.#agreed === version) return;
      const at_ms = Math.max(this.#afterAnswers(), this.#facts_ms["consent-given"] + 1);
      await this.#append([{ fact: { kind: "consent-given", at_ms, value: version } }]);
    });
  }

  formLeft(): AttributeForm {
    const { attributes } = this.#content.form;
    return { attributes: attributes.filter(({ name }) => !Object.hasOwn(this.#form, name)) };
  }

  answerForm(answers: { readonly [key in string]: string | null | undefined }): Promise<void> {
    return this.#inTurn(async () => {
      const left = this.formLeft().attributes;
      const asked = this.#content.form.attributes.filter(
        (one) => Object.hasOwn(answers, one.name) || left.includes(one),
      );
      for (const [name, value] of Object.entries(answers)) {
        const one = asked.find((attribute) => attribute.name === name);
        if (!one) refuse("form", t("page.problem_form_not_asked", { name }));
        if (value != null && !one.values.includes(value))
          refuse("form", t("page.problem_form_not_offered", { value }));
      }
      const missing = asked.find(({ name, optional }) => !optional && !Object.hasOwn(answers, name));
      if (missing) refuse("form", t("page.problem_form_not_answered", { name: missing.name }));
      const known_ms = this.#facts_ms["form-answers"];
      // Nothing new.
      if (asked.length === 0 && known_ms > 0) return;
      const at_ms = Math.max(this.#clock.now_ms(), known_ms + 1);
      const given = Object.fromEntries(
        asked.map(({ name }) => [
          name,
          { value: (Object.hasOwn(answers, name) ? answers[name] : null) ?? null, at_ms },
        ]),
      );
      await this.#append([{ fact: { kind: "form-answers", at_ms, value: { ...this.#form, ...given } } }]);
    });
  }

  careInfo(): CareInfo {
    const { care: study } = this.#content;
    const stored = this.#care;
    const today = this.#clock.today();
    const limit = care.limitOf(study, stored.own.limit);
    const may_go_on = care.mayGoOn(study);
    const reached = care.isReached(stored, today, limit, may_go_on);
    const counts = care.counted(stored, today);
    return { study, own: this.#own, limit, reached, may_go_on, ...counts, left_out: this.#openLeftOut() };
  }

  readText(text: TextId): Promise<CareInfo> {
    return this.#inTurn(async () => {
      this.#text(text);
      const from = care.harmfulFrom(this.#content.care, this.#own);
      const harmful = this.#content.questions.some(({ id, scale }) => {
        if (this.#answers.isFlagged(id, text)) return true;
        const answer = this.#answers.answer(id, text);
        return from.some(
          ({ question, level }) => question === id && answer && care.isHarmful(answer, scale, level),
        );
      });
      const { external_id } = this.#text(text);
      const noted = (stored = care.NO_CARE) =>
        care.noteRead(stored, this.#clock.today(), external_id, harmful);
      // No answer depends on the count: where it cannot be stored, it holds until the page is closed.
      await this.#changeCare(noted).catch(() => this.#journal.changeHere("care", noted));
      return this.careInfo();
    });
  }

  goOnToday(): Promise<CareInfo> {
    return this.#inTurn(async () => {
      if (!care.mayGoOn(this.#content.care)) refuse("finished-today");
      await this.#changeCare((stored) => care.goOn(stored, this.#clock.today()));
      return this.careInfo();
    });
  }

  setOwnCare(own: OwnCare): Promise<CareInfo> {
    return this.#inTurn(async () => {
      if (own.limit !== null && (own.limit < 1 || own.limit > MAX_PER_DAY))
        refuse("setting", t("page.problem_limit_too_small"));
      const harmful = this.#stored(own.harmful);
      const words = checkTopics(own.words);
      const groups = [...new Set(own.groups)].toSorted(byCodePoints);
      const before = this.#care.own;
      const isSame = JSON.stringify([words, groups]) === JSON.stringify([before.words, before.groups]);
      const found = this.#containing(words);
      if (!isSame) await this.#recordLeftOut(found);
      const stored = { ...own, words, groups, harmful };
      await this.#changeCare((kept) => ({ ...kept, own: stored }));
      this.#leftOut = found;
      this.#progress.clear();
      return this.careInfo();
    });
  }

  /** Number of answers, and how much was done since the last submission. */
  openPacket(): OpenPacket {
    const { total, done } = this.progress(this.#ids);
    const last = this.#journal.submitted.at(-1);
    return {
      annotator: this.#content.annotator.external_id,
      wanted: total,
      given: done,
      handed_in: last?.at_ms ?? null,
      since: this.#journal.records.length - (last?.records ?? 0),
      practice: this.practiceState(),
    };
  }

  // What everything above uses

  get #care(): care.StoredCare {
    return this.#journal.local.care ?? care.NO_CARE;
  }

  #changeCare(change: (stored: care.StoredCare) => care.StoredCare): Promise<void> {
    return this.#journal.change("care", (stored = care.NO_CARE) => change(stored));
  }

  /** The person's choices, with the questions of this packet. */
  get #own(): OwnCare {
    const { harmful, ...own } = this.#care.own;
    const at = this.#content.questions.findIndex(({ name }) => name === harmful?.question);
    const question = this.#content.questions[at];
    if (!harmful || !question) return { ...own, harmful: null };
    const level = care.levelOf(harmful, question.scale, this.#content.levels[at] ?? []);
    return { ...own, harmful: level === null ? null : { question: question.id, level } };
  }

  #stored(harmful: OwnCare["harmful"]): care.StoredHarmful | null {
    if (!harmful) return null;
    const { name, scale } = this.#question(harmful.question);
    const place = positionOf(scale, harmful.level) ?? refuse("level-removed");
    const at = this.#ids.indexOf(harmful.question);
    return { question: name, key: this.#content.levels[at]?.[harmful.level] ?? "", place };
  }

  #containing(words: readonly string[]): ReadonlySet<TextId> {
    const found = this.#content.texts.filter(({ body }) => areIn(words, body)).map(({ text }) => text);
    return new Set(found);
  }

  /** Number of texts that are left out, are asked, and have no answer at all. */
  #openLeftOut(leftOut = this.#leftOut): number {
    const assigned = new Set(this.#content.assignments.map(({ text }) => text));
    const open = [...leftOut].filter(
      (text) => assigned.has(text) && this.#ids.every((id) => this.#answers.answer(id, text) === null),
    );
    return open.length;
  }

  /** The study learns how many texts are left out, and not which. */
  async #recordLeftOut(found: ReadonlySet<TextId>): Promise<void> {
    const value = this.#openLeftOut(found);
    const at_ms = Math.max(this.#clock.now_ms(), this.#facts_ms["left-out"] + 1);
    if (value !== this.#leftOutCount) await this.#append([{ fact: { kind: "left-out", at_ms, value } }]);
  }

  #state(questions: readonly QuestionId[]): PacketState {
    const { assignments } = this.#content;
    return { assignments, all: this.#ids, answers: this.#answers, questions, leftOut: this.#leftOut };
  }

  #asked(questions: readonly QuestionId[]): [QuestionId, ...QuestionId[]] {
    const [first, ...others] = questions.map((id) => this.#question(id).id);
    return first === undefined ? refuse("no-question") : [first, ...others];
  }

  #question(id: QuestionId): QuestionInfo {
    return this.#content.questions.find((question) => question.id === id) ?? refuse("no-question");
  }

  #text(id: TextId): PageText {
    return this.#texts.get(id) ?? refuse("no-such-text");
  }

  /** Refuses what only the person of the packet may do to others. */
  mayAnswer(annotator: AnnotatorId): void {
    const { id, name } = this.#content.annotator;
    if (annotator !== id) refuse("packet-of-other", name);
  }

  /** Refuses real texts to a person who has to practise first, or who is stopped. */
  #mayLabel(): void {
    const { step, round } = this.#practice.gate();
    if (step === "stopped") refuse("practice-stopped");
    if (step === "practise") {
      const { length } = this.#practice.left(round);
      refuse("practice-first", t("page.problem_practice_first", { count: length }));
    }
  }

  #mayTakeLabels(text: TextId): void {
    if (this.#practice.isPractice(text)) refuse("practice-text");
  }

  /** Refuses an answer that the question does not take, whatever the text. */
  #check(id: QuestionId, answer: Answer): void {
    const { name, scale, cannot_say } = this.#question(id);
    if (answer.kind === "cannot-say" && !cannot_say) refuse("cannot-say-not-offered", name);
    if (!takes(scale, answer)) refuse("not-on-scale", name);
    if (levelsIn(answer).some((level) => positionOf(scale, level) === null)) refuse("level-removed", name);
  }

  /** Refuses what cannot be recorded: this is looked at last. */
  #mustFit(id: QuestionId, text: TextId, answer: Answer): void {
    const { body } = this.#mustExist(id, text);
    if (!isWithin(answer, [...body].length)) refuse("level-outside-scale", this.#question(id).name);
  }

  #mustExist(id: QuestionId | undefined, text: TextId): PageText {
    const found = this.#texts.get(text);
    return found && this.#ids.some((known) => known === id) ? found : refuse("unknown");
  }

  /** The note that holds; one of a later round holds with its answer. */
  #note(question: QuestionId, text: TextId, occasion: number): Note {
    const isGone = occasion > 1 && !this.#answers.answer(question, text, occasion);
    return isGone ? NO_NOTE : currentNote(this.#answers.events(question, text, occasion));
  }

  /** An answer; if it comes without a note, an earlier note is cleared. */
  async #give(
    { question, text, answer, duration_ms }: NewLabel,
    note: Note,
    guideline: string | null,
    occasion: number,
  ): Promise<void> {
    this.#mustFit(question, text, answer);
    const events = this.#answers.events(question, text, occasion);
    const before = this.#answers.current(question, text, occasion);
    const event: PageEvent = {
      ...this.#event(question, text, occasion),
      answer: canonical(answer),
      duration_ms,
      note,
      guideline,
    };
    if (before) event.replaces = before.key;
    const records: PageRecord[] = [{ event }];
    if (isEmpty(note) && !isEmpty(currentNote([...events, event]))) {
      const cleared = this.#mark(question, text, "note", note, guideline, occasion);
      records.push({ event: { ...cleared, key: this.#journal.key(1), at_ms: event.at_ms + 1 } });
    }
    await this.#append(records);
  }

  #event(question: QuestionId, text: TextId, occasion: number): PageEvent {
    const at_ms = this.#timeOfNew(question, text);
    return { key: this.#journal.key(), question, text, occasion, at_ms, note: NO_NOTE, guideline: null };
  }

  #mark(
    question: QuestionId,
    text: TextId,
    mark: MarkKind,
    note?: Note,
    guideline: string | null = null,
    occasion = 1,
  ): PageEvent {
    const event = this.#event(question, text, occasion);
    // A mark one millisecond after an answer would count as given with it: see `currentNote`.
    const at_ms = Math.max(event.at_ms, (this.#answers.seen_ms(question, text) ?? 0) + 2);
    return { ...event, at_ms, mark, note: note ?? event.note, guideline };
  }

  /** The clock's time, but after all that was done to the text, and every answer: clocks are set back. */
  #timeOfNew(question: QuestionId, text: TextId): number {
    const seen = this.#answers.seen_ms(question, text);
    return Math.max(this.#afterAnswers(), seen === undefined ? 0 : seen + 1);
  }

  #afterAnswers(): number {
    const given = this.#answers.answered_ms;
    const agreed = this.#facts_ms["consent-given"];
    return Math.max(this.#clock.now_ms(), agreed, given === undefined ? 0 : given + 1);
  }

  #draft(question: QuestionId, text: TextId, occasion: number, given: Note): Note | null {
    const stored = this.#journal.local.drafts?.[this.#names.place(question, text, occasion)];
    if (!stored) return null;
    const typed = sameNote(stored.over, given) ? stored.typed : joined(given, stored.typed);
    return sameNote(withoutSpace(typed), withoutSpace(given)) ? null : typed;
  }
}

/** A note that was typed on top of another one than holds now: nothing of either is lost. */
function joined(given: Note, typed: Note): Note {
  const [a, b] = [trimmed(given.note ?? ""), typed.note === null ? null : trimmed(typed.note)];
  const note = a === "" ? b : b === null || a.includes(b) ? a : `${a}\n\n${b}`;
  return {
    note,
    reasons: given.reasons.length > 0 ? given.reasons : typed.reasons,
    confidence: given.confidence ?? typed.confidence,
  };
}

/** Without surrounding white space: what the program counts as such. */
function trimmed(words: string): string {
  const isSpace = (letter = "") => /\p{White_Space}/u.test(letter);
  let [from, to] = [0, words.length];
  while (isSpace(words[from])) from += 1;
  while (to > from && isSpace(words[to - 1])) to -= 1;
  return words.slice(from, to);
}

const withoutSpace = ({ note, reasons, confidence }: Note): Note => {
  return { note: trimmed(note ?? "") || null, reasons: reasons.map(trimmed), confidence };
};

/** The note without surrounding white space, and without halves of characters, which no file can have. */
function checkNote({ note, reasons: given, confidence }: Note): Note {
  const plain = (words: string) => trimmed(words.replaceAll(/\p{Surrogate}/gu, "\ufffd"));
  const [words, reasons] = [plain(note ?? ""), given.map(plain)];
  const { length } = [...words];
  if (length > MAX_NOTE) refuse("remark", t("page.problem_note_too_long", { count: length, most: MAX_NOTE }));
  if (confidence !== null && ![1, 2, 3, 4, 5].includes(confidence))
    refuse("remark", t("page.problem_confidence"));
  const isReason = (reason: string, at: number): boolean =>
    reason !== "" &&
    [...reason].length <= MAX_REASON &&
    !reason.includes(";") &&
    !NOT_SEEN.test(reason) &&
    reasons.indexOf(reason) === at;
  // The desk offers only reasons of the question's author, which were checked.
  if (reasons.length > MAX_REASONS || !reasons.every(isReason))
    refuse("remark", t("page.problem_not_in_a_page"));
  return { note: words === "" ? null : words, reasons, confidence };
}

const byCodePoints = (a: string, b: string): number => {
  const [x, y] = [[...a], [...b]];
  const at = x.findIndex((letter, i) => letter !== y[i]);
  if (at < 0) return x.length - y.length;
  return (x[at]?.codePointAt(0) ?? -1) - (y[at]?.codePointAt(0) ?? -1);
};
