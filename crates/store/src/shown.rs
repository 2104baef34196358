//! Records of what annotators were shown of others' answers, and which labels were given
//! afterwards. Every occurrence is a fact; a label was given after the facts with earlier times.

use crate::labels::IS_LABEL;
use crate::log::select;
use crate::tx::first;
use crate::{Result, Snapshot, Store, WriteTx};
use dissensus_domain::{AnnotatorId, Fact, FactKind, QuestionId, Shown, TextId};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::HashMap;

/// A record that something was shown to an annotator about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownFact {
    pub question: QuestionId,
    pub text: TextId,
    pub annotator: AnnotatorId,
    /// Time, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    pub shown: Shown,
}

/// All records of what was shown.
#[derive(Clone, Debug, Default)]
pub struct ShownFacts(HashMap<(QuestionId, TextId, AnnotatorId), Vec<ShownFact>>);

impl ShownFacts {
    fn new(facts: Vec<Fact>) -> Self {
        let mut found: HashMap<_, Vec<ShownFact>> = HashMap::new();
        for Fact { question, text, annotator, at_ms, value, .. } in facts {
            let (Some(question), Some(text), Some(annotator)) = (question, text, annotator) else { continue };
            // Other values, written by another version of the program, are ignored.
            let shown: Shown = serde_json::from_value(value).unwrap_or_default();
            let fact = ShownFact { question, text, annotator, at_ms, shown };
            found.entry((question, text, annotator)).or_default().push(fact);
        }
        Self(found)
    }

    /// What an annotator had been shown about a text before a point in time.
    pub fn before(&self, question: QuestionId, text: TextId, annotator: AnnotatorId, at_ms: i64) -> Shown {
        let all = self.0.get(&(question, text, annotator)).into_iter().flatten();
        all.filter(|fact| fact.at_ms < at_ms).fold(Shown::default(), |shown, fact| shown.and(fact.shown))
    }

    /// All records, in no particular order.
    pub fn facts(&self) -> impl Iterator<Item = &ShownFact> {
        self.0.values().flatten()
    }
}

fn every(c: &Connection) -> rusqlite::Result<ShownFacts> {
    Ok(ShownFacts::new(select(c, "WHERE kind = ?1", [FactKind::Shown.name()])?))
}

/// How many current labels were given after something was shown. The join starts from the facts,
/// which are fewer than labels if nothing is shown.
fn labels_after(c: &Connection, question: QuestionId) -> rusqlite::Result<u32> {
    let sql = format!(
        "SELECT count(DISTINCT e.id) FROM facts AS f
               CROSS JOIN current_answers AS a ON a.question = f.question AND a.text = f.text AND a.annotator = f.annotator AND a.occasion = 1
               CROSS JOIN events AS e ON e.id = a.event
               WHERE f.kind = ?1 AND coalesce(f.question, 0) = ?2 AND f.value <> 'null' AND f.at_ms < e.at_ms AND a.{IS_LABEL}"
    );
    Ok(first(c, &sql, (FactKind::Shown.name(), question.0), |r| r.get(0))?.unwrap_or(0))
}

impl WriteTx<'_> {
    /// Records that something was shown to an annotator about a text, with a time after all of
    /// their existing labels on it, so that only later labels count as given afterwards.
    ///
    /// # Errors
    /// There is no such question, text or annotator.
    pub fn add_shown(
        &mut self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
        shown: Shown,
        now_ms: i64,
    ) -> Result<()> {
        // A label with a time ahead of our clock was nevertheless given before.
        let sql = "SELECT max(at_ms) FROM events WHERE annotator = ?1 AND question = ?2 AND text = ?3";
        let labelled: Option<i64> =
            self.first(sql, (annotator.0, question.0, text.0), |r| r.get(0))?.flatten();
        let at_ms = labelled.map_or(now_ms, |labelled| now_ms.max(labelled));
        self.note_fact(&fact(question, text, annotator, shown, at_ms))
    }

    /// Records, based on a file, that something had been shown before a label with this time was
    /// given, unless that is known.
    ///
    /// # Errors
    /// Like [`WriteTx::add_shown`].
    pub fn add_shown_before(
        &mut self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
        shown: Shown,
        label_at_ms: i64,
    ) -> Result<()> {
        if !shown.any() {
            return Ok(());
        }
        let known = select(
            self.conn,
            "WHERE kind = ?1 AND coalesce(question, 0) = ?2 AND coalesce(text, 0) = ?3 AND coalesce(annotator, 0) = ?4",
            (FactKind::Shown.name(), question.0, text.0, annotator.0),
        );
        let known = ShownFacts::new(known.map_err(|e| self.explain("reading what was shown", e))?);
        let before = known.before(question, text, annotator, label_at_ms);
        if before.and(shown) == before {
            return Ok(());
        }
        self.add_fact(&fact(question, text, annotator, shown, label_at_ms.saturating_sub(1))).map(drop)
    }

    /// When something was last shown to an annotator about a text.
    pub(crate) fn newest_shown_at(
        &self,
        question: QuestionId,
        text: TextId,
        annotator: AnnotatorId,
    ) -> Result<Option<i64>> {
        let sql = "SELECT max(at_ms) FROM facts
                   WHERE kind = ?1 AND coalesce(question, 0) = ?2 AND coalesce(text, 0) = ?3 AND coalesce(annotator, 0) = ?4";
        let about = (FactKind::Shown.name(), question.0, text.0, annotator.0);
        Ok(self.first(sql, about, |r| r.get(0))?.flatten())
    }

    /// Sets whether annotators are shown the answers of others after answering, effective now.
    pub fn set_reveal(&mut self, on: bool, now_ms: i64) -> Result<()> {
        self.set_fact(&Fact::of_project(FactKind::Reveal, now_ms, on)).map(drop)
    }
}

fn fact(question: QuestionId, text: TextId, annotator: AnnotatorId, shown: Shown, at_ms: i64) -> Fact {
    let value = serde_json::json!({ "answers": shown.answers, "predictions": shown.predictions });
    Fact {
        question: Some(question),
        text: Some(text),
        annotator: Some(annotator),
        ..Fact::of_project(FactKind::Shown, at_ms, value)
    }
}

impl Snapshot<'_> {
    /// Like [`Store::shown`], from the snapshot.
    pub fn shown(&self) -> Result<ShownFacts> {
        self.read(every)
    }

    /// Like [`Store::labels_after_shown`], from the snapshot.
    pub fn labels_after_shown(&self, question: QuestionId) -> Result<u32> {
        self.read(|c| labels_after(c, question))
    }
}

impl Store {
    /// Whether annotators are shown the answers of others after answering; off by default.
    pub fn reveals(&self) -> Result<bool> {
        let fact = self.fact(FactKind::Reveal, None, None, None)?;
        Ok(fact.is_some_and(|fact| fact.value == Value::Bool(true)))
    }

    /// All records of what annotators were shown of others.
    pub fn shown(&self) -> Result<ShownFacts> {
        self.read("reading what was shown", every)
    }

    /// How many current labels of a question were given after their annotator was shown something
    /// of others about the text.
    pub fn labels_after_shown(&self, question: QuestionId) -> Result<u32> {
        self.read("counting labels after something was shown", |c| labels_after(c, question))
    }
}
