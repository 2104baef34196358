//! The history of a project: everything that was done, newest first, in pages.
//!
//! The history is not stored. Every table with times is a source, and a page is the union of the
//! newest rows of all sources. Each source is queried for at most as many rows as fit on the page,
//! so that memory use does not depend on the size of the project.

use crate::events::event_at;
use crate::history_entry::{CopyOrigin, Done, HistoryEntry, HistoryFilter, HistoryPlace};
use crate::identity::is_of_content;
use crate::log::{Listed, kind, select};
use crate::row::{bad, uid};
use crate::tx::all;
use crate::{Result, Snapshot, Store};
use dissensus_domain::{AnnotatorId, CopyId, EventId, FactKind, PacketId, QuestionId, TextId};
use rusqlite::{Connection, Row, named_params};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use strum::VariantArray as _;
use uuid::Uuid;

/// The setting with the merged copies, each with the task packet that it was work on.
const TAKEN_IN: &str = "copies_taken_in";

/// A source table, as a query with columns `at`, `row`, `kind`, `annotator`, `question`, `text`,
/// `copy`, `signed` (a name), `words` (searchable text), `said` (JSON), and a function that parses
/// `said`.
struct Source {
    sql: String,
    contents: Contents,
}

/// Where the contents of an entry come from.
enum Contents {
    /// The column `said`.
    Json(fn(&str) -> serde_json::Result<Done>),
    /// The event of this row; they are read for the events of the page only.
    Event,
    /// The fact of this row.
    Fact,
}

/// Sources in the order in which entries of the same time are listed, newest first: facts of all kinds
/// follow the answers of the same millisecond, since a decision is based on answers; jobs and runs precede
/// both.
static SOURCES: LazyLock<[Source; 6]> = LazyLock::new(|| {
    let from_json = |sql: &str, read| Source { sql: sql.to_owned(), contents: Contents::Json(read) };
    [
        Source { sql: facts(), contents: Contents::Fact },
        Source {
            sql: "SELECT at_ms AS at, id AS row,
                  CASE WHEN occasion > 1 THEN 'repeat' ELSE CASE kind WHEN 'answer' THEN iif(source = 'import' OR source = 'simulated', 'imported-answer', 'answer')
                      WHEN 'unskip' THEN 'skip' WHEN 'unflag' THEN 'flag' ELSE kind END END AS kind,
                  annotator, question, text, NULL AS copy, '' AS signed, note AS words, '' AS said FROM events"
                .to_owned(),
            contents: Contents::Event,
        },
        from_json("SELECT at_ms AS at, id AS row, 'guideline' AS kind, NULL AS annotator, NULL AS question, NULL AS text, NULL AS copy,
                  written_by AS signed, change AS words, json_object('words', change) AS said FROM guidelines", |json| Ok(Done::Guideline { change: words(json)? })),
        from_json("SELECT made_at_ms AS at, id AS row, 'packet' AS kind, annotator, NULL AS question, NULL AS text, NULL AS copy, '' AS signed,
                  NULL AS words, json_object('count', (SELECT count(*) FROM assignments WHERE packet = packets.id)) AS said FROM packets", |json| Ok(Done::HandedOut { texts: count(json)? })),
        from_json("SELECT started_ms AS at, id AS row, 'job' AS kind, NULL AS annotator, NULL AS question, NULL AS text, NULL AS copy, '' AS signed,
                  title || ' ' || coalesce(note, '') AS words,
                  json_object('kind', kind, 'title', title, 'state', state, 'note', note) AS said FROM jobs", |json| {
            let JobRow { kind, title, state, note } = serde_json::from_str(json)?;
            Ok(Done::Job { kind, title, state, note })
        }),
        from_json("SELECT started_ms AS at, id AS row, 'run' AS kind, NULL AS annotator, NULL AS question, NULL AS text, NULL AS copy, '' AS signed,
                  NULL AS words, json_object('number', id, 'kind', '', 'state', state) AS said FROM runs
              UNION ALL
              SELECT started_ms, -id, 'run', NULL, NULL, NULL, NULL, '', NULL, json_object('number', 0, 'kind', kind, 'state', state)
              FROM evaluations", |json| {
            let RunRow { number, kind, state } = serde_json::from_str(json)?;
            Ok(match number {
                0 => Done::Evaluation { kind, state },
                number => Done::Run { number, state },
            })
        }),
    ]
});

/// The facts, with what each kind of them says of itself.
fn facts() -> String {
    let listed = FactKind::VARIANTS.iter().filter_map(|one| Some((one.name(), kind(*one).listed.as_ref()?)));
    let listed: Vec<(&str, &Listed)> = listed.collect();
    let case = |column: fn(&Listed) -> &'static str| {
        let arms = listed.iter().map(|(name, of)| format!("WHEN '{name}' THEN {}", column(of)));
        format!("CASE kind {} END", arms.collect::<Vec<_>>().join(" "))
    };
    format!(
        "SELECT at_ms AS at, id AS row, {} AS kind, annotator, question, text, {} AS copy, {} AS signed, {} AS words, '' AS said
         FROM facts WHERE {}",
        case(|of| of.kind),
        case(|of| of.copy),
        case(|of| of.signed),
        case(|of| of.words),
        case(|of| of.which)
    )
}

/// Whether the reader may see an entry's contents: their own, and entries about no text or about a text
/// that the reader has answered.
const SEEN: &str = "(:reader IS NULL OR text IS NULL OR question IS NULL OR annotator IS :reader
           OR EXISTS (SELECT 1 FROM current_answers AS own
                      WHERE own.question = said.question AND own.occasion = 1 AND own.text = said.text AND own.annotator = :reader))";

/// The newest matching rows of a source, in page order. The limit keeps SQLite from sorting more
/// rows than it returns.
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

fn field<T: DeserializeOwned>(json: &str, name: &str) -> serde_json::Result<T> {
    let mut read: serde_json::Value = serde_json::from_str(json)?;
    serde_json::from_value(read[name].take())
}

fn words(json: &str) -> serde_json::Result<String> {
    field(json, "words")
}

fn count(json: &str) -> serde_json::Result<u32> {
    field(json, "count")
}

/// The entries of a page from one source.
fn of_source(
    c: &Connection,
    at: usize,
    filter: &HistoryFilter,
    after: Option<HistoryPlace>,
    limit: u32,
) -> rusqlite::Result<Vec<HistoryEntry>> {
    let source = &SOURCES[at];
    // At the same time, sources before the last entry's have been listed, and those after it have
    // not.
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
    match source.contents {
        Contents::Event => {
            found.iter_mut().try_for_each(|entry| with_event(c, entry))?;
            return Ok(found);
        }
        Contents::Fact => found.iter_mut().try_for_each(|entry| with_fact(c, entry))?,
        Contents::Json(_) => {}
    }
    Ok(found)
}

fn entry(row: &Row<'_>, at: usize, source: &Source) -> rusqlite::Result<HistoryEntry> {
    let kind: String = row.get(2)?;
    let copy = row.get_ref(6)?.as_blob_or_null().map_err(|e| bad(6, e))?.is_some();
    let json = row.get_ref(8)?.as_str().map_err(|e| bad(8, e))?;
    let what = match source.contents {
        Contents::Json(read) => read(json).map_err(|e| bad(8, e))?,
        // Replaced by the contents of the row.
        Contents::Event | Contents::Fact => Done::Withdrawal,
    };
    Ok(HistoryEntry {
        place: HistoryPlace { at_ms: row.get(0)?, source: at as u8, row: row.get(1)? },
        kind: kind.parse().map_err(|_| bad(2, format!("unknown kind of entry \"{kind}\"")))?,
        annotator: row.get::<_, Option<u32>>(3)?.map(AnnotatorId),
        question: row.get::<_, Option<u32>>(4)?.map(QuestionId),
        text: row.get::<_, Option<u32>>(5)?.map(TextId),
        copy: if copy { Some(CopyId(uid(row, 6)?)) } else { None },
        by: row.get(7)?,
        what,
    })
}

/// Adds the contents of a fact.
fn with_fact(c: &Connection, entry: &mut HistoryEntry) -> rusqlite::Result<()> {
    let fact = select(c, "WHERE id = ?1", [entry.place.row])?.pop();
    let fact = fact.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    entry.what = (kind(fact.kind).done)(c, &fact)?;
    Ok(())
}

/// Adds the contents of an event, and the previous answer.
fn with_event(c: &Connection, entry: &mut HistoryEntry) -> rusqlite::Result<()> {
    let id = EventId(u32::try_from(entry.place.row).map_err(|e| bad(1, e))?);
    let event = event_at(c, id)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let before = match event.replaces().or(event.retracts()) {
        Some(before) => event_at(c, before)?.and_then(|event| event.answer().cloned()),
        None => None,
    };
    entry.copy = Some(event.key.copy).filter(|copy| !is_of_content(*copy));
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
    /// Up to `limit` matching entries after `after`, newest first.
    pub fn log(
        &self,
        filter: &HistoryFilter,
        after: Option<HistoryPlace>,
        limit: u32,
    ) -> Result<Vec<HistoryEntry>> {
        self.snapshot(|snapshot: &Snapshot<'_>| snapshot.read(|c| page(c, filter, after, limit)))
    }

    /// Every task packet with its annotator.
    pub fn packet_holders(&self) -> Result<Vec<(PacketId, AnnotatorId)>> {
        self.read("reading whom packets were handed out to", |c| {
            all(c, "SELECT uid, annotator FROM packets ORDER BY id", [], |r| {
                Ok((PacketId(uid(r, 0)?), AnnotatorId(r.get(1)?)))
            })
        })
    }

    /// The merged copies, each with the task packet that it was work on, if any. Copies that are
    /// not listed worked in this file.
    pub fn copy_origins(&self) -> Result<BTreeMap<CopyId, CopyOrigin>> {
        let known: BTreeMap<Uuid, Option<Uuid>> = self.setting(TAKEN_IN)?.unwrap_or_default();
        let origin = |packet: Option<Uuid>| {
            packet.map_or(CopyOrigin::Elsewhere, |id| CopyOrigin::Packet(PacketId(id)))
        };
        Ok(known.into_iter().map(|(copy, packet)| (CopyId(copy), origin(packet))).collect())
    }
}

impl crate::WriteTx<'_> {
    /// Records that these copies were merged: from a task packet, or, for those in `there`, from
    /// what a merged whole copy had merged itself.
    pub(crate) fn record_merged_copies(
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
