//! Annotators: adding them, reading them, and what is known of them.

use crate::deleting::next_row;
use crate::error::is_duplicate;
use crate::row::{json, to_json};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{Annotator, AnnotatorId, Attributes};
use rusqlite::Row;

const COLUMNS: &str = "id, external_id, name, attributes, simulated";

/// An annotator to add. See [`Annotator`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewAnnotator {
    /// The name other tools know the person by; unique in the project.
    pub external_id: String,
    /// What the window shows.
    pub name: String,
    /// Gender, age band, ...
    pub attributes: Attributes,
    /// True where no person stands behind the labels.
    pub simulated: bool,
}

pub(crate) fn annotator(row: &Row<'_>) -> rusqlite::Result<Annotator> {
    Ok(Annotator {
        id: AnnotatorId(row.get(0)?),
        external_id: row.get(1)?,
        name: row.get(2)?,
        attributes: json(row, 3)?,
        simulated: row.get(4)?,
    })
}

impl WriteTx<'_> {
    /// The annotator with this external id.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn annotator_by_external(&self, external_id: &str) -> Result<Option<AnnotatorId>> {
        self.first("SELECT id FROM annotators WHERE external_id = ?1", [external_id], |r| {
            Ok(AnnotatorId(r.get(0)?))
        })
    }

    /// Adds an annotator.
    ///
    /// # Errors
    /// The external id is taken or empty.
    pub fn add_annotator(&mut self, new: &NewAnnotator) -> Result<AnnotatorId> {
        let id = self.insert_annotator(new)?;
        self.note_new_annotator(id, &new.name, &new.attributes)?;
        Ok(id)
    }

    /// Adds the row of an annotator; what is known of the person is noted by the caller.
    pub(crate) fn insert_annotator(&mut self, new: &NewAnnotator) -> Result<AnnotatorId> {
        if new.external_id.is_empty() {
            return Err(StoreError::Invalid {
                what: "annotator".to_owned(),
                why: "the id must not be empty".to_owned(),
            });
        }
        self.must_not_have_withdrawn(&new.external_id)?;
        let attributes = to_json("attributes of an annotator", &new.attributes)?;
        // The row of somebody who was erased is not used again.
        let row = next_row("annotators");
        self.insert(
            &format!("INSERT INTO annotators (id, external_id, name, attributes, simulated) VALUES ({row}, ?1, ?2, ?3, ?4)"),
            (&new.external_id, &new.name, attributes, new.simulated),
        )
        .map(AnnotatorId)
        .map_err(|e| match is_duplicate(&e) {
            true => StoreError::Duplicate { what: "annotator", name: new.external_id.clone() },
            false => self.explain("adding an annotator", e),
        })
    }

    /// Notes that no person stands behind the labels of somebody. Returns whether that was not known.
    pub(crate) fn note_simulated(&mut self, id: AnnotatorId) -> Result<bool> {
        let changed = self.run("UPDATE annotators SET simulated = 1 WHERE id = ?1 AND simulated = 0", [id.0]);
        Ok(changed.map_err(|e| self.explain("changing an annotator", e))? > 0)
    }

    /// What is known of an annotator.
    ///
    /// # Errors
    /// There is no such annotator.
    pub fn attributes(&self, id: AnnotatorId) -> Result<Attributes> {
        self.first("SELECT attributes FROM annotators WHERE id = ?1", [id.0], |r| json(r, 0))?
            .ok_or_else(|| unknown(id))
    }

    /// Replaces what is known of an annotator from now on. An attribute with an empty value is not known.
    ///
    /// # Errors
    /// There is no such annotator.
    pub fn set_attributes(&mut self, id: AnnotatorId, attributes: &Attributes, now_ms: i64) -> Result<()> {
        let before = self.attributes(id)?;
        self.note_attributes(id, &before, attributes, now_ms)?;
        self.refresh_annotator(id)
    }

    /// Changes the name that the window shows.
    ///
    /// # Errors
    /// There is no such annotator.
    pub fn rename_annotator(&mut self, id: AnnotatorId, name: &str, now_ms: i64) -> Result<()> {
        self.attributes(id)?;
        self.note_name(id, name, now_ms)?;
        self.refresh_annotator(id)
    }
}

fn unknown(id: AnnotatorId) -> StoreError {
    StoreError::Unknown { what: "annotator", name: id.0.to_string() }
}

/// Every annotator, by row.
pub(crate) fn all_in(c: &rusqlite::Connection) -> rusqlite::Result<Vec<Annotator>> {
    all(c, &format!("SELECT {COLUMNS} FROM annotators ORDER BY id"), [], annotator)
}

impl Store {
    /// Every annotator, in row order.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn annotators(&self) -> Result<Vec<Annotator>> {
        self.read("reading the annotators", all_in)
    }

    /// The annotator with this row.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn annotator(&self, id: AnnotatorId) -> Result<Option<Annotator>> {
        self.read("reading an annotator", |c| {
            first(c, &format!("SELECT {COLUMNS} FROM annotators WHERE id = ?1"), [id.0], annotator)
        })
    }

    /// The annotator with this external id.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn annotator_by_external(&self, external_id: &str) -> Result<Option<Annotator>> {
        self.read("reading an annotator", |c| {
            first(
                c,
                &format!("SELECT {COLUMNS} FROM annotators WHERE external_id = ?1"),
                [external_id],
                annotator,
            )
        })
    }
}
