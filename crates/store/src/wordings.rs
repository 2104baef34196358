//! Wordings of questions, and which one was on screen with an answer.

use crate::labels::{IS_LABEL, current_of};
use crate::levels::ever;
use crate::log::{names_ever, select};
use crate::questions::as_added;
use crate::row::{json, to_json, uid};
use crate::tx::{all, first};
use crate::{Result, Snapshot, Store, StoreError, WriteTx};
use dissensus_domain::{CurrentLabel, Fact, FactKind, Levels, QuestionHelp, QuestionId, Wording, WordingId};
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// Maximum length of a wording's JSON, in bytes, since wordings from other copies are read into
/// memory.
const LARGEST_WORDING: usize = 1 << 20;

/// A wording that answers refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordingVersion {
    pub id: WordingId,
    pub wording: Wording,
    /// Number within its question, from 1, by the time of the first answer, then by id.
    pub number: u32,
    /// Time of the first answer under this wording, in milliseconds since 1970-01-01 UTC.
    pub first_ms: i64,
    /// Number of answers given under it, including those that no longer count.
    pub answers: u32,
}

/// The first 16 bytes of the SHA-256 of the contents.
fn id_of(content: &str) -> WordingId {
    let mut first = [0; 16];
    first.copy_from_slice(&Sha256::digest(content)[..16]);
    WordingId(Uuid::from_bytes(first))
}

impl WriteTx<'_> {
    /// The row id of the current wording of a question.
    pub(crate) fn current_wording(&self, question: QuestionId) -> Result<Option<u32>> {
        let Some(question) = self.question(question)? else { return Ok(None) };
        self.add_wording(&Wording::from(&question)).map(Some)
    }

    /// The row id of a wording, which is added if it is new.
    pub(crate) fn add_wording(&self, wording: &Wording) -> Result<u32> {
        let content = to_json("wording", wording)?;
        if content.len() > LARGEST_WORDING {
            return Err(StoreError::Invalid {
                what: format!("wording of {}", wording.question),
                why: format!("it has {} bytes, and may have {LARGEST_WORDING}", content.len()),
            });
        }
        let id = id_of(&content);
        if let Some(row) = self.wording_row(Some(id))? {
            return Ok(row);
        }
        self.run("INSERT INTO wordings (uid, content) VALUES (?1, ?2)", (id.0, content))
            .map_err(|e| self.explain("adding a wording", e))?;
        self.wording_row(Some(id))?
            .ok_or_else(|| StoreError::Unknown { what: "wording", name: id.to_string() })
    }

    /// Whether every part of a wording was used in this question at some time: its prompt, its
    /// help, and each level with its definition.
    pub(crate) fn was_ever_worded(&self, question: QuestionId, wording: &Wording) -> Result<bool> {
        let Some(now) = self.question(question)? else { return Ok(false) };
        let explain = |e| self.explain("reading how a question was worded", e);
        let added = as_added(self.conn, &now.name).map_err(explain)?;
        let first = added.as_ref().map_or(usize::MAX, |added| added.scale.levels().len());
        let which = "WHERE kind IN ('prompt', 'help', 'levels', 'cannot-say') AND question = ?1";
        let facts = select(self.conn, which, [question.0]).map_err(explain)?;
        let mut prompts: HashSet<String> = added.map(|added| added.prompt).into_iter().collect();
        let mut helps = vec![QuestionHelp::default()];
        let mut levels: HashSet<(String, String)> = HashSet::new();
        let mut named = |name: String| {
            levels.insert((name, String::new()));
        };
        ever(self.conn, question).map_err(explain)?.into_iter().for_each(&mut named);
        let names = names_ever(self.conn, question).map_err(explain)?;
        let mut fewest = now.scale.levels().len().min(first);
        fewest = names.iter().map(Vec::len).fold(fewest, usize::min);
        names.into_iter().flatten().for_each(named);
        let mut cannot_say = false;
        for Fact { kind, value, .. } in facts {
            match kind {
                FactKind::Prompt => prompts.extend(value.as_str().map(str::to_owned)),
                FactKind::Help => helps.extend(serde_json::from_value(value)),
                FactKind::CannotSay => cannot_say |= value == true,
                FactKind::Levels => {
                    let known = serde_json::from_value::<Levels>(value).unwrap_or_default().levels;
                    fewest = fewest.min(known.len());
                    levels.extend(known.into_iter().map(|level| (level.name, level.definition)));
                }
                _ => {}
            }
        }
        let distinct: HashSet<&String> = wording.levels.iter().map(|(name, _)| name).collect();
        Ok(wording.question == now.name
            && prompts.contains(&wording.prompt)
            && helps.contains(&wording.help)
            && distinct.len() == wording.levels.len()
            && distinct.len() >= fewest
            && wording.levels.iter().all(|level| levels.contains(level))
            && (cannot_say || !wording.cannot_say))
    }

    pub(crate) fn wording_row(&self, id: Option<WordingId>) -> Result<Option<u32>> {
        let Some(id) = id else { return Ok(None) };
        self.first("SELECT id FROM wordings WHERE uid = ?1", [id.0], |r| r.get(0))
    }

    /// Removes the wordings of a question that is being removed.
    pub(crate) fn remove_wordings(&self, question: QuestionId) -> Result<()> {
        let sql = "DELETE FROM wordings WHERE json_extract(content, '$.question') = (SELECT name FROM questions WHERE id = ?1)";
        self.run(sql, [question.0])
            .map(drop)
            .map_err(|e| self.explain("removing the wordings of a question", e))
    }
}

fn versions(c: &Connection) -> rusqlite::Result<Vec<WordingVersion>> {
    let sql = "SELECT w.uid, w.content, e.first_ms, e.answers FROM wordings AS w JOIN (
                   SELECT wording, min(at_ms) AS first_ms, count(*) AS answers FROM events WHERE wording IS NOT NULL GROUP BY wording
               ) AS e ON e.wording = w.id";
    let mut found = all(c, sql, [], |r| {
        let wording: Wording = json(r, 1)?;
        Ok(WordingVersion {
            id: WordingId(uid(r, 0)?),
            wording,
            number: 0,
            first_ms: r.get(2)?,
            answers: r.get(3)?,
        })
    })?;
    found.sort_by(|a, b| {
        (&a.wording.question, a.first_ms, a.id).cmp(&(&b.wording.question, b.first_ms, b.id))
    });
    for versions in found.chunk_by_mut(|a, b| a.wording.question == b.wording.question) {
        for (number, version) in (1..).zip(versions) {
            version.number = number;
        }
    }
    Ok(found)
}

impl Store {
    /// The wordings that answers refer to, by question and number.
    pub fn wordings(&self) -> Result<Vec<WordingVersion>> {
        self.read("reading the wordings", versions)
    }

    /// All current labels, by text, then annotator, each with the wording of the question that its
    /// annotator had on screen, if known.
    pub fn labels_by_wording(&self, question: QuestionId) -> Result<Vec<(CurrentLabel, Option<WordingId>)>> {
        let sql = format!(
            "SELECT a.event, a.text, a.annotator, a.level, a.content, w.uid
             FROM current_answers AS a CROSS JOIN events AS e ON e.id = a.event LEFT JOIN wordings AS w ON w.id = e.wording
             WHERE a.question = ?1 AND a.occasion = 1 AND a.{IS_LABEL} ORDER BY a.text, a.annotator"
        );
        self.read("reading labels and wordings", |c| {
            let label = current_of(question);
            all(c, &sql, [question.row().0], |row| {
                Ok((label(row)?, row.get::<_, Option<Uuid>>(5)?.map(WordingId)))
            })
        })
    }

    /// The number of each wording within its question.
    pub fn wording_numbers(&self) -> Result<HashMap<WordingId, u32>> {
        Ok(self.wordings()?.into_iter().map(|version| (version.id, version.number)).collect())
    }

    /// Finds a wording by id.
    pub(crate) fn wording(&self, id: WordingId) -> Result<Option<Wording>> {
        self.read("reading a wording", |c| {
            first(c, "SELECT content FROM wordings WHERE uid = ?1", [id.0], |r| json(r, 0))
        })
    }
}

impl Snapshot<'_> {
    /// The number of each wording within its question.
    pub fn wording_numbers(&self) -> Result<HashMap<WordingId, u32>> {
        Ok(self.read(versions)?.into_iter().map(|version| (version.id, version.number)).collect())
    }
}
