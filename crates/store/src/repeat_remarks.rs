//! Notes on re-annotations, stored as facts, of which the latest is in effect.

use crate::labels::AnswerDetails;
use crate::repeat::Repeat;
use crate::row::{bad, json, to_json};
use crate::tx::all;
use crate::{Result, Store, WriteTx};
use dissensus_domain::{AnnotatorId, GuidelineId, QuestionId, Remark, TextId};
use rusqlite::{Connection, Row};
use std::collections::HashMap;
use uuid::Uuid;

/// A note on a re-annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepeatRemark {
    /// The answer; its source and details are unused.
    pub(crate) repeat: Repeat,
    pub(crate) said_at_ms: i64,
    pub(crate) details: AnswerDetails,
}

/// Identifies an answer: text, annotator, annotation round, time, and the answer as JSON.
pub(crate) type RepeatKey = (TextId, AnnotatorId, u16, i64, String);

const COLUMNS: &str =
    "question, text, annotator, occasion, at_ms, answer, said_at_ms, note, reasons, confidence, guideline";

/// Reads a note from the columns `note`, `reasons`, `confidence` and `guideline`, of which `column`
/// is the first.
fn details(row: &Row<'_>, column: usize) -> rusqlite::Result<AnswerDetails> {
    let note: String = row.get(column)?;
    let confidence: u8 = row.get(column + 2)?;
    let guideline: Vec<u8> = row.get(column + 3)?;
    let guideline = match guideline.as_slice() {
        [] => None,
        bytes => Some(GuidelineId(Uuid::from_slice(bytes).map_err(|e| bad(column + 3, e))?)),
    };
    let remark = Remark {
        note: Some(note).filter(|note| !note.is_empty()),
        reasons: json(row, column + 1)?,
        confidence: Some(confidence).filter(|sure| *sure > 0),
    };
    Ok(AnswerDetails { remark, guideline, takes_back: false })
}

/// The notes in effect on re-annotations of a question, on one text or on all texts.
pub(crate) fn remarks_of(
    c: &Connection,
    question: QuestionId,
    text: Option<TextId>,
) -> rusqlite::Result<HashMap<RepeatKey, AnswerDetails>> {
    let of_text = if text.is_some() { "AND text = ?2" } else { "AND ?2 IS NULL" };
    let sql = format!(
        "SELECT text, annotator, occasion, at_ms, answer, note, reasons, confidence, guideline FROM repeat_remarks
         WHERE question = ?1 {of_text} ORDER BY said_at_ms, note, reasons, confidence, guideline"
    );
    let rows = all(c, &sql, (question.row().0, text.map(|text| text.0)), |r| {
        let key = (TextId(r.get(0)?), AnnotatorId(r.get(1)?), r.get(2)?, r.get(3)?, r.get(4)?);
        Ok((key, details(r, 5)?))
    })?;
    // The last of several notes on the same answer is retained.
    Ok(rows.into_iter().collect())
}

impl WriteTx<'_> {
    /// Sets the note on an existing re-annotation, replacing an earlier one.
    ///
    /// # Errors
    /// There is no such answer or guideline version.
    pub fn add_repeat_note(&mut self, repeat: &Repeat, details: &AnswerDetails, now_ms: i64) -> Result<()> {
        let answer = to_json("an answer", &repeat.answer)?;
        let sql =
            "SELECT max(said_at_ms) FROM repeat_remarks WHERE question = ?1 AND text = ?2 AND annotator = ?3
                   AND occasion = ?4 AND at_ms = ?5 AND answer = ?6";
        let key =
            (repeat.question.0, repeat.text.0, repeat.annotator.0, repeat.occasion, repeat.at_ms, answer);
        let last: Option<i64> = self.first(sql, key, |r| r.get(0))?.flatten();
        let said_at_ms = last.map_or(now_ms, |last| now_ms.max(last.saturating_add(1)));
        let (repeat, details) = (repeat.clone(), details.clone());
        self.add_repeat_remark(&RepeatRemark { repeat, said_at_ms, details }).map(drop)
    }

    /// Whether this answer ever had a note.
    pub(crate) fn was_noted(&self, repeat: &Repeat) -> Result<bool> {
        let answer = to_json("an answer", &repeat.answer)?;
        let sql = "SELECT 1 FROM repeat_remarks WHERE question = ?1 AND text = ?2 AND annotator = ?3 AND occasion = ?4
                   AND at_ms = ?5 AND answer = ?6";
        let key =
            (repeat.question.0, repeat.text.0, repeat.annotator.0, repeat.occasion, repeat.at_ms, answer);
        Ok(self.first(sql, key, |_| Ok(()))?.is_some())
    }

    /// Adds the note as a fact. Returns whether it was new.
    pub(crate) fn add_repeat_remark(&mut self, new: &RepeatRemark) -> Result<bool> {
        let Repeat { question, text, annotator, occasion, at_ms, ref answer, .. } = new.repeat;
        let AnswerDetails { remark, guideline, .. } = &new.details;
        self.guideline_row(*guideline)?;
        let (answer, reasons) = (to_json("an answer", answer)?, to_json("reasons", &remark.reasons)?);
        let guideline = guideline.map(|id| id.0.as_bytes().to_vec()).unwrap_or_default();
        let sql = format!(
            "INSERT INTO repeat_remarks ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT DO NOTHING"
        );
        let (note, sure) = (remark.note.as_deref().unwrap_or_default(), remark.confidence.unwrap_or(0));
        let key = (question.0, text.0, annotator.0, occasion);
        let row =
            (key.0, key.1, key.2, key.3, at_ms, &answer, new.said_at_ms, note, &reasons, sure, guideline);
        Ok(self.run(&sql, row).map_err(|e| self.explain("keeping what was said", e))? > 0)
    }
}

impl Store {
    /// All notes on re-annotations ever recorded.
    pub(crate) fn all_repeat_remarks(&self) -> Result<Vec<RepeatRemark>> {
        let sql = format!("SELECT {COLUMNS} FROM repeat_remarks");
        self.read("reading what was said", |c| {
            all(c, &sql, [], |r| {
                let question = QuestionId(r.get(0)?);
                let repeat = Repeat {
                    question,
                    text: TextId(r.get(1)?),
                    annotator: AnnotatorId(r.get(2)?),
                    occasion: r.get(3)?,
                    at_ms: r.get(4)?,
                    answer: json(r, 5)?,
                    source: dissensus_domain::LabelSource::Import,
                    details: AnswerDetails::default(),
                    wording: None,
                };
                Ok(RepeatRemark { repeat, said_at_ms: r.get(6)?, details: details(r, 7)? })
            })
        })
    }
}
