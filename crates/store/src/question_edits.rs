//! Editing prompts, help texts and levels of questions. Each edit is a fact, of which the latest is
//! in effect.

use crate::labels::IS_LABEL;
use crate::level_use::LevelUse;
use crate::level_uses::uses_of;
use crate::levels::{began_with, ever, keys, levels_of, rows_by_key};
use crate::levels_back::is_found;
use crate::log::with_names;
use crate::noted::question_added;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{
    Fact, FactKind, Level, LevelEdit, LevelId, Levels, Question, QuestionHelp, QuestionId, Scale,
};
use serde::Serialize;
use std::collections::HashSet;

/// Maximum number of levels that a question ever had, including removed ones.
const MAX_ROWS: u16 = 100;

/// Changes to a question; `None` leaves a part unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionEdit {
    /// The sentence shown to annotators.
    pub prompt: Option<String>,
    pub help: Option<QuestionHelp>,
    /// All levels, in their new order.
    pub levels: Option<Vec<LevelEdit>>,
    /// The levels that `levels` is an edit of, with `from` being their ids; not compared if `None`.
    pub levels_before: Option<Vec<LevelEdit>>,
    /// Whether the question offers "cannot say". Existing answers are unchanged.
    pub cannot_say: Option<bool>,
}

/// The effect of an edit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuestionEdited {
    /// Whether anything changed.
    pub changed: bool,
    /// Whether levels were reordered, added or removed, so that columns of what models learned have
    /// a new meaning.
    pub rearranged: bool,
}

/// A change to a question, by time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionVersion {
    /// When it took effect, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    pub what: FactKind,
    /// Whether levels were reordered, added or removed.
    pub rearranged: bool,
}

fn json<T: Serialize>(what: &str, value: &T) -> Result<serde_json::Value> {
    let invalid = |e: serde_json::Error| StoreError::Invalid { what: what.to_owned(), why: e.to_string() };
    serde_json::to_value(value).map_err(invalid)
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
        let levels = found.scale.ids().iter().zip(names).map(|(level, name)| LevelEdit {
            from: Some(*level),
            name: name.clone(),
            definition: found.definition(*level).to_owned(),
        });
        let edit = QuestionEdit { levels: Some(levels.collect()), ..QuestionEdit::default() };
        self.edit_question(question, &edit, now_ms).map(drop)
    }

    pub(crate) fn must_ask(&self, id: QuestionId) -> Result<Question> {
        self.question(id)?.ok_or_else(|| StoreError::Unknown { what: "question", name: id.0.to_string() })
    }

    /// Edits a question. Answers are unchanged and retain the levels that they were given.
    ///
    /// # Errors
    /// There is no such question; a text is too long; the levels do not form a scale, or are an edit
    /// of others than the question has by now; a level in use would be removed; or ordered levels,
    /// some of which were used in answers, would be reordered. Nothing is changed then.
    pub fn edit_question(
        &mut self,
        question: QuestionId,
        edit: &QuestionEdit,
        now_ms: i64,
    ) -> Result<QuestionEdited> {
        let unknown = || StoreError::Unknown { what: "question", name: question.0.to_string() };
        let found = self.question(question)?.ok_or_else(unknown)?;
        let refused = |why: String| StoreError::Invalid { what: format!("question {}", found.name), why };
        let mut edited = QuestionEdited::default();
        let fact = |kind, value| Fact { question: Some(question), ..Fact::of_project(kind, now_ms, value) };
        if let Some(prompt) = &edit.prompt {
            let prompt = prompt.trim();
            if prompt.is_empty() {
                return Err(refused("its text cannot be empty: it is what annotators read".to_owned()));
            }
            if prompt.chars().count() > QuestionHelp::LONGEST_TEXT {
                return Err(refused(format!(
                    "its text may have {} characters: put more into its help or into the guideline",
                    QuestionHelp::LONGEST_TEXT
                )));
            }
            if prompt != found.prompt {
                let added =
                    question_added(self.conn, question).map_err(|e| self.explain("reading a question", e))?;
                let at_ms = added.map_or(now_ms, |((added, _), _)| now_ms.max(added));
                let fact = Fact { at_ms, ..fact(FactKind::Prompt, prompt.into()) };
                // The new prompt may equal the previous edit and still be a change, if another copy
                // has since added the question with another prompt.
                self.note_fact(&fact)?;
                edited.changed = true;
            }
        }
        if let Some(help) = &edit.help {
            let help = help.trimmed();
            help.check().map_err(|e| refused(e.to_string()))?;
            if help != found.help {
                edited.changed |= self.set_fact(&fact(FactKind::Help, json("help", &help)?))?;
            }
        }
        if let Some(cannot_say) = edit.cannot_say.filter(|wanted| *wanted != found.cannot_say) {
            if found.scale.form().marks_words() {
                return Err(refused(
                    "a question about spans cannot offer \"cannot say\": mark nothing, or skip the text"
                        .to_owned(),
                ));
            }
            edited.changed |= self.set_fact(&fact(FactKind::CannotSay, cannot_say.into()))?;
        }
        if let Some(levels) = &edit.levels {
            let explain = |tx: &Self, e| tx.explain("reading the levels", e);
            let before = levels_of(self.conn, &found).map_err(|e| explain(self, e))?;
            if edit.levels_before.as_ref().is_some_and(|began| *began != current(&found)) {
                return Err(refused(
                    "its levels were changed elsewhere meanwhile, by a merge or another window: open it again and \
                     repeat the edit"
                        .to_owned(),
                ));
            }
            for level in levels {
                level.check().map_err(|e| refused(e.to_string()))?;
            }
            let after = self.arranged(&found, &before, levels).map_err(refused)?;
            if after != before {
                edited.rearranged = keys(&after) != keys(&before);
                if edited.rearranged {
                    self.must_be_free(&found, &before, &after)?;
                    self.rearranged(question)?;
                }
                self.add_level_rows(question, &after)?;
                edited.changed |= self.set_fact(&fact(FactKind::Levels, json("levels", &after)?))?;
            }
        }
        Ok(edited)
    }

    /// The levels that an edit asks for.
    fn arranged(
        &self,
        question: &Question,
        before: &Levels,
        wanted: &[LevelEdit],
    ) -> std::result::Result<Levels, String> {
        let scale = Scale::new(question.scale.kind(), wanted.iter().map(|level| level.name.as_str()))
            .map_err(|e| e.to_string())?;
        // A binary scale would have no room for a third level that another copy uses and that would
        // have to be restored.
        if scale.is_binary() && wanted.iter().any(|level| level.from.is_none()) {
            return Err(
                "its two levels stay, as it is binary: rename them, or make a new question".to_owned()
            );
        }
        if scale.len() != wanted.len() {
            return Err("these names read as sets of options: name each option once".to_owned());
        }
        let known = rows_by_key(self.conn, question.id).map_err(|e| e.to_string())?;
        let mut used: HashSet<String> = HashSet::new();
        let mut levels = Vec::with_capacity(wanted.len());
        // Existing levels retain their keys; a new level uses its name as the key if that is free.
        let stored = |from: LevelId| before.levels.get(usize::from(question.scale.index_of_id(from)?));
        for level in wanted {
            if let Some(from) = level.from {
                let kept = stored(from).ok_or_else(|| {
                    let levels = question.scale.levels().join(", ");
                    format!("it has no level with the id {from}; it may have been removed. It has {levels}")
                })?;
                if !used.insert(kept.key.clone()) {
                    return Err(format!("the level \"{}\" is listed twice", kept.name));
                }
            }
        }
        let existing: HashSet<&str> = before.levels.iter().map(|level| level.key.as_str()).collect();
        for (level, name) in wanted.iter().zip(scale.levels()) {
            let key = match level.from.and_then(stored) {
                Some(stored) => stored.key.clone(),
                None => {
                    let free = |key: &String| !used.contains(key) && !existing.contains(key.as_str());
                    let mut tried =
                        (1_u32..).map(|n| if n == 1 { name.clone() } else { format!("{name} ({n})") });
                    let key = tried.find(free).unwrap_or_else(|| name.clone());
                    used.insert(key.clone());
                    key
                }
            };
            levels.push(Level { key, name: name.clone(), definition: level.definition.trim().to_owned() });
        }
        let new = levels.iter().filter(|level| !known.contains_key(&level.key)).count();
        let most = usize::from(most_rows(question));
        if known.len() + new > most {
            return Err(format!(
                "it has had {} levels, those that were removed among them, and can have {most}: make a new question",
                known.len()
            ));
        }
        Ok(Levels { began: before.began, levels })
    }

    /// Fails if a level in use would be removed, or if levels used in answers would be reordered.
    fn must_be_free(&self, question: &Question, before: &Levels, after: &Levels) -> Result<()> {
        let explain = |e| self.explain("reading what uses the levels", e);
        let uses = uses_of(self.conn, question.id).map_err(explain)?;
        let rows = rows_by_key(self.conn, question.id).map_err(explain)?;
        let of = |level: &Level| rows.get(&level.key).and_then(|row| uses.get(row));
        let stays: HashSet<&str> = after.levels.iter().map(|level| level.key.as_str()).collect();
        let refused = |level: &Level, why: String| StoreError::Invalid {
            what: format!("level \"{}\" of {}", level.name, question.name),
            why,
        };
        for level in before.levels.iter().filter(|level| !stays.contains(level.key.as_str())) {
            if let Some(used) = of(level) {
                return Err(refused(
                    level,
                    format!("it cannot be removed, because {used} it: rename it instead"),
                ));
            }
        }
        if !question.scale.is_ordered() {
            return Ok(());
        }
        let answered = |levels: &Levels| -> Vec<String> {
            let used = levels.levels.iter().filter(|level| of(level).is_some_and(LevelUse::is_answered));
            used.map(|level| level.key.clone()).collect()
        };
        let (was, is) = (answered(before), answered(after));
        if let Some((key, _)) = was.iter().zip(&is).find(|(a, b)| a != b)
            && let Some(level) = before.levels.iter().find(|level| level.key == *key)
            && let Some(used) = of(level)
        {
            return Err(refused(
                level,
                format!(
                    "it cannot change places with another level that was answered, because {used} it: the order of \
                     levels is part of what they mean"
                ),
            ));
        }
        Ok(())
    }

    /// Assigns a row id to every level.
    pub(crate) fn add_level_rows(&mut self, question: QuestionId, levels: &Levels) -> Result<()> {
        let keys: Vec<String> = levels.levels.iter().map(|level| level.key.clone()).collect();
        self.add_level_keys(question, &keys)
    }

    /// Like [`WriteTx::add_level_rows`], by initial name.
    pub(crate) fn add_level_keys(&mut self, question: QuestionId, keys: &[String]) -> Result<()> {
        let explain = |tx: &Self, e| tx.explain("adding a level", e);
        let known = rows_by_key(self.conn, question).map_err(|e| explain(self, e))?;
        let next = known.values().max().map_or(0, |row| row.0 + 1);
        let most = self.question(question)?.map_or(MAX_ROWS, |question| most_rows(&question));
        for (row, key) in (next..).zip(keys.iter().filter(|key| !known.contains_key(*key))) {
            if row >= most {
                return Err(StoreError::Invalid {
                    what: format!("question {}", question.0),
                    why: format!(
                        "it has had {most} levels, those that were removed among them, and can have no more"
                    ),
                });
            }
            self.run(
                "INSERT INTO levels (question, level, name) VALUES (?1, ?2, ?3)",
                (question.0, row, key),
            )
            .map_err(|e| explain(self, e))?;
        }
        Ok(())
    }

    /// Deletes what models learned about a question after the columns of its levels have changed.
    pub(crate) fn rearranged(&mut self, question: QuestionId) -> Result<()> {
        self.forget_heads_of(question)
    }
}

/// The levels of a question, as an edit that changes nothing.
fn current(question: &Question) -> Vec<LevelEdit> {
    let of = |(level, name): (&LevelId, &String)| LevelEdit {
        from: Some(*level),
        name: name.clone(),
        definition: question.definition(*level).to_owned(),
    };
    question.scale.ids().iter().zip(question.scale.levels()).map(of).collect()
}

/// Maximum number of levels that a question ever had; for options, the capacity of a set.
fn most_rows(question: &Question) -> u16 {
    if question.scale.form().is_set() { Scale::MAX_OPTIONS as u16 } else { MAX_ROWS }
}

impl Store {
    /// Edits a question. See [`WriteTx::edit_question`].
    pub fn edit_question(
        &self,
        question: QuestionId,
        edit: &QuestionEdit,
        now_ms: i64,
    ) -> Result<QuestionEdited> {
        let edit = edit.clone();
        self.write(move |tx| tx.edit_question(question, &edit, now_ms))
    }

    /// All edits of a question, oldest first.
    pub fn question_versions(&self, question: QuestionId) -> Result<Vec<QuestionVersion>> {
        let mut found = Vec::new();
        for what in [FactKind::Prompt, FactKind::Help, FactKind::Levels, FactKind::CannotSay] {
            // Restored levels are computed in each copy at a different time, and nobody edited
            // them.
            let edits = |fact: &Fact| fact.question == Some(question) && !is_found(fact);
            let facts = self.all_facts(what)?.into_iter().filter(edits);
            let mut before: Option<Vec<String>> = None;
            for fact in facts {
                let mut rearranged = false;
                if let Ok(levels) = serde_json::from_value::<Levels>(fact.value) {
                    let now: Vec<String> = keys(&levels).into_iter().map(str::to_owned).collect();
                    let began = || self.read("reading the levels", |c| began_with(c, question, levels.began));
                    let was = before.take().map_or_else(began, Ok)?;
                    rearranged = was != now;
                    before = Some(now);
                }
                found.push(QuestionVersion { at_ms: fact.at_ms, what, rearranged });
            }
        }
        found.sort_by_key(|version| version.at_ms);
        Ok(found)
    }

    /// How many current labels of a question were given before this time.
    pub fn labels_before(&self, question: QuestionId, at_ms: i64) -> Result<u32> {
        let sql = format!(
            "SELECT count(*) FROM current_answers AS a CROSS JOIN events AS e ON e.id = a.event
             WHERE a.question = ?1 AND a.occasion = 1 AND e.at_ms < ?2 AND a.{IS_LABEL}"
        );
        self.read("counting labels", |c| c.query_row(&sql, (question.0, at_ms), |r| r.get(0)))
    }

    /// The initial names of the levels of a question, in their current order. They identify the
    /// levels independently of their current names.
    ///
    /// # Errors
    /// There is no such question.
    pub fn level_keys(&self, question: QuestionId) -> Result<Vec<String>> {
        let questions = self.questions()?;
        let unknown = || StoreError::Unknown { what: "question", name: question.0.to_string() };
        let found = questions.iter().find(|known| known.id == question.row()).ok_or_else(unknown)?;
        self.read("reading the levels", |c| {
            Ok(levels_of(c, found)?.levels.into_iter().map(|level| level.key).collect())
        })
    }

    /// The initial names of all levels that a question ever had, by id: the number of an id is its index.
    pub fn keys_by_id(&self, question: QuestionId) -> Result<Vec<String>> {
        self.read("reading the levels", |c| ever(c, question.row()))
    }

    /// The uses of each level of a question, in the order of the scale; `None` for unused levels.
    ///
    /// # Errors
    /// There is no such question.
    pub fn level_uses(&self, question: QuestionId) -> Result<Vec<(LevelId, Option<LevelUse>)>> {
        let keys = self.level_keys(question)?;
        self.read("reading what depends on the levels", |c| {
            let (uses, rows) = (uses_of(c, question)?, rows_by_key(c, question)?);
            let levels = keys.iter().filter_map(|key| rows.get(key));
            Ok(levels.map(|level| (*level, uses.get(level).cloned())).collect())
        })
    }
}
