//! The log of a project: everything that was done and is in the file, newest first, a page at a time.
//!
//! Nothing is kept for it: every table that tells when something was done is a source, and a page is the newest rows of all sources
//! together. A page asks each source for no more rows than it has room for, so that a project of any size is never read into memory.

use crate::events::event_at;
use crate::places::Places;
use crate::row::{bad, uid};
use crate::tx::all;
use crate::{Result, Snapshot, Store};
use dissensus_domain::{
    AnnotatorId, Answer, CopyId, Event, EventId, HistoryKind, PacketId, QuestionId, TextId, WordingId,
};
use rusqlite::{Connection, Row, named_params};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use uuid::Uuid;

/// The setting with the copies whose events were taken in, each with the packet that it was work on.
const TAKEN_IN: &str = "copies_taken_in";

/// What is wanted of the log. Nothing set is all of it.
#[derive(Clone, Debug, Default)]
pub struct HistoryFilter {
    /// Entries of these kinds; all kinds where it is empty.
    pub kinds: Vec<HistoryKind>,
    /// What this person did, or what was done about them.
    pub annotator: Option<AnnotatorId>,
    /// What is about this text.
    pub text: Option<TextId>,
    /// What is about this question.
    pub question: Option<QuestionId>,
    /// Not before, in milliseconds since 1970-01-01 UTC.
    pub since_ms: Option<i64>,
    /// Not after.
    pub until_ms: Option<i64>,
    /// What was written holds this, or the text has this id.
    pub words: Option<String>,
    /// With `words`: also what these people did, because their names hold them.
    pub people: Vec<AnnotatorId>,
    /// With `words`: also what is signed with a name that holds them.
    pub signed: bool,
    /// Who reads, where somebody labels: of questions about texts that this person has not answered, nothing is found by what others said,
    /// and nothing is told of attention checks.
    pub reader: Option<AnnotatorId>,
}

/// Where an entry stands in the log: by time, then by source, then by row. The next page begins behind the last entry of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryPlace {
    /// When it was done, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// Which table tells it.
    pub source: u8,
    /// Its row there.
    pub row: i64,
}

/// One entry of the log.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryEntry {
    /// Where it stands.
    pub place: HistoryPlace,
    /// What kind of entry it is.
    pub kind: HistoryKind,
    /// Who did it, or whom it is about.
    pub annotator: Option<AnnotatorId>,
    /// The question it is about.
    pub question: Option<QuestionId>,
    /// The text it is about.
    pub text: Option<TextId>,
    /// In which copy it was done, where that is kept.
    pub copy: Option<CopyId>,
    /// The name it is signed with, where it is a name and no annotator.
    pub by: String,
    /// What was done.
    pub what: Done,
}

/// What was done.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// An answer, a retraction, a skip, a flag or a note, with the answer that it replaces or takes back.
    Event {
        /// The event.
        event: Box<Event>,
        /// The answer before.
        before: Option<Answer>,
    },
    /// An answer of a later occasion.
    Repeat {
        /// Which occasion.
        occasion: u16,
        /// The answer.
        answer: Answer,
        /// The wording of the question that was on screen, where it is known.
        wording: Option<WordingId>,
    },
    /// An answer of a later occasion was taken back, or counts again.
    RepeatChange {
        /// Which occasion.
        occasion: u16,
        /// The answer.
        answer: Answer,
        /// Whether it counts from here on.
        counts: bool,
    },
    /// Something was said beside an answer of a later occasion.
    RepeatRemark {
        /// Which occasion.
        occasion: u16,
        /// What was said; empty where it was nothing but reasons or how sure they are.
        note: String,
    },
    /// What was decided about a text.
    Decision {
        /// The outcome's name.
        outcome: String,
        /// The decided answer.
        answer: Option<Answer>,
        /// The comment.
        comment: String,
    },
    /// A version of the guideline.
    Guideline {
        /// What is new in it, in its author's words.
        change: String,
    },
    /// Levels of the question were named.
    LevelNames {
        /// All of them, in their order.
        names: Vec<String>,
    },
    /// Where the question is asked was set.
    Condition {
        /// The other question.
        other: QuestionId,
        /// Its levels; none where the question is always asked.
        levels: Vec<u16>,
    },
    /// What can be said beside an answer was set.
    RemarkForm {
        /// The reasons.
        reasons: Vec<String>,
        /// Whether it is asked how sure people are.
        confidence: bool,
    },
    /// A name or an attribute of a person.
    Person {
        /// The attribute; none where it is the name.
        attribute: Option<String>,
        /// Its value from then on; empty where it is not known any more.
        value: String,
    },
    /// A packet was handed out.
    HandedOut {
        /// Texts in it, those asked again included.
        texts: u32,
    },
    /// A packet was handed in.
    HandedIn {
        /// Answers in it.
        answers: u32,
    },
    /// The right answer of an attention check.
    Check {
        /// The answer; none where the text is no check any more.
        answer: Option<Answer>,
        /// Why it is the right one.
        reason: String,
    },
    /// A panel.
    Panel {
        /// Its name.
        name: String,
        /// Whether it is kept.
        kept: bool,
    },
    /// Long work.
    Job {
        /// `import`, `encode`, ...
        kind: String,
        /// What it worked on.
        title: String,
        /// How it ended, or `running`.
        state: String,
        /// What it did, or why it failed.
        note: Option<String>,
    },
    /// A training run.
    Run {
        /// Its number in this file.
        number: u32,
        /// How it ended, or `running`.
        state: String,
    },
    /// An evaluation or a fit.
    Evaluation {
        /// `evaluation` or `fit`.
        kind: String,
        /// How it ended, or `running`.
        state: String,
    },
    /// A fact: what the study sets, or what is noted of a person.
    Fact {
        /// Its kind.
        name: String,
        /// What holds from then on; null where nothing does.
        value: serde_json::Value,
    },
    /// Somebody withdrew.
    Withdrawal,
}

/// A copy, as the log names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyOrigin {
    /// Work in this file.
    Here,
    /// It was taken in from another copy of the project.
    Elsewhere,
    /// It was taken in with a packet.
    Packet(PacketId),
}

/// A table that tells when something was done: columns `at`, `row`, `kind`, `annotator`, `question`, `text`, `copy`, `signed` (a name),
/// `words` (what can be searched), `said` (JSON), and how `said` is read.
struct Source {
    sql: &'static str,
    read: fn(&str) -> serde_json::Result<Done>,
}

/// The source that tells events.
const EVENTS: usize = 1;

/// In the order in which entries of one moment stand, newest first: what is decided rests on the answers before it, and a job that was
/// begun in the same millisecond came before the answers that it read.
const SOURCES: [Source; 18] = [
    Source {
        sql: "SELECT at_ms AS at, row_number() OVER (ORDER BY at_ms, question, text, outcome, answer, comment, decided_by) AS row,
                  'decision' AS kind, NULL AS annotator, question, text, NULL AS copy, decided_by AS signed, comment AS words,
                  json_object('outcome', outcome, 'answer', answer, 'comment', comment) AS said FROM decisions",
        read: |said| {
            let DecisionRow { outcome, answer, comment } = serde_json::from_str(said)?;
            Ok(Done::Decision { outcome, answer: answer_or_none(&answer)?, comment })
        },
    },
    Source {
        // What was said is read event by event, for those of the page alone.
        sql: "SELECT at_ms AS at, id AS row,
                  CASE kind WHEN 'answer' THEN iif(source = 'import' OR source = 'simulated', 'imported-answer', 'answer')
                      WHEN 'unskip' THEN 'skip' WHEN 'unflag' THEN 'flag' ELSE kind END AS kind,
                  annotator, question, text, NULL AS copy, '' AS signed, note AS words, '' AS said FROM events",
        read: |_| Ok(Done::Withdrawal),
    },
    Source {
        sql: "SELECT at_ms AS at, row_number() OVER (ORDER BY at_ms, question, text, annotator, occasion, answer) AS row, 'repeat' AS kind,
                  annotator, question, text, NULL AS copy, '' AS signed, NULL AS words,
                  json_object('occasion', occasion, 'answer', answer, 'wording', (
                      SELECT hex(max(o.wording)) FROM repeat_origins AS o WHERE o.question = r.question AND o.text = r.text AND o.annotator = r.annotator
                      AND o.occasion = r.occasion AND o.at_ms = r.at_ms AND o.answer = r.answer AND o.wording <> x'' HAVING count(*) > 0)
                  ) AS said FROM repeats AS r",
        read: |said| {
            let RepeatRow { occasion, answer, wording, .. } = serde_json::from_str(said)?;
            let wording = wording.map(WordingId);
            Ok(Done::Repeat { occasion, answer: serde_json::from_str(&answer)?, wording })
        },
    },
    Source {
        sql: "SELECT changed_at_ms AS at,
                  row_number() OVER (ORDER BY changed_at_ms, question, text, annotator, occasion, at_ms, answer, counts) AS row,
                  'repeat' AS kind, annotator, question, text, NULL AS copy, '' AS signed, NULL AS words,
                  json_object('occasion', occasion, 'answer', answer, 'counts', counts) AS said FROM repeat_changes",
        read: |said| {
            let RepeatRow { occasion, answer, counts, .. } = serde_json::from_str(said)?;
            Ok(Done::RepeatChange { occasion, answer: serde_json::from_str(&answer)?, counts: counts > 0 })
        },
    },
    Source {
        // What came with an answer is told with it.
        sql: "SELECT said_at_ms AS at,
                  row_number() OVER (ORDER BY said_at_ms, question, text, annotator, occasion, at_ms, answer, note, reasons) AS row,
                  'repeat' AS kind, annotator, question, text, NULL AS copy, '' AS signed, note AS words,
                  json_object('occasion', occasion, 'note', note) AS said FROM repeat_remarks WHERE note <> '' OR said_at_ms <> at_ms",
        read: |said| {
            let RepeatRow { occasion, note, .. } = serde_json::from_str(said)?;
            Ok(Done::RepeatRemark { occasion, note })
        },
    },
    Source {
        sql: "SELECT at_ms AS at, id AS row, 'guideline' AS kind, NULL AS annotator, NULL AS question, NULL AS text, NULL AS copy,
                  written_by AS signed, change AS words, json_object('words', change) AS said FROM guidelines",
        read: |said| Ok(Done::Guideline { change: words(said)? }),
    },
    Source {
        sql: "SELECT changed_at_ms AS at, row_number() OVER (ORDER BY changed_at_ms, question, names) AS row, 'question' AS kind,
                  NULL AS annotator, question, NULL AS text, NULL AS copy, '' AS signed, names AS words, names AS said FROM level_names",
        read: |said| Ok(Done::LevelNames { names: serde_json::from_str(said)? }),
    },
    Source {
        sql: "SELECT changed_at_ms AS at, row_number() OVER (ORDER BY changed_at_ms, question, other, levels) AS row, 'question' AS kind,
                  NULL AS annotator, question, NULL AS text, NULL AS copy, '' AS signed, NULL AS words,
                  json_object('other', other, 'levels', levels) AS said FROM conditions",
        read: |said| {
            let ConditionRow { other, levels } = serde_json::from_str(said)?;
            Ok(Done::Condition { other: QuestionId(other), levels: serde_json::from_str(&levels)? })
        },
    },
    Source {
        sql: "SELECT changed_at_ms AS at, row_number() OVER (ORDER BY changed_at_ms, question, reasons, confidence) AS row,
                  'question' AS kind, NULL AS annotator, question, NULL AS text, NULL AS copy, '' AS signed, reasons AS words,
                  json_object('reasons', reasons, 'confidence', confidence) AS said FROM remark_forms",
        read: |said| {
            let FormRow { reasons, confidence } = serde_json::from_str(said)?;
            Ok(Done::RemarkForm { reasons: serde_json::from_str(&reasons)?, confidence: confidence > 0 })
        },
    },
    Source {
        // What was known when somebody was added has no time.
        sql: "SELECT changed_at_ms AS at, row_number() OVER (ORDER BY changed_at_ms, annotator, what, value) AS row, 'person' AS kind,
                  annotator, NULL AS question, NULL AS text, NULL AS copy, '' AS signed, NULL AS words,
                  json_object('what', what, 'value', value) AS said FROM annotator_changes WHERE changed_at_ms <> 0",
        read: |said| {
            let PersonRow { what, value } = serde_json::from_str(said)?;
            Ok(Done::Person { attribute: what.strip_prefix("attribute:").map(str::to_owned), value })
        },
    },
    Source {
        sql: "SELECT made_at_ms AS at, id AS row, 'packet' AS kind, annotator, NULL AS question, NULL AS text, NULL AS copy, '' AS signed,
                  NULL AS words, json_object('count', (SELECT count(*) FROM assignments WHERE packet = packets.id)) AS said FROM packets",
        read: |said| Ok(Done::HandedOut { texts: count(said)? }),
    },
    Source {
        sql: "SELECT h.at_ms AS at, row_number() OVER (ORDER BY h.at_ms, p.uid, h.answers) AS row, 'packet' AS kind, p.annotator AS annotator,
                  NULL AS question, NULL AS text, NULL AS copy, '' AS signed, NULL AS words, json_object('count', h.answers) AS said
              FROM hand_ins AS h JOIN packets AS p ON p.id = h.packet",
        read: |said| Ok(Done::HandedIn { answers: count(said)? }),
    },
    Source {
        sql: "SELECT at_ms AS at, row_number() OVER (ORDER BY at_ms, question, text, answer, reason) AS row, 'check' AS kind,
                  NULL AS annotator, question, text, NULL AS copy, '' AS signed, reason AS words,
                  json_object('outcome', '', 'answer', answer, 'comment', reason) AS said FROM attention_checks",
        read: |said| {
            let DecisionRow { answer, comment, .. } = serde_json::from_str(said)?;
            Ok(Done::Check { answer: answer_or_none(&answer)?, reason: comment })
        },
    },
    Source {
        sql: "SELECT saved_at_ms AS at, row_number() OVER (ORDER BY saved_at_ms, name, panel) AS row, 'panel' AS kind, NULL AS annotator,
                  NULL AS question, NULL AS text, NULL AS copy, '' AS signed, name AS words,
                  json_object('what', name, 'value', iif(panel = '', '', 'kept')) AS said FROM panels",
        read: |said| {
            let PersonRow { what: name, value } = serde_json::from_str(said)?;
            Ok(Done::Panel { name, kept: !value.is_empty() })
        },
    },
    Source {
        sql: "SELECT started_ms AS at, id AS row, 'job' AS kind, NULL AS annotator, NULL AS question, NULL AS text, NULL AS copy, '' AS signed,
                  title || ' ' || coalesce(note, '') AS words,
                  json_object('kind', kind, 'title', title, 'state', state, 'note', note) AS said FROM jobs",
        read: |said| {
            let JobRow { kind, title, state, note } = serde_json::from_str(said)?;
            Ok(Done::Job { kind, title, state, note })
        },
    },
    Source {
        sql: "SELECT started_ms AS at, id AS row, 'run' AS kind, NULL AS annotator, NULL AS question, NULL AS text, NULL AS copy, '' AS signed,
                  NULL AS words, json_object('number', id, 'kind', '', 'state', state) AS said FROM runs
              UNION ALL
              SELECT started_ms, -id, 'run', NULL, NULL, NULL, NULL, '', NULL, json_object('number', 0, 'kind', kind, 'state', state)
              FROM evaluations",
        read: |said| {
            let RunRow { number, kind, state } = serde_json::from_str(said)?;
            Ok(match number {
                0 => Done::Evaluation { kind, state },
                number => Done::Run { number, state },
            })
        },
    },
    Source {
        // What the study sets, and what is noted of people.
        sql: "SELECT at_ms AS at, id AS row, CASE WHEN kind IN ('prompt', 'help', 'levels', 'cannot-say') THEN 'question'
                  WHEN annotator IS NULL THEN 'setting' ELSE 'noted' END AS kind, annotator, question, text, NULL AS copy,
                  '' AS signed, value AS words, json_object('what', kind, 'value', value) AS said FROM facts",
        read: |said| {
            let PersonRow { what: name, value } = serde_json::from_str(said)?;
            Ok(Done::Fact { name, value: serde_json::from_str(&value)? })
        },
    },
    Source {
        sql: "SELECT at_ms AS at, row_number() OVER (ORDER BY at_ms, person, copy) AS row, 'withdrawal' AS kind, NULL AS annotator,
                  NULL AS question, NULL AS text, copy, '' AS signed, NULL AS words, '' AS said FROM withdrawals",
        read: |_| Ok(Done::Withdrawal),
    },
];

/// Whether what somebody said may be seen: everybody's own, and what is about no text or about one that the reader has answered.
const SEEN: &str = "(:reader IS NULL OR text IS NULL OR question IS NULL OR annotator IS :reader
           OR EXISTS (SELECT 1 FROM current_answers AS own
                      WHERE own.question = said.question AND own.text = said.text AND own.annotator = :reader))";

/// The newest rows of a source that fit. The order is that of a page, and the limit lets SQLite keep no more than it gives.
const PAGE: &str = "
    WHERE (at < :at OR (at = :at AND row < :row)) AND (:since IS NULL OR at >= :since)
      AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
      AND (:annotator IS NULL OR annotator = :annotator)
      AND (:text IS NULL OR text = :text) AND (:question IS NULL OR question = :question)
      AND (kind <> 'check' OR {SEEN})
      AND (:words IS NULL OR (instr(lower(coalesce(words, '')), :words) AND {SEEN}) OR (:signed AND instr(lower(signed), :words))
           OR text = :named OR annotator IN (SELECT value FROM json_each(:people)))
    ORDER BY at DESC, row DESC LIMIT :limit";

#[derive(Deserialize)]
struct RepeatRow {
    occasion: u16,
    #[serde(default)]
    answer: String,
    #[serde(default)]
    counts: u8,
    #[serde(default)]
    note: String,
    #[serde(default)]
    wording: Option<Uuid>,
}

#[derive(Deserialize)]
struct DecisionRow {
    outcome: String,
    answer: String,
    comment: String,
}

#[derive(Deserialize)]
struct ConditionRow {
    other: u32,
    levels: String,
}

#[derive(Deserialize)]
struct FormRow {
    reasons: String,
    confidence: u8,
}

#[derive(Deserialize)]
struct PersonRow {
    what: String,
    value: String,
}

#[derive(Deserialize)]
struct JobRow {
    kind: String,
    title: String,
    state: String,
    note: Option<String>,
}

#[derive(Deserialize)]
struct RunRow {
    number: u32,
    kind: String,
    state: String,
}

fn field<T: DeserializeOwned>(said: &str, name: &str) -> serde_json::Result<T> {
    let mut read: serde_json::Value = serde_json::from_str(said)?;
    serde_json::from_value(read[name].take())
}

fn words(said: &str) -> serde_json::Result<String> {
    field(said, "words")
}

fn count(said: &str) -> serde_json::Result<u32> {
    field(said, "count")
}

fn answer_or_none(json: &str) -> serde_json::Result<Option<Answer>> {
    if json.is_empty() { Ok(None) } else { serde_json::from_str(json).map(Some) }
}

/// What one source gives of a page.
fn of_source(
    c: &Connection,
    at: usize,
    filter: &HistoryFilter,
    after: Option<HistoryPlace>,
    limit: u32,
) -> rusqlite::Result<Vec<HistoryEntry>> {
    let source = &SOURCES[at];
    // Of the same moment, sources before the last entry's have been given, and those behind it have not.
    let row = |last: HistoryPlace| match (at as u8).cmp(&last.source) {
        std::cmp::Ordering::Less => i64::MIN,
        std::cmp::Ordering::Equal => last.row,
        std::cmp::Ordering::Greater => i64::MAX,
    };
    let (mut from, mut row) = after.map_or((i64::MAX, i64::MAX), |last| (last.at_ms, row(last)));
    if let Some(until) = filter.until_ms.filter(|until| *until < from) {
        (from, row) = (until, i64::MAX);
    }
    let kinds = (!filter.kinds.is_empty()).then(|| {
        serde_json::json!(filter.kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>()).to_string()
    });
    let people = serde_json::json!(filter.people.iter().map(|id| id.0).collect::<Vec<_>>()).to_string();
    let words = filter.words.as_ref().map(|words| words.to_ascii_lowercase());
    let named: Option<u32> = match &filter.words {
        Some(words) => {
            crate::tx::first(c, "SELECT id FROM texts WHERE external_id = ?1", [words], |r| r.get(0))?
        }
        None => None,
    };
    let sql = format!(
        "SELECT at, row, kind, annotator, question, text, copy, signed, said FROM ({}) AS said {}",
        source.sql,
        PAGE.replace("{SEEN}", SEEN)
    );
    let mut statement = c.prepare_cached(&sql)?;
    let rows = statement.query_map(
        named_params! {
            ":at": from, ":row": row, ":since": filter.since_ms, ":kinds": kinds,
            ":annotator": filter.annotator.map(|id| id.0), ":text": filter.text.map(|id| id.0),
            ":question": filter.question.map(|id| id.row().0), ":words": words, ":signed": filter.signed, ":named": named,
            ":people": people, ":limit": limit, ":reader": filter.reader.map(|id| id.0),
        },
        |row| entry(row, at, source),
    )?;
    let mut found: Vec<HistoryEntry> = rows.collect::<rusqlite::Result<_>>()?;
    if at == EVENTS {
        found.iter_mut().try_for_each(|entry| with_event(c, entry))?;
    } else {
        let places = Places::read(c)?;
        found.iter_mut().for_each(|entry| with_places(&places, entry));
    }
    Ok(found)
}

fn entry(row: &Row<'_>, at: usize, source: &Source) -> rusqlite::Result<HistoryEntry> {
    let kind: String = row.get(2)?;
    let copy = row.get_ref(6)?.as_blob_or_null().map_err(|e| bad(6, e))?.is_some();
    let said = row.get_ref(8)?.as_str().map_err(|e| bad(8, e))?;
    Ok(HistoryEntry {
        place: HistoryPlace { at_ms: row.get(0)?, source: at as u8, row: row.get(1)? },
        kind: kind.parse().map_err(|_| bad(2, format!("unknown kind of entry \"{kind}\"")))?,
        annotator: row.get::<_, Option<u32>>(3)?.map(AnnotatorId),
        question: row.get::<_, Option<u32>>(4)?.map(QuestionId),
        text: row.get::<_, Option<u32>>(5)?.map(TextId),
        copy: if copy { Some(CopyId(uid(row, 6)?)) } else { None },
        by: row.get(7)?,
        what: (source.read)(said).map_err(|e| bad(8, e))?,
    })
}

/// Answers and conditions with levels by their places; those of events have them already.
fn with_places(places: &Places, entry: &mut HistoryEntry) {
    let shown = |answer: &mut Answer| {
        if let Some(question) = entry.question {
            *answer = places.shown(question, answer.clone());
        }
    };
    match &mut entry.what {
        Done::Repeat { answer, .. } | Done::RepeatChange { answer, .. } => shown(answer),
        Done::Decision { answer: Some(answer), .. } | Done::Check { answer: Some(answer), .. } => {
            shown(answer)
        }
        Done::Condition { other, levels } => {
            levels.iter_mut().for_each(|level| *level = places.place(*other, *level));
        }
        _ => {}
    }
}

/// What an event says, and what was said before it.
fn with_event(c: &Connection, entry: &mut HistoryEntry) -> rusqlite::Result<()> {
    let id = EventId(u32::try_from(entry.place.row).map_err(|e| bad(1, e))?);
    let event = event_at(c, id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let before = match event.replaces().or(event.retracts()) {
        Some(before) => event_at(c, before)?.and_then(|event| event.answer().cloned()),
        None => None,
    };
    entry.copy = Some(event.key.copy);
    entry.what = Done::Event { event: Box::new(event), before };
    Ok(())
}

fn page(
    c: &Connection,
    filter: &HistoryFilter,
    after: Option<HistoryPlace>,
    limit: u32,
) -> rusqlite::Result<Vec<HistoryEntry>> {
    let mut found = Vec::new();
    for source in 0..SOURCES.len() {
        found.extend(of_source(c, source, filter, after, limit)?);
    }
    found.sort_by_key(|entry| (Reverse(entry.place.at_ms), entry.place.source, Reverse(entry.place.row)));
    found.truncate(limit as usize);
    Ok(found)
}

impl Store {
    /// Up to `limit` entries of the log that fit, newest first, those behind `after`.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn log(
        &self,
        filter: &HistoryFilter,
        after: Option<HistoryPlace>,
        limit: u32,
    ) -> Result<Vec<HistoryEntry>> {
        self.snapshot(|snapshot: &Snapshot<'_>| snapshot.read(|c| page(c, filter, after, limit)))
    }

    /// Every packet, and whom it was handed out to.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn packet_holders(&self) -> Result<Vec<(PacketId, AnnotatorId)>> {
        self.read("reading whom packets were handed out to", |c| {
            all(c, "SELECT uid, annotator FROM packets ORDER BY id", [], |r| {
                Ok((PacketId(uid(r, 0)?), AnnotatorId(r.get(1)?)))
            })
        })
    }

    /// Where copies were at work: those that were taken in, and with which packet; what is not here was done in this file.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn copy_origins(&self) -> Result<BTreeMap<CopyId, CopyOrigin>> {
        let known: BTreeMap<Uuid, Option<Uuid>> = self.setting(TAKEN_IN)?.unwrap_or_default();
        let origin = |packet: Option<Uuid>| {
            packet.map_or(CopyOrigin::Elsewhere, |id| CopyOrigin::Packet(PacketId(id)))
        };
        Ok(known.into_iter().map(|(copy, packet)| (CopyId(copy), origin(packet))).collect())
    }
}

impl crate::WriteTx<'_> {
    /// Notes that these copies were taken in, out of a packet or, where `there` says so, of what a whole copy had taken in.
    pub(crate) fn note_copies_taken_in(
        &mut self,
        copies: &[CopyId],
        packet: Option<PacketId>,
        there: &BTreeMap<CopyId, CopyOrigin>,
    ) -> Result<()> {
        if copies.is_empty() {
            return Ok(());
        }
        let mut known: BTreeMap<Uuid, Option<Uuid>> = self.setting(TAKEN_IN)?.unwrap_or_default();
        known.extend(copies.iter().map(|copy| {
            let packet = match (packet, there.get(copy)) {
                (None, Some(CopyOrigin::Packet(packet))) => Some(*packet),
                (packet, _) => packet,
            };
            (copy.0, packet.map(|packet| packet.0))
        }));
        self.set_setting(TAKEN_IN, &known)
    }
}
