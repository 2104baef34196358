//! Versions of the guideline and their pictures.

use crate::labels::{IS_LABEL, current_of};
use crate::row::uid;
use crate::tx::{all, first};
use crate::{Result, Snapshot, Store, StoreError, WriteTx};
use dissensus_domain::{CurrentLabel, Guideline, GuidelineId, Picture, QuestionId};
use rusqlite::{Connection, Row};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

const COLUMNS: &str = "uid, at_ms, body, change, written_by";

fn guideline(row: &Row<'_>) -> rusqlite::Result<Guideline> {
    Ok(Guideline {
        id: GuidelineId(uid(row, 0)?),
        at_ms: row.get(1)?,
        body: row.get(2)?,
        change: row.get(3)?,
        by: row.get(4)?,
    })
}

fn picture(row: &Row<'_>) -> rusqlite::Result<Picture> {
    Ok(Picture { name: row.get(0)?, media_type: row.get(1)?, bytes: row.get(2)? })
}

/// The setting of a task packet with the number of guideline versions before the one in the packet.
pub(crate) const BEFORE: &str = "guideline.before";

/// The number of versions that precede the first one in this file: in a task packet, those that are
/// only in the project.
fn before(c: &Connection) -> rusqlite::Result<u32> {
    let sql = "SELECT CAST(value AS INTEGER) FROM settings WHERE key = ?1";
    Ok(first(c, sql, [BEFORE], |r| r.get(0))?.unwrap_or(0))
}

fn numbers(c: &Connection) -> rusqlite::Result<HashMap<GuidelineId, u32>> {
    let ids = all(c, "SELECT uid FROM guidelines ORDER BY at_ms, uid", [], |r| Ok(GuidelineId(uid(r, 0)?)))?;
    Ok(ids.into_iter().zip(before(c)? + 1..).collect())
}

fn newest(c: &Connection) -> rusqlite::Result<Option<(Guideline, u32)>> {
    let sql = format!(
        "SELECT {COLUMNS}, (SELECT count(*) FROM guidelines) FROM guidelines ORDER BY at_ms DESC, uid DESC LIMIT 1"
    );
    let found = first(c, &sql, [], |r| Ok((guideline(r)?, r.get::<_, u32>(5)?)))?;
    found.map(|(guideline, there)| Ok((guideline, before(c)? + there))).transpose()
}

impl WriteTx<'_> {
    /// Adds a guideline version with its pictures. It takes effect immediately, whatever the clock
    /// shows.
    pub fn write_guideline(&mut self, new: &Guideline, pictures: &[Picture]) -> Result<()> {
        for picture in pictures {
            self.add_picture(picture)?;
        }
        let last: Option<i64> = self.first("SELECT max(at_ms) FROM guidelines", [], |r| r.get(0))?.flatten();
        let at_ms = last.map_or(new.at_ms, |last| new.at_ms.max(last.saturating_add(1)));
        self.add_guideline(&Guideline { at_ms, ..new.clone() }).map(drop)
    }

    /// The guideline version in effect, and its number.
    pub fn newest_guideline(&self) -> Result<Option<(Guideline, u32)>> {
        newest(self.conn).map_err(|e| self.explain("reading the guideline", e))
    }

    /// Adds a version as a fact. Returns whether it was new.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if another version has the same id.
    pub(crate) fn add_guideline(&mut self, new: &Guideline) -> Result<bool> {
        let known =
            self.first(&format!("SELECT {COLUMNS} FROM guidelines WHERE uid = ?1"), [new.id.0], guideline)?;
        let by = self.name_unless_withdrawn(&new.by)?;
        // The author may have withdrawn, and only one of the copies may know that yet.
        let same = |known: &Guideline| {
            *known == Guideline { by: known.by.clone(), ..new.clone() }
                && (known.by == by || known.by.is_empty() || by.is_empty())
        };
        match known {
            Some(known) if same(&known) => return Ok(false),
            Some(_) => {
                return Err(StoreError::Conflict {
                    what: "version of the guideline",
                    name: new.id.to_string(),
                    why: "differs in the other copy",
                });
            }
            None => {}
        }
        let sql = format!("INSERT INTO guidelines ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5)");
        let row = (new.id.0, new.at_ms, &new.body, &new.change, by);
        self.run(&sql, row).map_err(|e| self.explain("writing the guideline", e))?;
        Ok(true)
    }

    /// Adds a picture as a fact. Returns whether it was new.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if another picture has the same name.
    pub(crate) fn add_picture(&mut self, new: &Picture) -> Result<bool> {
        let sql = "SELECT name, media_type, bytes FROM pictures WHERE name = ?1";
        match self.first(sql, [&new.name], picture)? {
            Some(known) if known == *new => return Ok(false),
            Some(_) => {
                return Err(StoreError::Conflict {
                    what: "picture",
                    name: new.name.clone(),
                    why: "is another one in the other copy",
                });
            }
            None => {}
        }
        let sql = "INSERT INTO pictures (name, media_type, bytes) VALUES (?1, ?2, ?3)";
        let added = self.run(sql, (&new.name, &new.media_type, &new.bytes));
        added.map_err(|e| self.explain("adding a picture", e))?;
        Ok(true)
    }

    /// The row id of the guideline version that an answer refers to.
    pub(crate) fn guideline_row(&self, id: Option<GuidelineId>) -> Result<Option<u32>> {
        let Some(id) = id else { return Ok(None) };
        let row = self.first("SELECT id FROM guidelines WHERE uid = ?1", [id.0], |r| r.get(0))?;
        row.map(Some)
            .ok_or_else(|| StoreError::Unknown { what: "version of the guideline", name: id.to_string() })
    }
}

/// Maximum size of a picture, in bytes.
pub const LARGEST_PICTURE: usize = 4 << 20;

/// Whether a picture is small enough, and its name is the first 16 hexadecimal digits of the
/// SHA-256 of its bytes.
pub(crate) fn is_named_by_its_bytes(picture: &Picture) -> bool {
    let digest = Sha256::digest(&picture.bytes);
    let name = digest[..8].iter().fold(String::new(), |name, byte| format!("{name}{byte:02x}"));
    picture.bytes.len() <= LARGEST_PICTURE && name == picture.name
}

fn versions(c: &Connection) -> rusqlite::Result<Vec<Guideline>> {
    all(c, &format!("SELECT {COLUMNS} FROM guidelines ORDER BY at_ms, uid"), [], guideline)
}

impl Snapshot<'_> {
    /// Like [`Store::guidelines`], from the snapshot.
    pub fn guidelines(&self) -> Result<Vec<Guideline>> {
        self.read(versions)
    }

    /// Like [`Store::guideline_numbers`], from the snapshot.
    pub fn guideline_numbers(&self) -> Result<HashMap<GuidelineId, u32>> {
        self.read(numbers)
    }
}

impl Store {
    /// All guideline versions, in the order of their numbers.
    pub fn guidelines(&self) -> Result<Vec<Guideline>> {
        self.read("reading the guideline", versions)
    }

    /// The number of each guideline version, from 1; in a task packet, the numbers in its project.
    pub fn guideline_numbers(&self) -> Result<HashMap<GuidelineId, u32>> {
        self.read("reading the guideline", numbers)
    }

    /// The guideline version in effect, and its number.
    pub fn newest_guideline(&self) -> Result<Option<(Guideline, u32)>> {
        self.read("reading the guideline", newest)
    }

    /// All current labels, by text, then annotator, each with the guideline version that its
    /// annotator had on screen.
    pub fn labels_by_guideline(
        &self,
        question: QuestionId,
    ) -> Result<Vec<(CurrentLabel, Option<GuidelineId>)>> {
        let sql = format!(
            "SELECT a.event, a.text, a.annotator, a.level, a.content, g.uid
             FROM current_answers AS a CROSS JOIN events AS e ON e.id = a.event
             LEFT JOIN guidelines AS g ON g.id = e.guideline
             WHERE a.question = ?1 AND a.occasion = 1 AND a.{IS_LABEL} ORDER BY a.text, a.annotator"
        );
        self.read("reading labels and guidelines", |c| {
            let label = current_of(question);
            all(c, &sql, [question.row().0], |row| {
                let guideline: Option<uuid::Uuid> = row.get(5)?;
                Ok((label(row)?, guideline.map(GuidelineId)))
            })
        })
    }

    /// Finds a picture by name.
    pub fn picture(&self, name: &str) -> Result<Option<Picture>> {
        let sql = "SELECT name, media_type, bytes FROM pictures WHERE name = ?1";
        self.read("reading a picture", |c| first(c, sql, [name], picture))
    }

    /// The names of all pictures.
    pub fn picture_names(&self) -> Result<Vec<String>> {
        let sql = "SELECT name FROM pictures ORDER BY name";
        self.read("reading pictures", |c| all(c, sql, [], |r| r.get(0)))
    }
}
