//! What was said beside answers of later occasions: facts, of which the latest holds.

use crate::labels::AnswerDetails;
use crate::places::Places;
use crate::repeat::Repeat;
use crate::row::{bad, json, to_json};
use crate::tx::all;
use crate::{Result, Store, WriteTx};
use dissensus_domain::{AnnotatorId, GuidelineId, QuestionId, Remark, TextId};
use rusqlite::{Connection, Row};
use std::collections::HashMap;
use uuid::Uuid;

/// Something was said beside an answer of a later occasion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepeatRemark {
    /// The answer; its source and its details say nothing here.
    pub(crate) repeat: Repeat,
    pub(crate) said_at_ms: i64,
    pub(crate) details: AnswerDetails,
}

/// Which answer: text, annotator, occasion, time, and the answer as JSON.
pub(crate) type RepeatKey = (TextId, AnnotatorId, u16, i64, String);

const COLUMNS: &str =
    "question, text, annotator, occasion, at_ms, answer, said_at_ms, note, reasons, confidence, guideline";

/// What is said, in the columns `note`, `reasons`, `confidence` and `guideline` behind `column`.
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

/// What holds beside the answers of later occasions to a question, on one text or on all.
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
    // Of several the last one stays.
    Ok(rows.into_iter().collect())
}

impl WriteTx<'_> {
    /// Says something beside an answer of a later occasion that is there, in place of what was said before.
    ///
    /// # Errors
    /// There is no such answer, or no such version of the guideline.
    pub fn say_beside_repeat(&mut self, repeat: &Repeat, details: &AnswerDetails, now_ms: i64) -> Result<()> {
        let answer = self.answer_json(repeat.question, &repeat.answer)?;
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

    /// Whether anything was ever said beside this answer.
    pub(crate) fn was_said(&self, repeat: &Repeat) -> Result<bool> {
        let answer = self.answer_json(repeat.question, &repeat.answer)?;
        let sql = "SELECT 1 FROM repeat_remarks WHERE question = ?1 AND text = ?2 AND annotator = ?3 AND occasion = ?4
                   AND at_ms = ?5 AND answer = ?6";
        let key =
            (repeat.question.0, repeat.text.0, repeat.annotator.0, repeat.occasion, repeat.at_ms, answer);
        Ok(self.first(sql, key, |_| Ok(()))?.is_some())
    }

    /// Adds it as a fact. Returns whether it was new.
    pub(crate) fn add_repeat_remark(&mut self, new: &RepeatRemark) -> Result<bool> {
        let Repeat { question, text, annotator, occasion, at_ms, ref answer, .. } = new.repeat;
        let AnswerDetails { remark, guideline, .. } = &new.details;
        self.guideline_row(*guideline)?;
        let (answer, reasons) = (self.answer_json(question, answer)?, to_json("reasons", &remark.reasons)?);
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
    /// Everything that was ever said beside answers of later occasions.
    pub(crate) fn all_repeat_remarks(&self) -> Result<Vec<RepeatRemark>> {
        let sql = format!("SELECT {COLUMNS} FROM repeat_remarks");
        self.read("reading what was said", |c| {
            let places = Places::read(c)?;
            all(c, &sql, [], |r| {
                let question = QuestionId(r.get(0)?);
                let repeat = Repeat {
                    question,
                    text: TextId(r.get(1)?),
                    annotator: AnnotatorId(r.get(2)?),
                    occasion: r.get(3)?,
                    at_ms: r.get(4)?,
                    answer: places.shown(question, json(r, 5)?),
                    source: dissensus_domain::LabelSource::Import,
                    details: AnswerDetails::default(),
                    wording: None,
                };
                Ok(RepeatRemark { repeat, said_at_ms: r.get(6)?, details: details(r, 7)? })
            })
        })
    }
}
