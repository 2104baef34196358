//! Texts that an annotator skipped or flagged.

use crate::error::is_constraint;
use crate::{Result, Store, WriteTx};
use dissensus_domain::{AnnotatorId, QuestionId, TextId};
use std::collections::BTreeMap;

/// What an annotator did to a text beside answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MarkKind {
    /// Set it aside.
    Skip,
    /// Took it up again.
    Unskip,
    /// Pointed at it.
    Flag,
    /// Took the flag off.
    Unflag,
}

impl MarkKind {
    fn name(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Unskip => "unskip",
            Self::Flag => "flag",
            Self::Unflag => "unflag",
        }
    }
}

/// A mark to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMark {
    /// Who marks.
    pub annotator: AnnotatorId,
    /// For which question.
    pub question: QuestionId,
    /// The text marked.
    pub text: TextId,
    /// How.
    pub kind: MarkKind,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// Why.
    pub note: Option<String>,
}

/// How a text stands with an annotator after all marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Set aside.
    pub skipped: bool,
    /// Pointed at.
    pub flagged: bool,
    /// What was noted at the newest mark that has a note.
    pub note: Option<String>,
}

impl WriteTx<'_> {
    /// Appends a mark.
    ///
    /// # Errors
    /// The question, text or annotator is not in the project.
    pub fn add_mark(&mut self, new: &NewMark) -> Result<()> {
        self.run(
            "INSERT INTO marks (annotator, question, text, kind, at_ms, note) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (new.annotator.0, new.question.0, new.text.0, new.kind.name(), new.at_ms, &new.note),
        )
        .map(|_| ())
        .map_err(|e| {
            let wrong =
                is_constraint(&e).then(|| self.must_exist(new.question, new.text, new.annotator).err());
            wrong.flatten().unwrap_or_else(|| self.explain("marking a text", e))
        })
    }
}

impl Store {
    /// Appends a mark; it is on disk when this returns.
    ///
    /// # Errors
    /// As [`WriteTx::add_mark`], or what the disk says.
    pub fn mark(&self, new: &NewMark) -> Result<()> {
        let new = new.clone();
        self.write(move |tx| tx.add_mark(&new))
    }

    /// Every text that the annotator ever marked, and how it stands now.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn marks(&self, annotator: AnnotatorId, question: QuestionId) -> Result<BTreeMap<TextId, Mark>> {
        self.read("reading the marks", |c| {
            let mut marks: BTreeMap<TextId, Mark> = BTreeMap::new();
            let mut statement = c.prepare_cached(
                "SELECT text, kind, note FROM marks WHERE annotator = ?1 AND question = ?2 ORDER BY id",
            )?;
            let mut rows = statement.query((annotator.0, question.0))?;
            while let Some(row) = rows.next()? {
                let mark = marks.entry(TextId(row.get(0)?)).or_default();
                match row.get_ref(1)?.as_str().map_err(|e| crate::row::bad(1, e))? {
                    "skip" => mark.skipped = true,
                    "unskip" => mark.skipped = false,
                    "flag" => mark.flagged = true,
                    "unflag" => mark.flagged = false,
                    other => return Err(crate::row::bad(1, format!("unknown mark \"{other}\""))),
                }
                if let Some(note) = row.get(2)? {
                    mark.note = Some(note);
                }
            }
            Ok(marks)
        })
    }
}
