//! Changes to questions: names of levels, and conditions.

use crate::conditions::{conditions, waits_for};
use crate::question_edits::QuestionEdit;
use crate::row::{bad, json, to_json};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{Condition, LevelEdit, Question, QuestionId, Scale};
use rusqlite::Connection;

/// New names of a question's levels, as stored by earlier versions. Later facts about the levels
/// take precedence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewNames {
    pub(crate) question: QuestionId,
    pub(crate) changed_at_ms: i64,
    pub(crate) names: Vec<String>,
}

/// A new condition of a question; without levels, the condition is removed. Levels are row ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewCondition {
    pub(crate) question: QuestionId,
    pub(crate) changed_at_ms: i64,
    pub(crate) only_if: Condition,
}

/// The scale with the current names of its levels.
pub(crate) fn renamed(conn: &Connection, question: QuestionId, scale: Scale) -> rusqlite::Result<Scale> {
    let sql =
        "SELECT names FROM level_names WHERE question = ?1 ORDER BY changed_at_ms DESC, names DESC LIMIT 1";
    let Some(names) = first(conn, sql, [question.0], |r| json::<Vec<String>>(r, 0))? else {
        return Ok(scale);
    };
    with_names(&scale, &names).map_err(|why| bad(0, why))
}

fn with_names(scale: &Scale, names: &[String]) -> std::result::Result<Scale, String> {
    let renamed = Scale::new(scale.kind(), names).map_err(|e| e.to_string())?;
    match renamed.len() == scale.len() {
        true => Ok(renamed),
        false => Err(format!(
            "it has {} levels, and these are {} names: name all of them",
            scale.len(),
            names.len()
        )),
    }
}

impl WriteTx<'_> {
    /// Renames the levels, options or types of spans of a question: `names` are all of them, in
    /// order. Labels are unchanged, and equal names have no effect.
    ///
    /// # Errors
    /// There is no such question, or the number of names is wrong, or a name is not allowed on the
    /// scale.
    pub fn rename_levels(&mut self, question: QuestionId, names: &[String], now_ms: i64) -> Result<()> {
        let found = self.must_ask(question)?;
        with_names(&found.scale, names)
            .map_err(|why| StoreError::Invalid { what: format!("question {}", found.name), why })?;
        let levels = (0..).zip(names).map(|(level, name)| LevelEdit {
            from: Some(level),
            name: name.clone(),
            definition: found.definition(level).to_owned(),
        });
        let edit = QuestionEdit { levels: Some(levels.collect()), ..QuestionEdit::default() };
        self.edit_question(question, &edit, now_ms).map(drop)
    }

    /// Sets the condition of a question; `None` removes it. Labels are unchanged.
    ///
    /// # Errors
    /// There is no such question or level, no level is given, or the question would depend on
    /// itself.
    pub fn set_condition(
        &mut self,
        question: QuestionId,
        only_if: Option<&Condition>,
        now_ms: i64,
    ) -> Result<()> {
        let found = self.must_ask(question)?;
        if found.only_if.as_ref() == only_if {
            return Ok(());
        }
        if let Some(only_if) = only_if {
            self.check_condition(&found, only_if)?;
        }
        let before = found.only_if.map(|only_if| only_if.question);
        let Some(other) = only_if.map(|only_if| only_if.question).or(before) else { return Ok(()) };
        let levels = only_if.map(|only_if| only_if.levels.clone()).unwrap_or_default();
        let sql = "SELECT max(?2, coalesce(max(changed_at_ms) + 1, ?2)) FROM conditions WHERE question = ?1";
        let changed_at_ms = self.first(sql, (question.0, now_ms), |r| r.get(0))?.unwrap_or(now_ms);
        let places = self.places()?;
        let levels = levels.into_iter().map(|place| places.row(other, place));
        self.add_condition(&NewCondition {
            question,
            changed_at_ms,
            only_if: Condition::new(other, levels),
        })?;
        Ok(())
    }

    fn check_condition(&self, question: &Question, only_if: &Condition) -> Result<()> {
        let refused =
            |why: String| Err(StoreError::Invalid { what: format!("condition of {}", question.name), why });
        let other = self.must_ask(only_if.question)?;
        if other.id == question.id {
            return refused("a question cannot depend on its own answer: name another question".to_owned());
        }
        if only_if.levels.is_empty() {
            return refused(format!("name at least one answer to {}", other.name));
        }
        if let Some(level) = only_if.levels.iter().find(|level| usize::from(**level) >= other.scale.len()) {
            return refused(format!(
                "{} has {} levels, so there is no level {level}",
                other.name,
                other.scale.len()
            ));
        }
        let known = conditions(self.conn).map_err(|e| self.explain("reading the conditions", e))?;
        if waits_for(&known, other.id, question.id) {
            return refused(format!(
                "{} is itself asked only after {}, so that neither would ever be asked",
                other.name, question.name
            ));
        }
        Ok(())
    }

    fn must_ask(&self, id: QuestionId) -> Result<Question> {
        self.question(id)?.ok_or_else(|| StoreError::Unknown { what: "question", name: id.0.to_string() })
    }

    /// Adds names of levels from another copy, as stored by earlier versions. Returns whether they
    /// were new.
    pub(crate) fn add_names(&mut self, new: &NewNames) -> Result<bool> {
        let names = to_json("names of levels", &new.names)?;
        let sql = "INSERT INTO level_names (question, changed_at_ms, names) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        let added = self.run(sql, (new.question.0, new.changed_at_ms, &names));
        Ok(added.map_err(|e| self.explain("renaming levels", e))? > 0)
    }

    /// Adds a fact made here or in another copy. Returns whether it was new.
    pub(crate) fn add_condition(&mut self, new: &NewCondition) -> Result<bool> {
        let levels = to_json("condition", &new.only_if.levels)?;
        let sql = "INSERT INTO conditions (question, changed_at_ms, other, levels) VALUES (?1, ?2, ?3, ?4)
                   ON CONFLICT DO NOTHING";
        let added = self.run(sql, (new.question.0, new.changed_at_ms, new.only_if.question.0, &levels));
        Ok(added.map_err(|e| self.explain("setting a condition", e))? > 0)
    }
}

impl Store {
    /// All changes of names of levels.
    pub(crate) fn all_names(&self) -> Result<Vec<NewNames>> {
        let sql = "SELECT question, changed_at_ms, names FROM level_names";
        self.read("reading names of levels", |c| {
            all(c, sql, [], |r| {
                let question = QuestionId(r.get(0)?);
                Ok(NewNames { question, changed_at_ms: r.get(1)?, names: json(r, 2)? })
            })
        })
    }

    /// All conditions ever set.
    pub(crate) fn all_conditions(&self) -> Result<Vec<NewCondition>> {
        let sql = "SELECT question, changed_at_ms, other, levels FROM conditions";
        self.read("reading conditions", |c| {
            all(c, sql, [], |r| {
                let only_if = Condition::new(QuestionId(r.get(2)?), json::<Vec<u16>>(r, 3)?);
                Ok(NewCondition { question: QuestionId(r.get(0)?), changed_at_ms: r.get(1)?, only_if })
            })
        })
    }
}
