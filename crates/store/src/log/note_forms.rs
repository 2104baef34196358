//! The notes that questions offer.

use super::question_facts::EDIT;
use super::{Kind, Listed, checked, read, select};
use crate::{Done, Result, StoreError, WriteTx};
use dissensus_domain::{Fact, FactKind, NoteForm, QuestionId};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The value.
#[derive(Serialize, Deserialize)]
struct Form {
    confidence: bool,
    reasons: Vec<String>,
}

pub(super) const KIND: Kind = Kind {
    noun: Some("list of reasons"),
    check: |_, fact| checked::<Form>(fact).map(drop),
    sound: |_, fact, _| {
        let Form { confidence, reasons } = read(&fact.value).map_err(|e| e.to_string())?;
        NoteForm { reasons, confidence }.check().map_err(|e| e.to_string())
    },
    order: |value, _| {
        let Form { confidence, reasons } = read(value)?;
        Ok(format!("{}\0{confidence}", json!(reasons)))
    },
    listed: Some(Listed { words: "json_extract(value, '$.reasons')", ..Listed::new("'question'") }),
    done: |_, fact| {
        let Form { confidence, reasons } = read(&fact.value)?;
        Ok(Done::RemarkForm { reasons, confidence })
    },
    ..EDIT
};

/// The notes that a question currently offers.
pub(crate) fn note_form(conn: &Connection, question: QuestionId) -> rusqlite::Result<NoteForm> {
    let which = "WHERE kind = 'remark-form' AND coalesce(question, 0) = ?1";
    let Some(fact) = select(conn, which, [question.0])?.pop() else { return Ok(NoteForm::default()) };
    let Form { confidence, reasons } = read(&fact.value)?;
    Ok(NoteForm { reasons, confidence })
}

impl WriteTx<'_> {
    /// Sets the notes that a question offers. Existing notes are unchanged.
    ///
    /// # Errors
    /// There is no such question, or the reasons are invalid.
    pub fn set_note_form(&mut self, question: QuestionId, form: &NoteForm, now_ms: i64) -> Result<()> {
        let unknown = || StoreError::Unknown { what: "question", name: question.0.to_string() };
        let found = self.question(question)?.ok_or_else(unknown)?;
        if found.note_form == *form {
            return Ok(());
        }
        let refused =
            |why| StoreError::Invalid { what: format!("reasons of {}", found.name), why: format!("{why}") };
        form.check().map_err(refused)?;
        let value = json!(Form { confidence: form.confidence, reasons: form.reasons.clone() });
        let fact = Fact::of_project(FactKind::RemarkForm, now_ms, value);
        self.note_fact(&Fact { question: Some(question), ..fact })
    }
}
