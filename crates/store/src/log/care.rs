//! Study limits for harmful texts, and how many texts annotators leave out. Both are facts, of
//! which the latest is in effect.

use super::{Kind, SETTING};
use crate::tx::all;
use crate::{Result, Store, WriteTx};
use dissensus_domain::{AnnotatorId, Fact, FactKind, LevelId, QuestionId, StudyLimits};
use serde_json::{Value, json};
use std::collections::HashMap;

/// The level from which an answer marks a text as harmful.
pub(super) const HARMFUL: Kind = Kind {
    with_levels: |value, level| {
        let known = value.as_u64().and_then(|known| u16::try_from(known).ok());
        known.map_or(value, |known| level(LevelId(known)).0.into())
    },
    ..SETTING
};

fn count(fact: &Fact) -> Option<u32> {
    u32::try_from(fact.value.as_u64()?).ok()
}

impl WriteTx<'_> {
    /// Sets the study limits, and for each listed question the level from which an answer marks a
    /// text as harmful. Other questions lose such a level.
    ///
    /// # Errors
    /// There is no such question.
    pub fn set_study_care(
        &mut self,
        limits: StudyLimits,
        harmful: &[(QuestionId, LevelId)],
        now_ms: i64,
    ) -> Result<()> {
        let StudyLimits { limit, strict, greyscale } = limits;
        let value = json!({ "limit": limit, "strict": strict, "greyscale": greyscale });
        self.set_fact(&Fact::of_project(FactKind::Care, now_ms, value))?;
        let questions: Vec<u32> = all(self.conn, "SELECT id FROM questions ORDER BY id", [], |r| r.get(0))
            .map_err(|e| self.explain("reading the questions", e))?;
        for question in questions.into_iter().map(QuestionId) {
            let level = harmful.iter().find(|(asked, _)| *asked == question);
            let value = level.map_or(Value::Null, |(_, level)| level.0.into());
            let fact = Fact::of_project(FactKind::Harmful, now_ms, value);
            self.set_fact(&Fact { question: Some(question), ..fact })?;
        }
        Ok(())
    }

    /// Records how many texts an annotator left out.
    ///
    /// # Errors
    /// There is no such annotator.
    pub fn set_left_out(&mut self, annotator: AnnotatorId, texts: u32, now_ms: i64) -> Result<()> {
        let fact = Fact::of_project(FactKind::LeftOut, now_ms, texts);
        self.set_fact(&Fact { annotator: Some(annotator), ..fact }).map(drop)
    }
}

impl Store {
    /// The limits of the study; the defaults if it has set none.
    pub fn study_limits(&self) -> Result<StudyLimits> {
        let fact = self.fact(FactKind::Care, None, None, None)?;
        // Values that this version of the program cannot read are ignored.
        Ok(fact.and_then(|fact| serde_json::from_value(fact.value).ok()).unwrap_or_default())
    }

    /// For each question that has one, the level from which an answer marks a text as harmful.
    pub fn harmful_levels(&self) -> Result<Vec<(QuestionId, LevelId)>> {
        let level = |fact: &Fact| Some((fact.question?, LevelId(u16::try_from(fact.value.as_u64()?).ok()?)));
        Ok(self.facts(FactKind::Harmful)?.iter().filter_map(level).collect())
    }

    /// How many texts annotators left out, for those who left out any.
    pub fn texts_left_out(&self) -> Result<HashMap<AnnotatorId, u32>> {
        let facts = self.facts(FactKind::LeftOut)?;
        Ok(facts.iter().filter_map(|fact| fact.annotator.zip(count(fact))).collect())
    }

    /// How many texts an annotator left out.
    pub fn left_out(&self, annotator: AnnotatorId) -> Result<u32> {
        let fact = self.fact(FactKind::LeftOut, None, None, Some(annotator))?;
        Ok(fact.as_ref().and_then(count).unwrap_or(0))
    }
}
