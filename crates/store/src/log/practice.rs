//! Practice and pass marks, stored as facts: practice texts, practice answers and rules.

use super::{Kind, SETTING};
use crate::dependents::Use;
use crate::levels::answer_with_levels;
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{
    AnnotatorId, Answer, CheckRule, Fact, FactKind, PracticeAnswer, PracticeRule, PracticeText, QuestionId,
    TextId,
};
use rusqlite::Connection;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

/// All data about practice and pass marks.
#[derive(Clone, Debug, Default)]
pub struct PracticeFacts {
    /// The current practice texts.
    pub texts: Vec<PracticeText>,
    /// The pass mark of practice, if set.
    pub rule: Option<PracticeRule>,
    /// The pass mark of attention checks, if set.
    pub check_rule: Option<CheckRule>,
    /// Practice answers, in chronological order for each annotator.
    pub answers: Vec<PracticeAnswer>,
    /// Completed rounds.
    pub finished: Vec<(AnnotatorId, u32)>,
    /// The round that an annotator must finish before anything else.
    pub again: BTreeMap<AnnotatorId, u32>,
}

#[derive(Serialize, Deserialize)]
struct RightAnswer {
    answer: Answer,
    reason: String,
}

#[derive(Serialize, Deserialize)]
struct StoredAnswer {
    round: u32,
    answer: Answer,
    /// Whether the round ended with this answer.
    last: bool,
}

#[derive(Serialize, Deserialize)]
struct RepeatedRound {
    round: u32,
}

fn read<T: DeserializeOwned>(fact: &Fact) -> Option<T> {
    // Values in another format, written by another version of the program, are ignored.
    serde_json::from_value(fact.value.clone()).ok()
}

/// Practice texts and practice answers.
pub(super) const KIND: Kind = Kind {
    with_levels: answer_with_levels,
    used: Some(|used| &mut used.practice),
    keeps: Some(Use::Practice),
    ..SETTING
};

impl WriteTx<'_> {
    /// Sets the right answer of a practice text; `None` ends its use for practice.
    ///
    /// # Errors
    /// There is no such question or text, or the answer is not on the scale.
    pub fn set_practice_text(
        &mut self,
        question: QuestionId,
        text: TextId,
        answer: Option<&Answer>,
        reason: &str,
        at_ms: i64,
    ) -> Result<()> {
        let value = match answer {
            None => Value::Null,
            Some(answer) => {
                if *answer == Answer::CannotSay {
                    let why = "name a level: that somebody cannot say is none".to_owned();
                    return Err(StoreError::Invalid { what: "right answer".to_owned(), why });
                }
                self.fits(question, text, answer)?;
                to_value(&RightAnswer { answer: answer.clone(), reason: reason.to_owned() })?
            }
        };
        let (question, text) = (Some(question), Some(text));
        self.set_fact(&Fact { question, text, ..Fact::of_project(FactKind::PracticeText, at_ms, value) })
            .map(drop)
    }

    /// Sets the pass mark of practice.
    pub fn set_practice_rule(&mut self, rule: &PracticeRule, at_ms: i64) -> Result<()> {
        self.set_study_fact(FactKind::PracticeRule, to_value(rule)?, at_ms)
    }

    /// Sets or removes the pass mark of attention checks.
    pub fn set_check_rule(&mut self, rule: Option<&CheckRule>, at_ms: i64) -> Result<()> {
        self.set_study_fact(FactKind::CheckRule, to_value(&rule)?, at_ms)
    }

    /// Adds a practice answer; `last` indicates that the round ended with it. It is placed after every answer
    /// of the annotator, and in a packet after those for which the round is required: whether somebody
    /// practised since a missed check may not depend on a clock that was set back.
    ///
    /// # Errors
    /// There is no such question, text or annotator, or the answer is not on the scale.
    pub fn add_practice_answer(&mut self, new: &PracticeAnswer, last: bool) -> Result<()> {
        self.fits(new.question, new.text, &new.answer)?;
        let value = to_value(&StoredAnswer { round: new.round, answer: new.answer.clone(), last })?;
        let required = "SELECT max(at_ms) FROM facts
             WHERE kind = ?1 AND coalesce(question, 0) = 0 AND coalesce(text, 0) = 0 AND coalesce(annotator, 0) = ?2";
        let of_person = (FactKind::PracticeAgain.name(), new.annotator.0);
        let required: Option<i64> = self.first(required, of_person, |r| r.get(0))?.flatten();
        let at_ms = self.after_given(new.annotator, new.at_ms)?;
        let at_ms = required.map_or(at_ms, |required| at_ms.max(required));
        self.note_fact(&Fact {
            question: Some(new.question),
            text: Some(new.text),
            annotator: Some(new.annotator),
            ..Fact::of_project(FactKind::PracticeAnswer, at_ms, value)
        })
    }

    /// Requires an annotator to finish this practice round before anything else. This is placed after every
    /// answer of the annotator.
    ///
    /// # Errors
    /// There is no such annotator.
    pub fn ask_to_practise_again(&mut self, annotator: AnnotatorId, round: u32, at_ms: i64) -> Result<()> {
        let at_ms = self.after_given(annotator, at_ms)?;
        let (value, annotator) = (to_value(&RepeatedRound { round })?, Some(annotator));
        let fact = Fact::of_project(FactKind::PracticeAgain, at_ms, value);
        self.set_fact(&Fact { annotator, ..fact }).map(drop)
    }

    fn set_study_fact(&mut self, kind: FactKind, value: Value, at_ms: i64) -> Result<()> {
        self.set_fact(&Fact::of_project(kind, at_ms, value)).map(drop)
    }

    /// See [`Store::ever_practised_on`].
    pub(crate) fn ever_practised_on(&self, questions: &[QuestionId]) -> Result<HashSet<TextId>> {
        ever_practised_on(self.conn, questions).map_err(|e| self.explain("reading the practice", e))
    }

    fn fits(&self, question: QuestionId, text: TextId, answer: &Answer) -> Result<()> {
        let unknown = || StoreError::Unknown { what: "question", name: question.0.to_string() };
        let asked = self.question(question)?.ok_or_else(unknown)?;
        answer.check(&asked.scale).map_err(|source| self.off_scale(question, source))?;
        self.spans_within(question, text, answer)
    }
}

fn to_value<T: Serialize>(value: &T) -> Result<Value> {
    let failed = |error: serde_json::Error| StoreError::Invalid {
        what: "practice".to_owned(),
        why: error.to_string(),
    };
    serde_json::to_value(value).map_err(failed)
}

impl Store {
    /// All data about practice and pass marks.
    pub fn practice(&self) -> Result<PracticeFacts> {
        let mut found = PracticeFacts::default();
        for fact in self.facts(FactKind::PracticeText)? {
            if let (Some(question), Some(text), Some(RightAnswer { answer, reason })) =
                (fact.question, fact.text, read(&fact))
            {
                found.texts.push(PracticeText { question, text, answer, reason });
            }
        }
        found.rule = self.facts(FactKind::PracticeRule)?.iter().find_map(read);
        found.check_rule = self.facts(FactKind::CheckRule)?.iter().find_map(read);
        for fact in self.all_facts(FactKind::PracticeAnswer)? {
            if let (Some(question), Some(text), Some(annotator), Some(StoredAnswer { round, answer, last })) =
                (fact.question, fact.text, fact.annotator, read(&fact))
            {
                let at_ms = fact.at_ms;
                found.answers.push(PracticeAnswer { question, text, annotator, round, answer, at_ms });
                found.finished.extend(last.then_some((annotator, round)));
            }
        }
        for fact in self.facts(FactKind::PracticeAgain)? {
            found.again.extend(fact.annotator.zip(read(&fact).map(|RepeatedRound { round }| round)));
        }
        Ok(found)
    }

    /// The row id of the newest fact of any kind; 0 if there is none. A different value means that
    /// a fact was added.
    pub fn newest_fact(&self) -> Result<i64> {
        let sql = "SELECT coalesce(max(id), 0) FROM facts";
        self.read("reading facts", |c| c.query_row(sql, [], |r| r.get(0)))
    }

    /// Texts that are or were used for practice with one of these questions.
    pub fn ever_practised_on(&self, questions: &[QuestionId]) -> Result<HashSet<TextId>> {
        self.read("reading the practice", |c| ever_practised_on(c, questions))
    }
}

fn ever_practised_on(c: &Connection, questions: &[QuestionId]) -> rusqlite::Result<HashSet<TextId>> {
    let sql = "SELECT DISTINCT text FROM facts WHERE kind = ?1 AND question = ?2 AND text IS NOT NULL";
    let mut found = HashSet::new();
    for question in questions {
        let kind = FactKind::PracticeText.name();
        found.extend(all(c, sql, (kind, question.0), |r| Ok(TextId(r.get(0)?)))?);
    }
    Ok(found)
}
