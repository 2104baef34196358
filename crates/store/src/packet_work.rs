//! Work on a task packet without row ids: what a submission contains, and how it becomes a packet again.

use crate::appending::EventPosition;
use crate::deleting::next_row;
use crate::events::{Key, NewEvent};
use crate::levels::{ever, rows_by_key, with_levels};
use crate::log::kind;
use crate::row::{EVENT_COLUMNS, EVENT_TABLES, event};
use crate::tx::all;
use crate::{NewAnnotator, Result, Store, StoreError, Submission, WriteTx};
use dissensus_domain::{
    AnnotatorId, Answer, CopyId, EventId, EventKey, EventKind, FIRST_OCCASION, Fact, FactKind, GuidelineId,
    LabelSource, LevelId, MarkKind, Note, PacketId, QuestionId, TextId, Wording,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use strum::VariantArray as _;
use uuid::Uuid;

/// What an annotator did in a task packet. Records name questions, texts, copies, guideline versions and
/// wordings by their position in [`WorkNames`], and levels by their position among the levels of their
/// question there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PacketWork {
    pub names: WorkNames,
    pub records: Vec<WorkRecord>,
}

/// What the records of a [`PacketWork`] refer to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkNames {
    pub questions: Vec<WorkQuestion>,
    pub texts: Vec<WorkText>,
    pub copies: Vec<WorkCopy>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guidelines: Vec<Uuid>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wordings: Vec<Wording>,
    /// Earlier submissions of the packet: when each was written, and its number of answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submissions: Vec<(i64, u32)>,
}

/// A question by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkQuestion {
    pub name: String,
    /// The initial names of all levels that it ever had, by [`LevelId`] in the packet.
    pub levels: Vec<String>,
}

/// A text by its id, with the first 16 hexadecimal digits of the SHA-256 of its body in UTF-8: work on
/// another body is refused.
pub type WorkText = (String, String);

/// A session in which events were appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkCopy {
    pub id: Uuid,
    /// In milliseconds since 1970-01-01 UTC.
    pub made_at_ms: i64,
}

/// An event or a fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkRecord {
    Event(WorkEvent),
    Fact(WorkFact),
}

/// An event; see [`Event`](dissensus_domain::Event).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkEvent {
    pub key: WorkKey,
    pub question: u32,
    pub text: u32,
    /// Who did it, if not the annotator of the packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotator: Option<String>,
    #[serde(default = "first_occasion", skip_serializing_if = "is_first")]
    pub occasion: u16,
    pub at_ms: i64,
    #[serde(default = "window", skip_serializing_if = "is_window")]
    pub source: LabelSource,
    /// An event has an answer, or retracts one, or is a mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<WorkKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retracts: Option<WorkKey>,
    /// The name of a [`MarkKind`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    #[serde(default, skip_serializing_if = "Note::is_empty")]
    pub note: Note,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guideline: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wording: Option<u32>,
}

/// The copy of an event, as a position in [`WorkNames`], and its number there.
pub type WorkKey = (u32, u32);

/// A fact about the annotator of the packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkFact {
    pub kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub at_ms: i64,
    pub value: Value,
}

fn first_occasion() -> u16 {
    FIRST_OCCASION
}

fn window() -> LabelSource {
    LabelSource::Window
}

fn is_window(source: &LabelSource) -> bool {
    *source == LabelSource::Window
}

fn is_first(occasion: &u16) -> bool {
    *occasion == FIRST_OCCASION
}

impl Store {
    /// Everything that was done in this task packet.
    ///
    /// # Errors
    /// This file is no task packet, or cannot be read.
    pub fn packet_work(&self) -> Result<PacketWork> {
        let packet = self.own_packet()?.ok_or_else(|| unknown("packet", "of this file"))?;
        let events = self.read("reading the events", |c| {
            all(c, &format!("SELECT {EVENT_COLUMNS} FROM {EVENT_TABLES} ORDER BY e.id"), [], event)
        })?;
        let mut work = PacketWork::default();
        let earlier = self.submissions()?.into_iter().filter(|one| one.packet == packet.id);
        work.names.submissions = earlier.map(|one| (one.at_ms, one.answers)).collect();
        let mut questions: HashMap<QuestionId, u32> = HashMap::new();
        for question in self.questions()? {
            let levels = self.read("reading the levels", |c| ever(c, question.id))?;
            questions.insert(question.id, position(work.names.questions.len())?);
            work.names.questions.push(WorkQuestion { name: question.name, levels });
        }
        let others: HashMap<AnnotatorId, String> = (self.annotators()?.into_iter())
            .filter(|person| person.id != packet.annotator)
            .map(|person| (person.id, person.external_id))
            .collect();
        let mut positions = Positions::default();
        let mut keys: HashMap<EventId, WorkKey> = HashMap::new();
        for event in events {
            let key = (positions.copy(self, &mut work.names, event.key.copy)?, event.key.sequence);
            keys.insert(event.id, key);
            let named = |id: EventId| keys.get(&id).copied().ok_or_else(|| unknown("event", id.0));
            let (mut answer, mut duration_ms, mut replaces, mut retracts, mut mark) =
                (None, None, None, None, None);
            match event.kind {
                EventKind::Answer { answer: given, duration_ms: duration, replaces: of } => {
                    (answer, duration_ms, replaces) = (Some(given), duration, of.map(named).transpose()?);
                }
                EventKind::Retraction { of } => retracts = Some(named(of)?),
                EventKind::Mark(kind) => mark = Some(kind.name().to_owned()),
            }
            let guideline = event.guideline.map(|id| positions.guideline(&mut work.names, id)).transpose()?;
            let wording = match event.wording {
                None => None,
                Some(id) => match positions.wordings.get(&id.0) {
                    Some(known) => Some(*known),
                    None => {
                        let wording = self.wording(id)?.ok_or_else(|| unknown("wording", id))?;
                        let at = position(work.names.wordings.len())?;
                        work.names.wordings.push(wording);
                        positions.wordings.insert(id.0, at);
                        Some(at)
                    }
                },
            };
            work.records.push(WorkRecord::Event(WorkEvent {
                key,
                question: questions
                    .get(&event.question)
                    .copied()
                    .ok_or_else(|| unknown("question", event.question.0))?,
                text: positions.text(self, &mut work.names, event.text)?,
                annotator: others.get(&event.annotator).cloned(),
                occasion: event.occasion,
                at_ms: event.at_ms,
                source: event.source,
                answer,
                duration_ms,
                replaces,
                retracts,
                mark,
                note: event.note,
                guideline,
                wording,
            }));
        }
        for kind in FactKind::VARIANTS.iter().filter(|kind| kind.is_of_person()) {
            let mut facts = self.all_facts(*kind)?;
            facts.retain(|fact| fact.annotator == Some(packet.annotator));
            for fact in facts {
                let question = fact.question.and_then(|id| questions.get(&id).copied());
                let text = fact.text.map(|id| positions.text(self, &mut work.names, id)).transpose()?;
                let Fact { key, at_ms, value, .. } = fact;
                let kind = kind.name().to_owned();
                work.records.push(WorkRecord::Fact(WorkFact { kind, question, text, key, at_ms, value }));
            }
        }
        Ok(work)
    }

    /// Writes a task packet of this project to `path` with this work in it.
    ///
    /// # Errors
    /// Like [`Store::write_packet`]; or the work names something that the packet never had, or a value is
    /// invalid.
    pub fn write_packet_with(
        &self,
        packet: PacketId,
        work: PacketWork,
        submission: Option<Submission>,
        path: impl AsRef<Path>,
    ) -> Result<()> {
        let texts: Vec<String> = work.names.texts.iter().map(|(id, _)| id.clone()).collect();
        self.write_packet_about(packet, &texts, &path)?;
        let mut guidelines = self.guidelines()?;
        guidelines.retain(|known| work.names.guidelines.contains(&known.id.0));
        let file = Self::open(&path)?;
        let annotator = file.own_packet()?.ok_or_else(|| unknown("packet", packet))?.annotator;
        file.write(move |tx| -> Result<()> {
            for guideline in &guidelines {
                tx.add_guideline(guideline)?;
            }
            for (at_ms, answers) in &work.names.submissions {
                tx.add_submission(&Submission { packet, at_ms: *at_ms, answers: *answers })?;
            }
            let mut adding = Adding::new(tx, annotator, work.names)?;
            work.records.into_iter().try_for_each(|record| adding.add(record))?;
            adding.finish()?;
            if let Some(submission) = &submission {
                tx.add_submission(submission)?;
            }
            // Only the packet and the project have the key.
            tx.forget_packet_key()
        })?;
        file.close()
    }
}

/// Positions in [`WorkNames`].
#[derive(Default)]
struct Positions {
    texts: HashMap<TextId, u32>,
    copies: HashMap<CopyId, u32>,
    guidelines: HashMap<GuidelineId, u32>,
    wordings: HashMap<Uuid, u32>,
}

impl Positions {
    fn text(&mut self, store: &Store, names: &mut WorkNames, id: TextId) -> Result<u32> {
        if let Some(known) = self.texts.get(&id) {
            return Ok(*known);
        }
        let text = store.text(id)?.ok_or_else(|| unknown("text", id.0))?;
        let at = position(names.texts.len())?;
        let digits = digits_of(&text.body);
        names.texts.push((text.external_id, digits));
        self.texts.insert(id, at);
        Ok(at)
    }

    fn copy(&mut self, store: &Store, names: &mut WorkNames, copy: CopyId) -> Result<u32> {
        if let Some(known) = self.copies.get(&copy) {
            return Ok(*known);
        }
        let at = position(names.copies.len())?;
        names.copies.push(WorkCopy { id: copy.0, made_at_ms: store.copy_made_at(copy)? });
        self.copies.insert(copy, at);
        Ok(at)
    }

    fn guideline(&mut self, names: &mut WorkNames, id: GuidelineId) -> Result<u32> {
        if let Some(known) = self.guidelines.get(&id) {
            return Ok(*known);
        }
        let at = position(names.guidelines.len())?;
        names.guidelines.push(id.0);
        self.guidelines.insert(id, at);
        Ok(at)
    }
}

/// Adds the records of a submission to a packet.
struct Adding<'a, 'tx> {
    tx: &'a mut WriteTx<'tx>,
    annotator: AnnotatorId,
    /// Row ids here by position, each question with the rows of its levels.
    questions: Vec<(QuestionId, Vec<LevelId>)>,
    texts: Vec<TextId>,
    copies: Vec<u32>,
    guidelines: Vec<GuidelineId>,
    wordings: Vec<u32>,
    events: HashMap<WorkKey, EventId>,
    last: u32,
    changed: BTreeSet<Key>,
}

impl<'a, 'tx> Adding<'a, 'tx> {
    fn new(tx: &'a mut WriteTx<'tx>, annotator: AnnotatorId, names: WorkNames) -> Result<Self> {
        let mut questions = Vec::with_capacity(names.questions.len());
        for WorkQuestion { name, levels } in names.questions {
            let question = tx.question_by_name(&name)?.ok_or_else(|| unknown("question", &name))?;
            let rows = rows_by_key(tx.conn, question.id).map_err(|e| tx.explain("reading the levels", e))?;
            let row = |key: &String| rows.get(key).copied().ok_or_else(|| unknown("level", key));
            questions.push((question.id, levels.iter().map(row).collect::<Result<_>>()?));
        }
        let mut texts = Vec::with_capacity(names.texts.len());
        for (id, digits) in &names.texts {
            let text = tx.text_by_external(id)?.ok_or_else(|| unknown("text", id))?;
            let body: Option<String> =
                tx.first("SELECT body FROM texts WHERE id = ?1", [text.0], |r| r.get(0))?;
            if body.is_none_or(|body| digits_of(&body) != *digits) {
                return Err(StoreError::Invalid {
                    what: format!("text \"{id}\""),
                    why: "it was changed in the packet".to_owned(),
                });
            }
            texts.push(text);
        }
        let copies = names
            .copies
            .iter()
            .map(|copy| tx.copy_row(CopyId(copy.id), copy.made_at_ms))
            .collect::<Result<_>>()?;
        let wordings = names.wordings.iter().map(|wording| tx.add_wording(wording)).collect::<Result<_>>()?;
        let guidelines = names.guidelines.into_iter().map(GuidelineId).collect();
        let last = tx.first(&format!("SELECT {} - 1", next_row("events")), [], |r| r.get(0))?.unwrap_or(0);
        Ok(Self {
            tx,
            annotator,
            questions,
            texts,
            copies,
            guidelines,
            wordings,
            events: HashMap::new(),
            last,
            changed: BTreeSet::new(),
        })
    }

    fn add(&mut self, record: WorkRecord) -> Result<()> {
        match record {
            WorkRecord::Event(event) => self.add_event(event),
            WorkRecord::Fact(fact) => self.add_fact(fact),
        }
    }

    fn add_event(&mut self, new: WorkEvent) -> Result<()> {
        let key = new.key;
        let (question, levels) = at(&self.questions, new.question, "question")?;
        let row = |level: LevelId| levels.get(usize::from(level.0)).copied().ok_or(level);
        let text = *at(&self.texts, new.text, "text")?;
        let kind = match (new.answer, new.retracts, new.mark) {
            (Some(answer), None, None) => {
                if let Some(level) = levels_of(&answer).into_iter().find_map(|level| row(level).err()) {
                    return Err(unknown("level", level.0));
                }
                let answer = with_levels(answer, |level| row(level).unwrap_or(level));
                let replaces = new.replaces.map(|key| self.event(key)).transpose()?;
                EventKind::Answer { answer, duration_ms: new.duration_ms, replaces }
            }
            (None, Some(of), None) => EventKind::Retraction { of: self.event(of)? },
            (None, None, Some(name)) => {
                EventKind::Mark(name.parse::<MarkKind>().map_err(|_| unknown("kind of event", &name))?)
            }
            _ => {
                return Err(StoreError::Invalid {
                    what: "event of the submission".to_owned(),
                    why: "it is an answer, a retraction or a mark, and only one of them".to_owned(),
                });
            }
        };
        let question = *question;
        let annotator = match new.annotator {
            None => self.annotator,
            Some(name) => match self.tx.annotator_by_external(&name)? {
                Some(known) => known,
                None => {
                    self.tx.add_annotator(&NewAnnotator { external_id: name, ..NewAnnotator::default() })?
                }
            },
        };
        let guideline = new
            .guideline
            .map(|place| at(&self.guidelines, place, "version of the guideline").copied())
            .transpose()?;
        let wording = new.wording.map(|place| at(&self.wordings, place, "wording").copied()).transpose()?;
        let copy = *at(&self.copies, key.0, "copy")?;
        self.last = self.last.checked_add(1).ok_or_else(|| unknown("event", u32::MAX))?;
        let place = EventPosition { event: self.last, copy, sequence: key.1 };
        let (occasion, at_ms, source) = (new.occasion, new.at_ms, new.source);
        let (kind, note) = (&kind, &new.note);
        let new =
            NewEvent { question, text, annotator, occasion, at_ms, source, kind, note, guideline, wording };
        self.tx.insert_event(place, &new)?;
        self.events.insert(key, EventId(self.last));
        self.changed.insert((question, text, annotator, occasion));
        Ok(())
    }

    /// Updates what follows from the events.
    fn finish(self) -> Result<()> {
        self.changed.iter().try_for_each(|key| self.tx.refresh_current(*key))
    }

    fn add_fact(&mut self, new: WorkFact) -> Result<()> {
        let of: FactKind = new.kind.parse().map_err(|_| unknown("kind of fact", &new.kind))?;
        if !of.is_of_person() {
            return Err(StoreError::Invalid {
                what: format!("{of} in the submission"),
                why: "only the study sets it".to_owned(),
            });
        }
        let question = new.question.map(|place| at(&self.questions, place, "question")).transpose()?;
        let value = match question {
            None => new.value,
            Some((_, levels)) => {
                let row = |level: LevelId| levels.get(usize::from(level.0)).copied().unwrap_or(level);
                (kind(of).with_levels)(new.value, &row)
            }
        };
        let question = question.map(|(id, _)| *id);
        let text = new.text.map(|place| at(&self.texts, place, "text").copied()).transpose()?;
        let annotator = Some(self.annotator);
        let fact = Fact { kind: of, question, text, annotator, key: new.key, at_ms: new.at_ms, value };
        self.tx.add_fact(&fact).map(drop)
    }

    /// An event of the submission that an earlier line added.
    fn event(&self, key: WorkKey) -> Result<EventId> {
        let named = || EventKey { copy: CopyId(Uuid::nil()), sequence: key.1 };
        self.events.get(&key).copied().ok_or_else(|| unknown("event", named()))
    }
}

fn levels_of(answer: &Answer) -> Vec<LevelId> {
    match answer {
        Answer::Level(level) => vec![*level],
        Answer::Options(set) => set.iter().map(|option| LevelId(option.into())).collect(),
        Answer::Spans(spans) => spans.as_slice().iter().map(|span| span.kind).collect(),
        Answer::CannotSay => Vec::new(),
    }
}

fn digits_of(body: &str) -> String {
    Sha256::digest(body)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn at<'a, T>(of: &'a [T], place: u32, what: &'static str) -> Result<&'a T> {
    of.get(place as usize).ok_or_else(|| unknown(what, place))
}

fn position(len: usize) -> Result<u32> {
    u32::try_from(len).map_err(|_| unknown("place in a submission", len))
}

fn unknown(what: &'static str, name: impl ToString) -> StoreError {
    StoreError::Unknown { what, name: name.to_string() }
}
