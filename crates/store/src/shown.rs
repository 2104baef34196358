//! What of others was shown to people about texts, and whether a label came after it. Each time is a fact; a label comes after those of an
//! earlier time.

use crate::facts::select;
use crate::labels::SAID;
use crate::tx::first;
use crate::{Result, Snapshot, Store, WriteTx};
use dissensus_domain::{AnnotatorId, Fact, FactKind, QuestionId, Shown, TextId};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::HashMap;

/// That something was shown to a person about a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownFact {
    /// The question.
    pub question: QuestionId,
    /// The text.
    pub text: TextId,
    /// To whom.
    pub annotator: AnnotatorId,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// What.
    pub shown: Shown,
}

/// Everything that was shown.
#[derive(Clone, Debug, Default)]
pub struct ShownFacts(HashMap<(QuestionId, TextId, AnnotatorId), Vec<ShownFact>>);

impl ShownFacts {
    fn of(facts: Vec<Fact>) -> Self {
        let mut found: HashMap<_, Vec<ShownFact>> = HashMap::new();
        for Fact { question, text, annotator, at_ms, value, .. } in facts {
            let (Some(question), Some(text), Some(annotator)) = (question, text, annotator) else { continue };
            // What another version of the program notes beside these is nothing to this one.
            let shown: Shown = serde_json::from_value(value).unwrap_or_default();
            let fact = ShownFact { question, text, annotator, at_ms, shown };
            found.entry((question, text, annotator)).or_default().push(fact);
        }
        Self(found)
    }

    /// What had been shown to a person about a text before a moment.
    pub fn before(&self, question: QuestionId, text: TextId, annotator: AnnotatorId, at_ms: i64) -> Shown {
        let all = self.0.get(&(question, text, annotator)).into_iter().flatten();
        all.filter(|fact| fact.at_ms < at_ms).fold(Shown::default(), |shown, fact| shown.and(fact.shown))
    }

    /// Each time, in no order.
    pub fn facts(&self) -> impl Iterator<Item = &ShownFact> {
        self.0.values().flatten()
    }
}

fn every(c: &Connection) -> rusqlite::Result<ShownFacts> {
    Ok(ShownFacts::of(select(c, "WHERE kind = ?1", [FactKind::Shown.name()])?))
}

/// How many current labels came after something was shown. The facts lead, which are fewer than labels where nothing is shown.
fn labels_after(c: &Connection, question: QuestionId) -> rusqlite::Result<u32> {
    let sql = format!(
        "SELECT count(DISTINCT e.id) FROM facts AS f
               CROSS JOIN current_answers AS a ON a.question = f.question AND a.text = f.text AND a.annotator = f.annotator
               CROSS JOIN events AS e ON e.id = a.event
               WHERE f.kind = ?1 AND coalesce(f.question, 0) = ?2 AND f.value <> 'null' AND f.at_ms < e.at_ms AND a.{SAID}"
    );
    Ok(first(c, &sql, (FactKind::Shown.name(), question.0), |r| r.get(0))?.unwrap_or(0))
}

impl WriteTx<'_> {
    /// Records that something was shown to a person about a text, after every label of theirs that is there: labels that come later know.
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
        // A label that was given by a clock ahead of ours came before all the same.
        let sql = "SELECT max(at_ms) FROM events WHERE annotator = ?1 AND question = ?2 AND text = ?3";
        let labelled: Option<i64> =
            self.first(sql, (annotator.0, question.0, text.0), |r| r.get(0))?.flatten();
        let at_ms = labelled.map_or(now_ms, |labelled| now_ms.max(labelled));
        self.note_fact(&fact(question, text, annotator, shown, at_ms))
    }

    /// Records that this had been shown before a label of this time was given, as a file says, unless that is known.
    ///
    /// # Errors
    /// As [`WriteTx::add_shown`].
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
        let known = ShownFacts::of(known.map_err(|e| self.explain("reading what was shown", e))?);
        let before = known.before(question, text, annotator, label_at_ms);
        if before.and(shown) == before {
            return Ok(());
        }
        self.add_fact(&fact(question, text, annotator, shown, label_at_ms.saturating_sub(1))).map(drop)
    }

    /// When something was last shown to a person about a text.
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

    /// Shows how others see a text to whoever has answered it, or not, from here on.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn set_reveal(&mut self, on: bool, now_ms: i64) -> Result<()> {
        self.set_fact(&Fact::of_project(FactKind::Reveal, now_ms, on)).map(drop)
    }
}

fn fact(question: QuestionId, text: TextId, annotator: AnnotatorId, shown: Shown, at_ms: i64) -> Fact {
    let value = serde_json::json!({ "answers": shown.answers, "predictions": shown.predictions });
    Fact {
        kind: FactKind::Shown,
        question: Some(question),
        text: Some(text),
        annotator: Some(annotator),
        at_ms,
        value,
    }
}

impl Snapshot<'_> {
    /// As [`Store::shown`], at the moment of the snapshot.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn shown(&self) -> Result<ShownFacts> {
        self.read(every)
    }

    /// As [`Store::labels_after_shown`], at the moment of the snapshot.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn labels_after_shown(&self, question: QuestionId) -> Result<u32> {
        self.read(|c| labels_after(c, question))
    }
}

impl Store {
    /// Whether the study shows how others see a text to whoever has answered it: not unless it was turned on.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn reveals(&self) -> Result<bool> {
        let fact = self.fact(FactKind::Reveal, None, None, None)?;
        Ok(fact.is_some_and(|fact| fact.value == Value::Bool(true)))
    }

    /// Everything that was shown to people of others.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn shown(&self) -> Result<ShownFacts> {
        self.read("reading what was shown", every)
    }

    /// How many current labels of a question came after something of others was shown to their annotator about the text.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn labels_after_shown(&self, question: QuestionId) -> Result<u32> {
        self.read("counting labels after something was shown", |c| labels_after(c, question))
    }
}
