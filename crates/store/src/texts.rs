//! Adding, finding and reading texts.

use crate::deleting::next_row;
use crate::error::is_duplicate;
use crate::row::{json, to_json};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{MAX_TEXT_BYTES, Text, TextId};
use rusqlite::Row;
use std::collections::BTreeMap;

pub(crate) const TEXT_COLUMNS: &str = "id, external_id, body, \"group\", split, metadata";

/// A text to add. See [`Text`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewText {
    /// The id in other tools; unique in the project.
    pub external_id: String,
    /// The text to be judged; at most [`MAX_TEXT_BYTES`] bytes.
    pub body: String,
    /// The document or thread that the text is part of.
    pub group: Option<String>,
    /// The part of the official split, as named in the file.
    pub split: Option<String>,
    /// All other columns of the file that it was read from.
    pub metadata: BTreeMap<String, String>,
}

pub(crate) fn text(row: &Row<'_>) -> rusqlite::Result<Text> {
    Ok(Text {
        id: TextId(row.get(0)?),
        external_id: row.get(1)?,
        body: row.get(2)?,
        group: row.get(3)?,
        split: row.get(4)?,
        metadata: json(row, 5)?,
    })
}

impl WriteTx<'_> {
    /// Finds a text by external id.
    pub fn text_by_external(&self, external_id: &str) -> Result<Option<TextId>> {
        self.first("SELECT id FROM texts WHERE external_id = ?1", [external_id], |r| Ok(TextId(r.get(0)?)))
    }

    /// Adds a text without a time: data that another copy of the project recorded with a time takes
    /// precedence.
    ///
    /// # Errors
    /// Like [`WriteTx::add_text_at`].
    pub fn add_text(&mut self, new: &NewText) -> Result<TextId> {
        self.add_text_at(new, 0)
    }

    /// Adds a text. If another copy of the project adds it too, the later group, split and metadata
    /// take precedence.
    ///
    /// # Errors
    /// The external id is taken or empty, or the body is longer than [`MAX_TEXT_BYTES`].
    pub fn add_text_at(&mut self, new: &NewText, at_ms: i64) -> Result<TextId> {
        if new.external_id.is_empty() {
            return Err(StoreError::Invalid {
                what: "text".to_owned(),
                why: "its id must not be empty".to_owned(),
            });
        }
        if new.body.len() > MAX_TEXT_BYTES {
            return Err(StoreError::Invalid {
                what: format!("text \"{}\"", new.external_id),
                why: format!("it has {} bytes, and the most is {MAX_TEXT_BYTES}", new.body.len()),
            });
        }
        let metadata = to_json("metadata of a text", &new.metadata)?;
        self.insert(
            &format!(
                "INSERT INTO texts (id, external_id, body, \"group\", split, metadata, noted_at_ms) VALUES ({}, ?1, ?2, ?3, ?4, ?5, ?6)",
                next_row("texts")
            ),
            (&new.external_id, &new.body, &new.group, &new.split, metadata, at_ms),
        )
        .map(TextId)
        .map_err(|e| match is_duplicate(&e) {
            true => StoreError::Duplicate { what: "text", name: new.external_id.clone() },
            false => self.explain("adding a text", e),
        })
    }
}

impl Store {
    /// Finds a text by row id.
    pub fn text(&self, id: TextId) -> Result<Option<Text>> {
        self.read("reading a text", |c| {
            first(c, &format!("SELECT {TEXT_COLUMNS} FROM texts WHERE id = ?1"), [id.0], text)
        })
    }

    /// Finds a text by external id.
    pub fn text_by_external(&self, external_id: &str) -> Result<Option<Text>> {
        self.read("reading a text", |c| {
            first(c, &format!("SELECT {TEXT_COLUMNS} FROM texts WHERE external_id = ?1"), [external_id], text)
        })
    }

    /// Up to `limit` texts by row id, skipping the first `offset`.
    pub fn texts_page(&self, offset: u32, limit: u32) -> Result<Vec<Text>> {
        self.read("reading texts", |c| {
            let sql = format!("SELECT {TEXT_COLUMNS} FROM texts ORDER BY id LIMIT ?2 OFFSET ?1");
            all(c, &sql, (offset, limit), text)
        })
    }

    /// The row ids of all texts, in order.
    pub fn text_ids(&self) -> Result<Vec<TextId>> {
        self.read("reading the texts' ids", |c| {
            all(c, "SELECT id FROM texts ORDER BY id", [], |r| Ok(TextId(r.get(0)?)))
        })
    }

    /// Row id and number of characters of every text, by row id. Reads every body.
    pub fn text_lengths(&self) -> Result<Vec<(TextId, u32)>> {
        self.read("measuring the texts", |c| {
            all(c, "SELECT id, length(body) FROM texts ORDER BY id", [], |r| {
                Ok((TextId(r.get(0)?), r.get(1)?))
            })
        })
    }

    /// Row id and external id of every text, by row id.
    pub fn all_text_ids_and_externals(&self) -> Result<Vec<(TextId, String)>> {
        self.read("reading the texts' ids", |c| {
            all(c, "SELECT id, external_id FROM texts ORDER BY id", [], |r| {
                Ok((TextId(r.get(0)?), r.get(1)?))
            })
        })
    }

    /// The `most` largest groups of texts, with their numbers of texts.
    pub fn text_groups(&self, most: u32) -> Result<Vec<(String, u32)>> {
        let sql = "SELECT \"group\", count(*) FROM texts WHERE \"group\" IS NOT NULL
                   GROUP BY \"group\" ORDER BY count(*) DESC, \"group\" LIMIT ?1";
        self.read("reading the groups of texts", |c| all(c, sql, [most], |r| Ok((r.get(0)?, r.get(1)?))))
    }

    /// Calls `f` with every text, by row id, until it returns an error.
    ///
    /// # Errors
    /// The error of `f`, or an I/O error.
    pub fn for_each_text<E: From<StoreError>>(
        &self,
        mut f: impl FnMut(Text) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.read_with(|c, explain| {
            let mut statement = c
                .prepare_cached(&format!("SELECT {TEXT_COLUMNS} FROM texts ORDER BY id"))
                .map_err(explain)?;
            let mut rows = statement.query([]).map_err(explain)?;
            while let Some(row) = rows.next().map_err(explain)? {
                f(text(row).map_err(explain)?)?;
            }
            Ok(())
        })
    }

    /// The bodies of these texts, in the given order.
    ///
    /// # Errors
    /// [`StoreError::Unknown`] if a text is not in the project.
    pub fn bodies(&self, ids: &[TextId]) -> Result<Vec<String>> {
        self.read_with(|c, explain| {
            ids.iter()
                .map(|id| {
                    first(c, "SELECT body FROM texts WHERE id = ?1", [id.0], |r| r.get(0))
                        .map_err(explain)?
                        .ok_or_else(|| StoreError::Unknown { what: "text", name: id.0.to_string() })
                })
                .collect()
        })
    }

    /// The texts whose body or external id contains `substring`, by row id.
    ///
    /// Case is ignored as defined by Unicode, so that searching in lower case finds `STRASSE`,
    /// `ÉTÉ` and `ΣΟΦΟΣ`; accents are significant, and `ß` differs from `ss`. Reads every body:
    /// about 20 ms for 10,000 comments.
    pub fn search_texts(&self, substring: &str) -> Result<Vec<TextId>> {
        let wanted = fold(substring);
        self.read("searching the texts", |c| {
            let mut found = Vec::new();
            let mut statement = c.prepare_cached("SELECT id, body, external_id FROM texts ORDER BY id")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let text = |column| row.get_ref(column)?.as_str().map_err(|e| crate::row::bad(column, e));
                if fold(text(1)?).contains(&wanted) || fold(text(2)?).contains(&wanted) {
                    found.push(TextId(row.get(0)?));
                }
            }
            Ok(found)
        })
    }
}

/// Converts to lower case and unifies the two lower-case sigmas, whose use depends on the next
/// letter.
fn fold(text: &str) -> String {
    let mut lower = text.to_lowercase();
    if lower.contains('ς') {
        lower = lower.replace('ς', "σ");
    }
    lower
}
