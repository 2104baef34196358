//! Random histories of three copies of a project, with all kinds of actions. Merged in any order
//! and any number of times, the copies contain the same data down to the last row, compared by
//! names and ids, and no answer has changed its meaning.
//!
//! `DISSENSUS_HISTORIES` sets the number of histories; `DISSENSUS_HISTORY_SEED` repeats one. The
//! step `stress` of `cargo xtask test` runs 500 by default.

#![allow(clippy::unwrap_used, reason = "a test may panic, its helpers too")]
#![allow(clippy::print_stdout, reason = "how long the long one takes is to be read")]

#[path = "../common/mod.rs"]
mod common;
mod state;

use common::small;
use dissensus_domain::{
    AfterFailing, Annotator, AnnotatorId, Answer, Assignment, AttentionCheck, AttributeForm, CheckRule,
    Condition, Decision, Event, EventId, EventKind, Fact, FactKind, FormAnswers, FormAttribute, Guideline,
    GuidelineId, LabelSource, LevelEdit, LevelId, MarkKind, MaskRule, MaskRules, Note, NoteForm, OptionSet,
    Outcome, Packet, PacketId, Panel, PanelMembers, PanelRule, PracticeAnswer, PracticeRule, Question,
    QuestionHelp, QuestionId, SavedPanel, Scale, ScaleKind, Span, SpanSet, StudyLimits, TextId,
    given_answers,
};
use dissensus_store::{
    AnswerDetails, CopyTarget, MergedCounts, NewAnnotator, NewLabel, NewMark, NewQuestion, NewText,
    PacketKey, QuestionEdit, Removable, Repeat, Store, StoreError, Submission, Undo, WriteTx,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use state::{by_keys, difference, state};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;
use strum::VariantArray as _;
use uuid::Uuid;

/// Number of copies.
const COPIES: usize = 3;
/// Number of initial annotators; more are added.
const PEOPLE: u32 = 3;
/// Range of the clocks in milliseconds if they agree, so that much happens at the same time in
/// separate copies.
const AT_ONCE: u32 = 3;
/// Number of initial texts.
const TEXTS: u32 = 4;

/// An open copy, and the error of its clock.
struct Copy {
    store: Store,
    clock: i64,
}

impl Copy {
    fn write(&self, work: impl FnOnce(&mut WriteTx<'_>) -> Result<(), StoreError> + Send + 'static) {
        self.store.write(work).unwrap();
    }
}

/// A random annotator, text and question of this copy.
struct Pick {
    who: Annotator,
    text: TextId,
    question: Question,
    answer: Answer,
    now: i64,
}

/// Questions that copies may add separately.
const QUESTIONS: [(&str, ScaleKind, &[&str]); 3] = [
    ("funny", ScaleKind::Binary, &["no", "yes"]),
    ("topics", ScaleKind::MultiLabel, &["art", "law", "war"]),
    ("words", ScaleKind::Spans, &["insult", "threat"]),
];

fn new_question(which: u32, prompt: u32) -> NewQuestion {
    let (name, kind, levels) = QUESTIONS[which as usize];
    let prompt = format!("Prompt {prompt}?");
    NewQuestion { name: name.into(), prompt, scale: Scale::new(kind, levels).unwrap() }
}

/// The meaning of an answer in this copy: the initial names of its levels.
fn meaning(store: &Store, question: QuestionId, answer: &Answer) -> String {
    let keys = store.keys_by_id(question).unwrap();
    by_keys(answer, |id| keys[usize::from(id.0)].clone())
}

struct History {
    folder: PathBuf,
    seed: u64,
    files: usize,
    rng: ChaCha8Rng,
    copies: Vec<Copy>,
    /// Task packets that are in progress, with the annotators' work.
    out: Vec<(PacketId, Store)>,
    /// The percentage of actions that are accompanied by an edit of a question, and the range of
    /// times in milliseconds.
    edited: u32,
    within: u32,
    /// Restricts the work to one text and the question of this name, so that many changes meet.
    narrow: Option<&'static str>,
    /// The meaning of each answer when it was given, by event key.
    given: BTreeMap<String, String>,
}

impl History {
    fn new(folder: &Path, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let store = small(&folder.join(format!("{seed}-first.dissensus")), TEXTS, PEOPLE);
        for which in (0..QUESTIONS.len() as u32).filter(|_| rng.random_bool(0.4)) {
            store.write(move |tx| tx.add_question(&new_question(which, 0))).unwrap();
        }
        let (edited, within) = (rng.random_range(0..3) * 20, [AT_ONCE, 60][rng.random_range(0..2)]);
        let narrow = rng
            .random_bool(0.5)
            .then(|| ["rude", "rude", "funny", "topics", "words"][rng.random_range(0..5)]);
        let clock = if within == AT_ONCE { 0 } else { rng.random_range(-3..3) * 40 };
        let (copies, out, given) = (vec![Copy { store, clock }], Vec::new(), BTreeMap::new());
        Self { folder: folder.to_owned(), seed, files: 0, rng, copies, out, edited, within, narrow, given }
    }

    fn below(&mut self, n: u32) -> u32 {
        self.rng.random_range(0..n)
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// A copy made by hand while work on the original continues: both have the events appended
    /// under its copy id until then.
    fn copied(&mut self, from: usize) -> Store {
        self.files += 1;
        let to = self.folder.join(format!("{}-{}.dissensus", self.seed, self.files));
        self.copies[from].store.copy_to(&to, CopyTarget::New, |_, _| ControlFlow::Continue(())).unwrap();
        Store::open(to).unwrap()
    }

    fn pick(&mut self, at: usize) -> Option<Pick> {
        let people = self.copies[at].store.annotators().unwrap();
        let texts = self.copies[at].store.text_ids().unwrap();
        let questions = self.copies[at].store.questions().unwrap();
        if people.is_empty() {
            return None;
        }
        let narrow = self.narrow.and_then(|name| questions.iter().find(|question| question.name == name));
        let any = &questions[self.below(questions.len() as u32) as usize];
        let question = narrow.unwrap_or(any).clone();
        let texts = &texts[..if narrow.is_some() { 1 } else { texts.len() }];
        Some(Pick {
            who: people[self.below(if narrow.is_some() { 1 } else { people.len() as u32 }) as usize].clone(),
            text: texts[self.below(texts.len() as u32) as usize],
            answer: self.answer(&question),
            question,
            now: self.copies[at].clock + i64::from(self.below(self.within)),
        })
    }

    fn answer(&mut self, question: &Question) -> Answer {
        let ids = question.scale.ids().iter().copied();
        match question.scale.kind() {
            ScaleKind::MultiLabel => {
                let options: Vec<u8> = ids.map(|id| id.0 as u8).filter(|_| self.chance(40)).collect();
                Answer::Options(OptionSet::new(options).unwrap())
            }
            ScaleKind::Spans => {
                let kinds: Vec<LevelId> = ids.filter(|_| self.chance(40)).collect();
                let span = |kind: LevelId| Span { start: u32::from(kind.0 % 3), end: 4, kind };
                Answer::Spans(SpanSet::new(kinds.into_iter().map(span)).unwrap())
            }
            _ => {
                // Levels added in separate copies are the ones that can go wrong.
                let new: Vec<LevelId> = ids
                    .clone()
                    .zip(question.scale.levels())
                    .filter(|(_, name)| name.starts_with("new"))
                    .map(|(level, _)| level)
                    .collect();
                let all: Vec<LevelId> = ids.collect();
                match new.is_empty() || self.chance(50) {
                    true => Answer::from_level(all[self.below(all.len() as u32) as usize]),
                    false => Answer::from_level(new[self.below(new.len() as u32) as usize]),
                }
            }
        }
    }

    /// A text that copies may add separately, with the data they record about it.
    fn new_text(&mut self, n: u32) -> NewText {
        let group = self.chance(50).then(|| format!("g{}", self.below(3)));
        let split = self.chance(70).then(|| ["train", "dev", "test"][self.below(3) as usize].to_owned());
        let mut metadata = BTreeMap::new();
        for key in ["thread", "topic"] {
            if self.chance(50) {
                metadata.insert(key.to_owned(), format!("m{}", self.below(3)));
            }
        }
        NewText { external_id: format!("x{n}"), body: format!("body {n}"), group, split, metadata }
    }

    /// The answer, or "cannot say".
    fn or_cannot_say(&mut self, question: &Question, answer: Answer) -> Answer {
        match question.scale.kind() != ScaleKind::Spans && self.chance(15) {
            true => Answer::CannotSay,
            false => answer,
        }
    }

    fn current_note(&mut self) -> Note {
        let note = self.chance(30).then(|| format!("note {}", self.below(5)));
        let reasons = if self.chance(30) { vec![format!("r{}", self.below(3))] } else { Vec::new() };
        let confidence = self.chance(30).then(|| 1 + self.below(5) as u8);
        Note { note, reasons, confidence }
    }

    fn details(&mut self, at: usize) -> AnswerDetails {
        let guideline = self.copies[at].store.newest_guideline().unwrap().map(|(newest, _)| newest.id);
        let removes_note = self.chance(20);
        AnswerDetails {
            note: self.current_note(),
            guideline: guideline.filter(|_| removes_note),
            removes_note,
        }
    }

    fn source(&mut self) -> LabelSource {
        [LabelSource::Window, LabelSource::Command, LabelSource::Import][self.below(3) as usize]
    }

    /// Performs a random action in a copy.
    fn act(&mut self, at: usize) {
        let Some(pick) = self.pick(at) else { return };
        if self.chance(self.edited) {
            return self.edit(at, &pick.question, pick.now);
        }
        let what = self.below(44);
        self.do_what(what, at, pick);
    }

    /// Every copy gives an answer of each kind that uses a level of the same text, at the same
    /// time.
    fn say_at_once(&mut self) {
        for what in [16, 21, 32, 41] {
            for at in 0..COPIES {
                if let Some(pick) = self.pick(at) {
                    self.do_what(what, at, Pick { now: 1_000, ..pick });
                }
            }
        }
    }

    fn do_what(&mut self, what: u32, at: usize, pick: Pick) {
        let Pick { who, text, question: asked, answer, now } = pick;
        let (id, question) = (who.id, asked.id);
        let given = self.or_cannot_say(&asked, answer.clone());
        match what {
            0..=9 => self.label(at, question, text, id, given, now),
            10..=12 => {
                let source = self.source();
                let questions: Vec<QuestionId> =
                    self.copies[at].store.questions().unwrap().iter().map(|q| q.id).collect();
                // The last answer of this annotator in any merged copy, by the reference
                // implementation.
                let store = &self.copies[at].store;
                let events =
                    (1..=store.last_event().unwrap().0).filter_map(|row| store.event(EventId(row)).unwrap());
                let own: Vec<Event> = events.filter(|event| event.annotator == id).collect();
                let last = given_answers(&own).last().map(|event| event.key);
                let undone = self.copies[at].store.write(move |tx| tx.undo(questions, id, now, source));
                let given = match undone.unwrap() {
                    Undo::Nothing => None,
                    Undo::TakenBack(event) => Some(event.key),
                    Undo::Replaced { given, .. } => Some(given.key),
                };
                assert_eq!(given, last, "DISSENSUS_HISTORY_SEED={}", self.seed);
            }
            13..=15 => {
                let kinds =
                    [MarkKind::Skip, MarkKind::Unskip, MarkKind::Flag, MarkKind::Unflag, MarkKind::Note];
                let (kind, source, note) =
                    (kinds[self.below(5) as usize], self.source(), self.current_note());
                let mark = NewMark {
                    annotator: id,
                    question,
                    text,
                    kind,
                    at_ms: now,
                    source,
                    note,
                    guideline: None,
                };
                self.copies[at].store.mark(&mark).unwrap();
            }
            16..=19 => self.repeat(
                at,
                Repeat {
                    question,
                    text,
                    annotator: id,
                    occasion: 2,
                    at_ms: now,
                    answer: given,
                    source: LabelSource::Window,
                    details: AnswerDetails::default(),
                    wording: None,
                },
            ),
            20 => self.import(at, &asked, now),
            21..=22 => {
                // Signed with an annotator's id, an annotator's name, or a name that an annotator
                // has in another copy.
                let by = match self.below(4) {
                    0 => who.external_id.clone(),
                    1 => who.name.clone(),
                    2 => format!("Name {}", self.below(4)),
                    _ => String::new(),
                };
                let outcomes = [Outcome::Slip, Outcome::Ambiguous, Outcome::Reopened];
                let outcome = outcomes[self.below(3) as usize];
                let answer = Some(answer).filter(|_| self.chance(50));
                let comment = format!("c{}", self.below(3));
                let decision = Decision { question, text, at_ms: now, outcome, answer, comment, by };
                self.copies[at].write(move |tx| tx.decide(&decision));
            }
            23 => {
                let by = if self.chance(50) { who.name.clone() } else { format!("Name {}", self.below(4)) };
                let uid = Uuid::from_u128(self.rng.random());
                let version =
                    Guideline { id: GuidelineId(uid), at_ms: now, body: "b".into(), change: "c".into(), by };
                self.copies[at].write(move |tx| tx.write_guideline(&version, &[]));
            }
            24 => self.question(at, &asked, now),
            25..=26 => {
                let name = format!("Name {}", self.below(4));
                self.copies[at].write(move |tx| tx.rename_annotator(id, &name, now));
            }
            27 => {
                let value = format!("v{}", self.below(3));
                let attributes =
                    if self.chance(70) { [("k".to_owned(), value)].into() } else { Default::default() };
                self.copies[at].write(move |tx| tx.set_attributes(id, &attributes, now));
            }
            28 => {
                let n = self.below(4);
                let (external_id, name) = (format!("new{n}"), format!("Name {n}"));
                let simulated = self.chance(20);
                let new = NewAnnotator { external_id, name, simulated, ..NewAnnotator::default() };
                let added =
                    self.copies[at].store.write(move |tx| tx.add_annotator(&new)).map_err(|e| e.code());
                assert!(matches!(added, Ok(_) | Err("duplicate" | "withdrawn")), "{added:?}");
            }
            29 => {
                let n = self.below(5);
                let new = self.new_text(n);
                let added =
                    self.copies[at].store.write(move |tx| tx.add_text_at(&new, now)).map_err(|e| e.code());
                assert!(matches!(added, Ok(_) | Err("duplicate")), "{added:?}");
            }
            30..=31 => self.packet(at, id, question, text, now),
            32 => {
                let answer = Some(answer).filter(|_| self.chance(70));
                let check = AttentionCheck {
                    question,
                    text,
                    at_ms: now,
                    answer,
                    reason: format!("r{}", self.below(2)),
                };
                self.copies[at].write(move |tx| tx.set_attention_check(&check));
            }
            33 => {
                let members = PanelMembers::Named(vec![who.external_id.clone(), "a1".to_owned()]);
                let panel = Panel { question: None, members, rule: PanelRule::Majority };
                let panel = Some(panel).filter(|_| self.chance(80));
                let saved = SavedPanel { name: format!("p{}", self.below(2)), saved_at_ms: now, panel };
                self.copies[at].write(move |tx| tx.save_panel(&saved));
            }
            34..=36 => self.fact(at, id, question, text, now),
            37 if self.chance(50) => drop(self.copies[at].store.withdraw(id, now).unwrap()),
            38 => self.remove(at, id),
            39 => self.returned(at),
            40 => self.edit(at, &asked, now),
            41..=42 => self.practise(at, &asked, text, id, now),
            _ => self.label(at, question, text, id, given, now),
        }
    }

    /// Edits a question. Rejected edits change nothing.
    fn edit(&mut self, at: usize, question: &Question, now: i64) {
        let mut edit = QuestionEdit::default();
        match self.below(8) {
            0 => edit.prompt = Some(format!("prompt {}", self.below(3))),
            1 => {
                let (text, low) = (format!("help {}", self.below(2)), format!("low {}", self.below(2)));
                edit.help = Some(QuestionHelp { text, low, high: String::new() });
            }
            2 => edit.cannot_say = Some(self.chance(60)),
            _ => return self.edit_levels(at, question, now),
        }
        self.edited(at, question, edit, now);
    }

    fn edit_levels(&mut self, at: usize, question: &Question, now: i64) {
        let edit = QuestionEdit { levels: Some(self.levels(question)), ..QuestionEdit::default() };
        self.edited(at, question, edit, now);
    }

    fn edited(&self, at: usize, question: &Question, edit: QuestionEdit, now: i64) {
        let edited = self.copies[at].store.edit_question(question.id, &edit, now).map_err(|e| e.code());
        assert!(matches!(edited, Ok(_) | Err("invalid")), "{edited:?}");
    }

    /// The levels of a question with some of them added, removed, moved, renamed or redefined.
    fn levels(&mut self, question: &Question) -> Vec<LevelEdit> {
        let ids = question.scale.ids().iter();
        let mut levels: Vec<LevelEdit> = ids
            .zip(question.scale.levels())
            .map(|(id, name)| LevelEdit {
                from: Some(*id),
                name: name.clone(),
                definition: question.definition(*id).to_owned(),
            })
            .collect();
        for _ in 0..=self.below(4) {
            let (one, other) = (self.below(levels.len() as u32), self.below(levels.len() as u32));
            let (one, other) = (one as usize, other as usize);
            match self.below(7) {
                0 | 1 => {
                    let name = format!("new {}", self.below(3));
                    levels.insert(one, LevelEdit { from: None, name, definition: String::new() });
                }
                2 if levels.len() > 1 => drop(levels.remove(one)),
                3 => levels.swap(one, other),
                // Replaces a level with a new one.
                4 => {
                    levels[one] = LevelEdit {
                        from: None,
                        name: format!("new {}", self.below(3)),
                        definition: String::new(),
                    }
                }
                5 => levels[one].name = format!("name {}", self.below(4)),
                _ => levels[one].definition = format!("when {}", self.below(3)),
            }
        }
        levels
    }

    /// Practice texts, practice answers and harmful levels.
    fn practise(&mut self, at: usize, question: &Question, text: TextId, annotator: AnnotatorId, at_ms: i64) {
        let (answer, id) = (self.answer(question), question.id);
        let copy = &self.copies[at];
        match self.rng.random_range(0..3) {
            0 => {
                let right = self.rng.random_bool(0.8).then_some(answer);
                copy.write(move |tx| tx.set_practice_text(id, text, right.as_ref(), "because", at_ms));
            }
            1 => {
                let new = PracticeAnswer { question: id, text, annotator, round: 1, answer, at_ms };
                copy.write(move |tx| tx.add_practice_answer(&new, false));
            }
            _ => {
                let level = question.scale.ids()[self.rng.random_range(0..question.scale.len())];
                copy.write(move |tx| tx.set_study_care(StudyLimits::default(), &[(id, level)], at_ms));
            }
        }
    }

    /// Returns a task packet to a copy, which may not know it, or not all of its contents any more.
    fn returned(&mut self, at: usize) {
        let Some((id, work)) = self.out.get(self.out.len().wrapping_sub(1)) else { return };
        let taken = self.copies[at].store.merge_packet(work, *id).map_err(|e| e.to_string());
        let known = ["there is no packet", "was not handed out", "withdrew"];
        let fine = taken.as_ref().map_or_else(|why| known.iter().any(|known| why.contains(known)), |_| true);
        assert!(fine, "{taken:?}");
        if self.chance(30)
            && let Some((_, work)) = self.out.pop()
        {
            work.close().unwrap();
        }
    }

    fn label(
        &mut self,
        at: usize,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
        answer: Answer,
        at_ms: i64,
    ) {
        let (source, details) = (self.source(), self.details(at));
        let store = &self.copies[at].store;
        let means = meaning(store, question, &answer);
        let new = NewLabel { question, text, annotator, answer, at_ms, duration_ms: Some(7), source };
        let id = store.append_label_with(&new, &details).unwrap().id;
        self.given.insert(store.event(id).unwrap().unwrap().key.to_string(), means);
    }

    /// Imports rows of a file, some of them known: the same times and answers in every copy.
    fn import(&mut self, at: usize, asked: &Question, now: i64) {
        let (question, level) = (asked.id, asked.scale.ids()[asked.scale.len() - 1].0);
        let answer = match asked.scale.kind() {
            ScaleKind::MultiLabel => Answer::Options(OptionSet::new([level as u8]).unwrap()),
            ScaleKind::Spans => {
                Answer::Spans(SpanSet::new([Span { start: 0, end: 4, kind: LevelId(level) }]).unwrap())
            }
            _ => Answer::from_level(level),
        };
        let people = self.copies[at].store.annotators().unwrap();
        let rows: Vec<NewLabel> = people
            .iter()
            .map(|who| NewLabel {
                question,
                text: TextId(1),
                annotator: who.id,
                answer: answer.clone(),
                at_ms: now / 10,
                duration_ms: None,
                source: LabelSource::Import,
            })
            .collect();
        let n = self.below(9);
        self.copies[at].write(move |tx| {
            let begun = tx.begin_import("labels.csv", now)?;
            rows.iter().try_for_each(|row| tx.add_label(row).map(drop))?;
            let external_id = format!("imported{n}");
            if tx.text_by_external(&external_id)?.is_none() {
                let external_id = external_id.clone();
                tx.add_text(&NewText { body: external_id.clone(), external_id, ..NewText::default() })?;
            }
            if tx.annotator_by_external(&external_id)?.is_none() {
                let new = NewAnnotator { name: external_id.clone(), external_id, ..NewAnnotator::default() };
                match tx.add_annotator(&new) {
                    Ok(_) | Err(StoreError::Withdrawn(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            tx.end_import(begun)
        });
    }

    /// Removes the last import, or an item that nothing depends on. The first text and annotator
    /// remain, since tests refer to them.
    fn remove(&mut self, at: usize, annotator: AnnotatorId) {
        let texts = self.copies[at].store.text_ids().unwrap();
        let text = texts[self.below(texts.len() as u32) as usize];
        let questions = self.copies[at].store.questions().unwrap();
        let what = match self.below(4) {
            0 => {
                let store = &self.copies[at].store;
                let of_others = || -> Vec<Fact> {
                    use FactKind::{AnnotatorAttribute, AnnotatorName};
                    let mut kinds = FactKind::VARIANTS.to_vec();
                    kinds.retain(|kind| !matches!(kind, AnnotatorAttribute | AnnotatorName));
                    kinds.iter().flat_map(|kind| store.all_facts(*kind).unwrap()).collect()
                };
                let before = of_others();
                let removed = store.write(|tx| tx.remove_last_import()).map_err(|e| e.code());
                assert!(matches!(removed, Ok(_) | Err("invalid")), "{removed:?}");
                let seed = self.seed;
                assert_eq!(of_others(), before, "no import adds any of these. DISSENSUS_HISTORY_SEED={seed}");
                return;
            }
            1 => Removable::Text(text),
            2 => Removable::Question(questions[questions.len() - 1].id),
            _ => Removable::Annotator(annotator),
        };
        if matches!(
            what,
            Removable::Text(TextId(1))
                | Removable::Question(QuestionId(1))
                | Removable::Annotator(AnnotatorId(1))
        ) {
            return;
        }
        let removed = self.copies[at].store.write(move |tx| tx.remove(&[what])).map_err(|e| e.code());
        assert!(matches!(removed, Ok(()) | Err("invalid")), "{removed:?}");
    }

    fn repeat(&mut self, at: usize, repeat: Repeat) {
        let now = repeat.at_ms;
        let details = self.details(at);
        match self.below(5) {
            0 => {
                let timed = self.chance(50);
                self.copies[at].write(move |tx| tx.add_repeat(&repeat, timed).map(drop));
            }
            1 => {
                let (question, occasion) = (repeat.question, self.chance(50).then_some(repeat.occasion));
                self.copies[at].write(move |tx| tx.remove_repeats(question, occasion, now).map(drop));
            }
            2 => {
                let known = self.copies[at].store.repeats(repeat.question).unwrap();
                if let Some(first) = known.first().cloned() {
                    let note = NewMark {
                        annotator: first.annotator,
                        question: first.question,
                        text: first.text,
                        kind: MarkKind::Note,
                        at_ms: now,
                        source: LabelSource::Window,
                        note: details.note,
                        guideline: details.guideline,
                    };
                    self.copies[at].write(move |tx| tx.add_mark_in(&note, first.occasion).map(drop));
                }
            }
            _ => {
                let repeat = Repeat { details, ..repeat };
                self.copies[at].write(move |tx| tx.give_repeat(&repeat));
            }
        }
    }

    fn question(&mut self, at: usize, asked: &Question, now: i64) {
        let question = asked.id;
        match self.below(4) {
            0 => {
                let new = new_question(self.below(QUESTIONS.len() as u32), self.below(3));
                let added = self.copies[at]
                    .store
                    .write(move |tx| tx.add_question_at(&new, now))
                    .map_err(|e| e.code());
                assert!(matches!(added, Ok(_) | Err("duplicate")), "{added:?}");
            }
            1 => {
                let form =
                    NoteForm { reasons: vec![format!("r{}", self.below(3))], confidence: self.chance(50) };
                self.copies[at].write(move |tx| tx.set_note_form(question, &form, now));
            }
            2 => {
                let n = self.below(3);
                let names: Vec<String> =
                    (0..asked.scale.len()).map(|level| format!("l{level} {n}")).collect();
                self.copies[at].write(move |tx| tx.rename_levels(question, &names, now));
            }
            _ => {
                let questions = self.copies[at].store.questions().unwrap();
                let other = &questions[self.below(questions.len() as u32) as usize];
                let ids = other.scale.ids().iter().copied();
                let levels: Vec<LevelId> = ids.filter(|_| self.chance(40)).collect();
                let only_if = Some(Condition::new(other.id, levels)).filter(|_| self.chance(70));
                let write = move |tx: &mut WriteTx<'_>| tx.set_condition(question, only_if.as_ref(), now);
                // There may be no level to draw, or the question itself, or one that depends on it.
                let set = self.copies[at].store.write(write).map_err(|e| e.code());
                assert!(matches!(set, Ok(()) | Err("invalid")), "{set:?}");
            }
        }
    }

    /// Facts of kinds that no other action records.
    fn fact(&mut self, at: usize, annotator: AnnotatorId, question: QuestionId, text: TextId, at_ms: i64) {
        let (n, on) = (self.below(3), self.chance(50));
        let copy = &self.copies[at];
        match self.rng.random_range(0..10) {
            0 | 1 => {
                let value = [Value::Bool(true), Value::Bool(false), Value::Null][n as usize].clone();
                let fact = Fact::of_project(FactKind::Reveal, at_ms, value);
                copy.write(move |tx| tx.set_fact(&fact).map(drop));
            }
            // An annotator answers only what a form asks.
            2 | 3 => {
                let values = (0..3).map(|n| format!("v{n}")).collect();
                let asked = FormAttribute { name: "k".into(), values, optional: on, ..Default::default() };
                let form = serde_json::to_value(AttributeForm { attributes: vec![asked] }).unwrap();
                let form = Fact::of_project(FactKind::AttributeForm, at_ms, form);
                let answers = FormAnswers([("k".to_owned(), on.then(|| format!("v{n}")))].into());
                copy.write(move |tx| {
                    tx.set_fact(&form)?;
                    tx.answer_form(annotator, &answers, at_ms)
                });
            }
            4 => {
                let rule = PracticeRule { within: n as u16, ..PracticeRule::default() };
                let check = on.then_some(CheckRule { pass: 0.5, within: n as u16, then: AfterFailing::GoOn });
                copy.write(move |tx| {
                    tx.set_practice_rule(&rule, at_ms)?;
                    tx.set_check_rule(check.as_ref(), at_ms)
                });
            }
            5 => copy.write(move |tx| {
                tx.set_consent(on.then(|| format!("text {n}")).as_deref(), at_ms)?;
                if let Some(asked) = tx.consents()?.in_effect() {
                    tx.agree_to(annotator, &asked.version, at_ms)?;
                }
                tx.ask_to_practise_again(annotator, n, at_ms)?;
                tx.set_left_out(annotator, n, at_ms)
            }),
            // Names of levels, as earlier versions set them.
            6 => {
                let names: Vec<String> = (1..=5).map(|level| format!("{level} of {n}")).collect();
                let fact = Fact::of_project(FactKind::LevelNames, at_ms, serde_json::json!(names));
                let fact = Fact { question: Some(QuestionId(1)), ..fact };
                copy.write(move |tx| tx.set_fact(&fact).map(drop));
            }
            // Names of texts consist of such words.
            7 => {
                let words = vec![["body", "x1", "t"][n as usize].to_owned()];
                let on = if on { vec![MaskRule::Words] } else { Vec::new() };
                let rules = MaskRules { on, words, ..MaskRules::default() };
                copy.write(move |tx| tx.set_mask_rules(&rules, at_ms).map(drop));
            }
            _ => {
                let fact = Fact::of_project(FactKind::Shown, at_ms, "answers");
                let (question, text, annotator) = (Some(question), Some(text), Some(annotator));
                let fact = Fact { question, text, annotator, ..fact };
                copy.write(move |tx| tx.note_fact(&fact));
            }
        }
    }

    /// A task packet is created, worked on, and merged into this copy, twice.
    fn packet(&mut self, at: usize, annotator: AnnotatorId, question: QuestionId, text: TextId, now: i64) {
        let id = PacketId(Uuid::from_u128(self.rng.random()));
        let assignments = vec![Assignment { text, occasion: 1, anchor: self.chance(50) }];
        // The questions that a question depends on must be included.
        let mut questions = vec![question];
        let all = self.copies[at].store.questions().unwrap();
        while let Some(only_if) = all
            .iter()
            .filter(|one| questions.contains(&one.id))
            .filter_map(|one| one.only_if.as_ref())
            .find(|only_if| !questions.contains(&only_if.question))
        {
            questions.push(only_if.question);
        }
        let packet = Packet { id, annotator, made_at_ms: now, seed: 1, questions, assignments };
        let answers = self.below(3);
        self.copies[at].write(move |tx| {
            tx.add_packet(&packet, &PacketKey([7; 32]))?;
            tx.mask_packet(id, now)?;
            tx.add_submission(&Submission { packet: id, at_ms: now, answers }).map(drop)
        });
        if self.chance(70) {
            return;
        }
        self.files += 1;
        let file = self.folder.join(format!("{}-{}.dissensus", self.seed, self.files));
        self.copies[at].store.write_packet(id, &file).unwrap();
        let work = Store::open(&file).unwrap();
        let asked = work.questions().unwrap().remove(0);
        for at_ms in [now + 3, now + 1] {
            let (text, annotator) = (work.text_ids().unwrap()[0], work.annotators().unwrap()[0].id);
            let (answer, source, question) = (self.answer(&asked), LabelSource::Window, asked.id);
            let means = meaning(&work, question, &answer);
            let new = NewLabel { question, text, annotator, answer, at_ms, duration_ms: None, source };
            let label = work.append_label(&new).unwrap().id;
            self.given.insert(work.event(label).unwrap().unwrap().key.to_string(), means);
        }
        if self.chance(40) {
            self.out.push((id, work));
            return;
        }
        for _ in 0..2 {
            self.copies[at].store.merge_packet(&work, id).unwrap();
        }
        work.close().unwrap();
    }

    /// Sessions in three copies, which are sometimes merged, copied over by hand and reopened.
    fn happen(&mut self) {
        for _ in 0..self.below(12) {
            self.act(0);
        }
        while self.copies.len() < COPIES {
            let from = self.below(self.copies.len() as u32) as usize;
            let clock = if self.within == AT_ONCE { 0 } else { (i64::from(self.below(6)) - 3) * 40 };
            let store = self.copied(from);
            self.copies.push(Copy { store, clock });
        }
        if let Some(name) = self.narrow {
            for at in 0..COPIES {
                let Some(question) = self.copies[at].store.question_by_name(name).unwrap() else { continue };
                self.edit_levels(at, &question, self.copies[at].clock);
            }
        }
        for _ in 0..8 {
            let at = self.below(COPIES as u32) as usize;
            let other = (at + 1 + self.below(COPIES as u32 - 1) as usize) % COPIES;
            match self.below(20) {
                0..=2 => drop(merge_from(&self.copies[at].store, &self.copies[other].store)),
                3 => {
                    let store = self.copied(other);
                    std::mem::replace(&mut self.copies[at].store, store).close().unwrap();
                }
                4..=5 => {
                    // The same file under another copy id.
                    let file = self.copies[at].store.file().to_owned();
                    self.copies[at].store.close().unwrap();
                    self.copies[at].store = Store::open(file).unwrap();
                }
                _ => {
                    for _ in 0..=self.below(5) {
                        self.act(at);
                    }
                }
            }
        }
        if self.narrow.is_some() && self.within == AT_ONCE {
            self.say_at_once();
        }
    }

    /// Merges everything in several ways, and returns a difference.
    fn differs(&mut self) -> Option<String> {
        // Two earlier copies that merge the three in different orders, with repetitions.
        let mut found = Vec::new();
        for from in [0, 1] {
            let collector = self.copied(from);
            let mut order: Vec<usize> = (0..COPIES).chain([self.below(COPIES as u32) as usize]).collect();
            for at in (1..order.len()).rev() {
                order.swap(at, self.below(at as u32 + 1) as usize);
            }
            for at in order {
                merge_from(&collector, &self.copies[at].store);
            }
            let again = merge_from(&collector, &self.copies[0].store);
            let nothing = MergedCounts {
                known: again.known,
                passed_over: again.passed_over,
                ..MergedCounts::default()
            };
            if again != nothing {
                return Some(format!("the same copy a second time brought {again:?}"));
            }
            collector.check_current_answers().unwrap();
            if let Some(differs) = self.other_meaning(&collector) {
                return Some(differs);
            }
            found.push(state(&collector));
            collector.close().unwrap();
        }
        // And one of the three through another one.
        merge_from(&self.copies[1].store, &self.copies[2].store);
        merge_from(&self.copies[0].store, &self.copies[1].store);
        found.push(state(&self.copies[0].store));
        found.iter().skip(1).find_map(|other| difference(&found[0], other))
    }
}

impl History {
    /// Finds an answer whose meaning has changed since it was given.
    fn other_meaning(&self, store: &Store) -> Option<String> {
        let questions = store.questions().unwrap();
        let keys: BTreeMap<u32, Vec<String>> =
            questions.iter().map(|q| (q.id.0, store.keys_by_id(q.id).unwrap())).collect();
        store.events_since(EventId(0), u32::MAX).unwrap().into_iter().find_map(|event| {
            let EventKind::Answer { answer, .. } = &event.kind else { return None };
            let was = self.given.get(&event.key.to_string())?;
            let is = by_keys(answer, |id| keys[&event.question.0][usize::from(id.0)].clone());
            (is != *was).then(|| format!("{} meant {was} and means {is}", event.key))
        })
    }
}

impl Drop for History {
    fn drop(&mut self) {
        for store in self.copies.iter().map(|copy| &copy.store).chain(self.out.iter().map(|(_, work)| work)) {
            drop(store.close());
        }
    }
}

fn merge_from(into: &Store, from: &Store) -> MergedCounts {
    into.merge_from(from).unwrap()
}

/// Runs this many histories, starting from a seed. Uses a memory file system if available, since
/// the contents are tested and not their durability.
fn run(first: u64, histories: u64) {
    let memory = Path::new("/dev/shm");
    let folder = match memory.is_dir() {
        true => tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()).unwrap(),
        false => tempfile::tempdir().unwrap(),
    };
    let start = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64).min(histories);
    std::thread::scope(|scope| {
        let inside = folder.path();
        for thread in 0..threads {
            scope.spawn(move || {
                (first + thread..first + histories)
                    .step_by(threads as usize)
                    .for_each(|seed| one(inside, seed))
            });
        }
    });
    println!("{histories} histories in {:.1} s on {threads} threads", start.elapsed().as_secs_f64());
}

fn one(folder: &Path, seed: u64) {
    let inside = folder.join(seed.to_string());
    std::fs::create_dir(&inside).unwrap();
    let mut history = History::new(&inside, seed);
    history.happen();
    if let Some(differs) = history.differs() {
        panic!("DISSENSUS_HISTORY_SEED={seed}: {differs}");
    }
    drop(history);
    std::fs::remove_dir_all(&inside).unwrap();
}

fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn three_copies_merge_in_any_order() {
    match asked("DISSENSUS_HISTORY_SEED") {
        Some(seed) => run(seed, 1),
        None => run(0, asked("DISSENSUS_HISTORIES").unwrap_or(200)),
    }
}

#[test]
#[ignore = "takes minutes: cargo xtask test --only stress"]
fn thousands_of_histories_merge_consistently() {
    run(1_000_000, asked("DISSENSUS_HISTORIES").unwrap_or(10_000));
}
