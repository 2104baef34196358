//! Heads: the latest small model of each kind, serialized by its creator.

use crate::encoders::{row_and_dim, unknown};
use crate::tx::first;
use crate::{Result, Store, WriteTx};
use dissensus_domain::{LevelId, Question, QuestionId};

/// A head to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewHead {
    /// The question that it predicts.
    pub question: QuestionId,
    /// The encoder version that it depends on; `None` if it needs no embeddings.
    pub version: Option<String>,
    /// Name of the annotator model.
    pub model: String,
    /// Creation time, in milliseconds since 1970-01-01 UTC.
    pub made_at_ms: i64,
    /// The serialized parameters.
    pub weights: Vec<u8>,
}

/// A stored head.
pub type Head = NewHead;

/// The name of the model in the file: each option of a multi-label question has its own head. Earlier
/// versions named the option by its position, as `of option 2`; those heads are not read.
fn name_in_file(model: &str, question: QuestionId) -> String {
    question.option().map_or_else(|| model.to_owned(), |option| format!("{model} of level {option}"))
}

impl WriteTx<'_> {
    /// Stores a head, replacing the one for the same question, encoder version and model. `levels` are those
    /// that its columns stand for: if the question has others by now, nothing is stored.
    ///
    /// # Errors
    /// There is no such question or encoder version.
    pub fn put_head(&mut self, new: &NewHead, levels: &[LevelId]) -> Result<()> {
        let same = |whole: Question| match new.question.option() {
            Some(option) => whole.scale.index_of_id(option).is_some(),
            None => whole.scale.ids() == levels,
        };
        if !self.question(new.question.row())?.is_none_or(same) {
            return Ok(());
        }
        let version = match &new.version {
            Some(key) => {
                let found =
                    row_and_dim(self.conn, key).map_err(|e| self.explain("reading an encoder version", e))?;
                Some(found.ok_or_else(|| unknown(key))?.0)
            }
            None => None,
        };
        let explain = |e| self.explain("keeping a head", e);
        self.run(
            "DELETE FROM heads WHERE question = ?1 AND model = ?2 AND version IS ?3",
            (new.question.row().0, name_in_file(&new.model, new.question), version),
        )
        .map_err(explain)?;
        self.run(
            "INSERT INTO heads (question, version, model, made_at_ms, weights) VALUES (?1, ?2, ?3, ?4, ?5)",
            (
                new.question.row().0,
                version,
                name_in_file(&new.model, new.question),
                new.made_at_ms,
                &new.weights,
            ),
        )
        .map(|_| ())
        .map_err(explain)
    }

    /// Deletes all heads of a question and its options.
    pub(crate) fn forget_heads_of(&mut self, question: QuestionId) -> Result<()> {
        let done = self.run("DELETE FROM heads WHERE question = ?1", [question.row().0]);
        done.map(drop).map_err(|e| self.explain("forgetting heads", e))
    }

    fn forget_heads(&mut self, question: QuestionId, model: &str) -> Result<()> {
        self.run(
            "DELETE FROM heads WHERE question = ?1 AND model = ?2",
            (question.row().0, name_in_file(model, question)),
        )
        .map(|_| ())
        .map_err(|e| self.explain("forgetting heads", e))
    }
}

impl Store {
    /// Stores a head. See [`WriteTx::put_head`].
    pub fn put_head(&self, new: NewHead, levels: &[LevelId]) -> Result<()> {
        let levels = levels.to_vec();
        self.write(move |tx| tx.put_head(&new, &levels))
    }

    /// Stores a head, replacing all for the same question and model, whatever their encoder
    /// version. Meant for large heads.
    ///
    /// # Errors
    /// Like [`WriteTx::put_head`]; the earlier heads then remain.
    pub fn put_only_head(&self, new: NewHead, levels: &[LevelId]) -> Result<()> {
        let levels = levels.to_vec();
        self.write(move |tx| {
            tx.forget_heads(new.question, &new.model)?;
            tx.put_head(&new, &levels)
        })
    }

    /// Deletes the heads of a model for a question, for all encoder versions.
    pub fn forget_heads(&self, question: QuestionId, model: &str) -> Result<()> {
        let model = model.to_owned();
        self.write(move |tx| tx.forget_heads(question, &model))
    }

    /// The latest head of a model for a question and an encoder version.
    pub fn head(&self, question: QuestionId, version: Option<&str>, model: &str) -> Result<Option<Head>> {
        self.read("reading a head", |c| {
            let sql = "SELECT made_at_ms, weights FROM heads AS h
                       LEFT JOIN encoder_versions AS v ON v.id = h.version
                       WHERE question = ?1 AND model = ?2 AND v.key IS ?3 ORDER BY h.id DESC LIMIT 1";
            first(c, sql, (question.row().0, name_in_file(model, question), version), |r| {
                Ok(Head {
                    question,
                    version: version.map(str::to_owned),
                    model: model.to_owned(),
                    made_at_ms: r.get(0)?,
                    weights: r.get(1)?,
                })
            })
        })
    }
}
