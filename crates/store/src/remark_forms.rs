//! The notes that questions offer, stored as facts, of which the latest is in effect.

use crate::row::{json, to_json};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{QuestionId, RemarkForm};
use rusqlite::Connection;

/// A change to the notes that a question offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewRemarkForm {
    pub(crate) question: QuestionId,
    pub(crate) changed_at_ms: i64,
    pub(crate) form: RemarkForm,
}

/// The notes that a question currently offers.
pub(crate) fn remark_form(conn: &Connection, question: QuestionId) -> rusqlite::Result<RemarkForm> {
    let sql = "SELECT reasons, confidence FROM remark_forms WHERE question = ?1
               ORDER BY changed_at_ms DESC, reasons DESC, confidence DESC LIMIT 1";
    let found =
        first(conn, sql, [question.0], |r| Ok(RemarkForm { reasons: json(r, 0)?, confidence: r.get(1)? }))?;
    Ok(found.unwrap_or_default())
}

impl WriteTx<'_> {
    /// Sets the notes that a question offers. Existing notes are unchanged.
    ///
    /// # Errors
    /// There is no such question, or the reasons are invalid.
    pub fn set_remark_form(&mut self, question: QuestionId, form: &RemarkForm, now_ms: i64) -> Result<()> {
        let unknown = || StoreError::Unknown { what: "question", name: question.0.to_string() };
        let found = self.question(question)?.ok_or_else(unknown)?;
        if found.remarks == *form {
            return Ok(());
        }
        let refused =
            |why| StoreError::Invalid { what: format!("reasons of {}", found.name), why: format!("{why}") };
        form.check().map_err(refused)?;
        let sql =
            "SELECT max(?2, coalesce(max(changed_at_ms) + 1, ?2)) FROM remark_forms WHERE question = ?1";
        let changed_at_ms = self.first(sql, (question.0, now_ms), |r| r.get(0))?.unwrap_or(now_ms);
        self.add_remark_form(&NewRemarkForm { question, changed_at_ms, form: form.clone() }).map(drop)
    }

    /// Adds the form as a fact. Returns whether it was new.
    pub(crate) fn add_remark_form(&mut self, new: &NewRemarkForm) -> Result<bool> {
        let reasons = to_json("reasons", &new.form.reasons)?;
        let sql =
            "INSERT INTO remark_forms (question, changed_at_ms, reasons, confidence) VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT DO NOTHING";
        let row = (new.question.0, new.changed_at_ms, &reasons, new.form.confidence);
        Ok(self.run(sql, row).map_err(|e| self.explain("setting the reasons of a question", e))? > 0)
    }
}

impl Store {
    /// All changes to the notes that questions offer.
    pub(crate) fn all_remark_forms(&self) -> Result<Vec<NewRemarkForm>> {
        let sql = "SELECT question, changed_at_ms, reasons, confidence FROM remark_forms";
        self.read("reading the reasons of questions", |c| {
            all(c, sql, [], |r| {
                let form = RemarkForm { reasons: json(r, 2)?, confidence: r.get(3)? };
                Ok(NewRemarkForm { question: QuestionId(r.get(0)?), changed_at_ms: r.get(1)?, form })
            })
        })
    }
}
