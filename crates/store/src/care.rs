//! What a study sets for the care of its people, and how many texts somebody leaves out: facts, of which the latest holds.

use crate::places::Places;
use crate::tx::all;
use crate::{Result, Store, WriteTx};
use dissensus_domain::{AnnotatorId, Fact, FactKind, QuestionId, StudyLimits};
use serde_json::{Value, json};
use std::collections::HashMap;

fn count(fact: &Fact) -> Option<u32> {
    u32::try_from(fact.value.as_u64()?).ok()
}

impl WriteTx<'_> {
    /// Sets limits, and from which level on answers to questions say that a text is harmful: to no other question than these.
    ///
    /// # Errors
    /// There is no such question.
    pub fn set_study_care(
        &mut self,
        limits: StudyLimits,
        harmful: &[(QuestionId, u16)],
        now_ms: i64,
    ) -> Result<()> {
        let StudyLimits { limit, strict, greyscale } = limits;
        let value = json!({ "limit": limit, "strict": strict, "greyscale": greyscale });
        self.set_fact(&Fact::of_project(FactKind::Care, now_ms, value))?;
        let questions: Vec<u32> = all(self.conn, "SELECT id FROM questions ORDER BY id", [], |r| r.get(0))
            .map_err(|e| self.explain("reading the questions", e))?;
        let places = self.places()?;
        for question in questions.into_iter().map(QuestionId) {
            let level = harmful.iter().find(|(asked, _)| *asked == question);
            let level = level.map(|(_, level)| places.row(question, *level));
            let value = level.map_or(Value::Null, Value::from);
            let fact = Fact::of_project(FactKind::Harmful, now_ms, value);
            self.set_fact(&Fact { question: Some(question), ..fact })?;
        }
        Ok(())
    }

    /// Records how many texts somebody leaves out.
    ///
    /// # Errors
    /// There is no such annotator.
    pub fn set_left_out(&mut self, annotator: AnnotatorId, texts: u32, now_ms: i64) -> Result<()> {
        let fact = Fact::of_project(FactKind::LeftOut, now_ms, texts);
        self.set_fact(&Fact { annotator: Some(annotator), ..fact }).map(drop)
    }
}

impl Store {
    /// The limits that the study sets; none where it has set nothing.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn study_limits(&self) -> Result<StudyLimits> {
        let fact = self.fact(FactKind::Care, None, None, None)?;
        // What another version of the program sets beside these is nothing to this one.
        Ok(fact.and_then(|fact| serde_json::from_value(fact.value).ok()).unwrap_or_default())
    }

    /// From which level on answers to which questions say that a text is harmful, by question.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn harmful_levels(&self) -> Result<Vec<(QuestionId, u16)>> {
        let places = self.read("reading the levels", Places::read)?;
        let level = |fact: &Fact| {
            let (question, row) = (fact.question?, u16::try_from(fact.value.as_u64()?).ok()?);
            Some((question, places.place(question, row)))
        };
        Ok(self.facts(FactKind::Harmful)?.iter().filter_map(level).collect())
    }

    /// How many texts people leave out, those who do.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn texts_left_out(&self) -> Result<HashMap<AnnotatorId, u32>> {
        let facts = self.facts(FactKind::LeftOut)?;
        Ok(facts.iter().filter_map(|fact| fact.annotator.zip(count(fact))).collect())
    }

    /// How many texts somebody leaves out.
    ///
    /// # Errors
    /// Only what the disk says.
    pub fn left_out(&self, annotator: AnnotatorId) -> Result<u32> {
        let fact = self.fact(FactKind::LeftOut, None, None, Some(annotator))?;
        Ok(fact.as_ref().and_then(count).unwrap_or(0))
    }
}
