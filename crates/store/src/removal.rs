//! Taking out a question, a text or a person that nothing stands on.
//!
//! What somebody answered, decided, was handed or was told stays for good; this is for what was added by mistake. A copy of the project
//! that still has it brings it back when it is taken in: nothing is kept of what was removed.

use crate::row::json;
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, Panel, PanelMembers, QuestionId, TextId};
use rusqlite::Connection;
use std::fmt;

/// Something that can be taken out of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removable {
    /// A question with its levels and help.
    Question(QuestionId),
    /// A text.
    Text(TextId),
    /// A person with what is known of them.
    Annotator(AnnotatorId),
}

impl Removable {
    fn row(self) -> u32 {
        match self {
            Self::Question(id) => id.0,
            Self::Text(id) => id.0,
            Self::Annotator(id) => id.0,
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Question(_) => "question",
            Self::Text(_) => "text",
            Self::Annotator(_) => "annotator",
        }
    }

    fn place(self) -> &'static Place {
        match self {
            Self::Question(_) => &QUESTIONS,
            Self::Text(_) => &TEXTS,
            Self::Annotator(_) => &ANNOTATORS,
        }
    }
}

/// Where something stands in the file.
pub(crate) struct Place {
    /// Its own table.
    pub(crate) table: &'static str,
    /// The column with its name.
    name: &'static str,
    /// Rows that keep it from being taken out: what is counted, the table, the column with its row, and which rows of that table.
    uses: &'static [(Use, &'static str, &'static str, &'static str)],
    /// Rows that go with it where it is taken out by itself, and keep it where an import is: somebody worked on it since.
    work: &'static [(&'static str, &'static str)],
    /// Rows that go with it: the table and the column with its row.
    parts: &'static [(&'static str, &'static str)],
}

#[derive(Clone, Copy)]
enum Use {
    Answers,
    Repeats,
    Packets,
    Decisions,
    Checks,
    Practice,
    Shown,
    Conditions,
}

const ANY: &str = "true";
const PRACTISED: &str = "kind IN ('practice-text', 'practice-answer')";
const WAS_SHOWN: &str = "kind = 'shown'";

static QUESTIONS: Place = Place {
    table: "questions",
    name: "name",
    uses: &[
        (Use::Answers, "events", "question", ANY),
        (Use::Repeats, "repeats", "question", ANY),
        (Use::Packets, "packet_questions", "question", ANY),
        (Use::Decisions, "decisions", "question", ANY),
        (Use::Checks, "attention_checks", "question", ANY),
        (Use::Practice, "facts", "question", PRACTISED),
        (Use::Shown, "facts", "question", WAS_SHOWN),
        (Use::Conditions, "conditions", "other", ANY),
    ],
    work: &[
        ("level_names", "question"),
        ("conditions", "question"),
        ("remark_forms", "question"),
        ("facts", "question"),
    ],
    parts: &[
        ("level_names", "question"),
        ("conditions", "question"),
        ("remark_forms", "question"),
        ("facts", "question"),
        ("heads", "question"),
        ("levels", "question"),
    ],
};

static TEXTS: Place = Place {
    table: "texts",
    name: "external_id",
    uses: &[
        (Use::Answers, "events", "text", ANY),
        (Use::Repeats, "repeats", "text", ANY),
        (Use::Packets, "assignments", "text", ANY),
        (Use::Decisions, "decisions", "text", ANY),
        (Use::Checks, "attention_checks", "text", ANY),
        (Use::Practice, "facts", "text", PRACTISED),
        (Use::Shown, "facts", "text", WAS_SHOWN),
    ],
    work: &[],
    parts: &[("facts", "text"), ("embeddings", "text")],
};

static ANNOTATORS: Place = Place {
    table: "annotators",
    name: "external_id",
    uses: &[
        (Use::Answers, "events", "annotator", ANY),
        (Use::Repeats, "repeats", "annotator", ANY),
        (Use::Packets, "packets", "annotator", ANY),
        (Use::Practice, "facts", "annotator", PRACTISED),
        (Use::Shown, "facts", "annotator", WAS_SHOWN),
    ],
    work: &[("facts", "annotator")],
    parts: &[("facts", "annotator"), ("annotator_changes", "annotator")],
};

pub(crate) static PLACES: [&Place; 3] = [&QUESTIONS, &TEXTS, &ANNOTATORS];

/// Tables whose rows are kept by triggers and can go with what they are about.
pub(crate) const KEPT: [&str; 6] =
    ["level_names", "conditions", "remark_forms", "facts", "levels", "annotator_changes"];

/// What stands on a question, a text or a person, and keeps it in the project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Answers, skips, flags and notes, those too that were changed or taken back since: they are in the history.
    pub answers: u32,
    /// Answers of later occasions.
    pub repeats: u32,
    /// Packets.
    pub packets: u32,
    /// Decisions.
    pub decisions: u32,
    /// Attention checks, those too that are none any more.
    pub checks: u32,
    /// Texts to practise on and answers in practice.
    pub practice: u32,
    /// Times that somebody was shown others' answers.
    pub shown: u32,
    /// Times that another question was said to be asked only after it.
    pub conditions: u32,
    /// Saved panels that name it.
    pub panels: Vec<String>,
}

impl Standing {
    /// Whether nothing stands on it, so that it can go.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    fn count(&mut self, of: Use) -> &mut u32 {
        match of {
            Use::Answers => &mut self.answers,
            Use::Repeats => &mut self.repeats,
            Use::Packets => &mut self.packets,
            Use::Decisions => &mut self.decisions,
            Use::Checks => &mut self.checks,
            Use::Practice => &mut self.practice,
            Use::Shown => &mut self.shown,
            Use::Conditions => &mut self.conditions,
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        for (n, one, many) in [
            (self.answers, "entry in its history", "entries in its history"),
            (self.repeats, "answer of a later occasion", "answers of later occasions"),
            (self.packets, "packet", "packets"),
            (self.decisions, "decision", "decisions"),
            (self.checks, "attention check", "attention checks"),
            (self.practice, "text or answer of practice", "texts or answers of practice"),
            (self.shown, "time that others' answers were shown", "times that others' answers were shown"),
            (
                self.conditions,
                "time that another question was asked only after it",
                "times that others were asked only after it",
            ),
        ] {
            if n > 0 {
                parts.push(format!("{n} {}", if n == 1 { one } else { many }));
            }
        }
        parts.extend(self.panels.iter().map(|name| format!("the saved panel \"{name}\"")));
        f.write_str(&parts.join(", "))
    }
}

/// What stands on `what`, and its name; `None` where it is not there.
fn standing(conn: &Connection, what: Removable) -> rusqlite::Result<Option<(String, Standing)>> {
    let (place, row) = (what.place(), what.row());
    let sql = format!("SELECT {} FROM {} WHERE id = ?1", place.name, place.table);
    let Some(name) = first(conn, &sql, [row], |r| r.get::<_, String>(0))? else { return Ok(None) };
    let mut found = Standing::default();
    for (of, table, column, which) in place.uses {
        // A packet that asks a text twice is one.
        let what = if matches!(of, Use::Packets) && *table != "packets" { "DISTINCT packet" } else { "*" };
        let sql = format!("SELECT count({what}) FROM {table} WHERE {column} = ?1 AND {which}");
        *found.count(*of) += first(conn, &sql, [row], |r| r.get::<_, u32>(0))?.unwrap_or(0);
    }
    for panel in panels(conn)? {
        let names = match what {
            Removable::Question(_) => panel.questions,
            Removable::Text(_) => Vec::new(),
            Removable::Annotator(_) => panel.people,
        };
        if names.contains(&name) {
            found.panels.push(panel.name);
        }
    }
    Ok(Some((name, found)))
}

/// A saved panel and whom and what it names.
struct Named {
    name: String,
    questions: Vec<String>,
    people: Vec<String>,
}

/// Panels that are kept.
fn panels(conn: &Connection) -> rusqlite::Result<Vec<Named>> {
    // The latest of each name holds, and is empty where the panel is kept no longer.
    let latest = "SELECT name, panel FROM panels AS p WHERE panel <> '' AND NOT EXISTS (
            SELECT 1 FROM panels AS later WHERE later.name = p.name
                AND (later.saved_at_ms, later.panel) > (p.saved_at_ms, p.panel))
         ORDER BY name";
    all(conn, latest, [], |r| {
        let Panel { question, members, .. } = json(r, 1)?;
        let people = match members {
            PanelMembers::Named(people) => people,
            PanelMembers::Drawn { .. } => Vec::new(),
        };
        Ok(Named { name: r.get(0)?, questions: question.into_iter().collect(), people })
    })
}

/// Names of questions and people in saved panels, as a list in JSON.
pub(crate) fn named_by_panels(conn: &Connection) -> rusqlite::Result<String> {
    let names: Vec<String> =
        panels(conn)?.into_iter().flat_map(|panel| panel.questions.into_iter().chain(panel.people)).collect();
    Ok(serde_json::Value::from(names).to_string())
}

fn unknown(what: Removable) -> StoreError {
    StoreError::Unknown { what: what.what(), name: what.row().to_string() }
}

impl Store {
    /// What stands on something and keeps it in the project.
    ///
    /// # Errors
    /// It is not there, or what the disk says.
    pub fn standing_on(&self, what: Removable) -> Result<Standing> {
        let found = self.read("reading what stands on something", |c| standing(c, what))?;
        found.map(|(_, standing)| standing).ok_or_else(|| unknown(what))
    }
}

impl WriteTx<'_> {
    /// Takes out what nothing stands on. Its row is not used again.
    ///
    /// # Errors
    /// One of them is not there, or something stands on it; then nothing should be kept of this transaction.
    pub fn remove(&mut self, all: &[Removable]) -> Result<()> {
        for what in all {
            let found =
                standing(self.conn, *what).map_err(|e| self.explain("reading what stands on it", e))?;
            let (name, standing) = found.ok_or_else(|| unknown(*what))?;
            if !standing.is_nothing() {
                return Err(StoreError::Invalid {
                    what: format!("{} \"{name}\"", what.what()),
                    why: format!("it stays, because of {standing}"),
                });
            }
        }
        let path = self.path;
        let explain = |e| StoreError::explain(path, "removing", e);
        self.keep_highest_rows().map_err(explain)?;
        self.deleting_from(&KEPT, |tx| {
            for what in all {
                let place = what.place();
                for (table, column) in place.parts {
                    tx.run(&format!("DELETE FROM {table} WHERE {column} = ?1"), [what.row()])
                        .map_err(explain)?;
                }
                if let Removable::Question(id) = what {
                    tx.remove_wordings(*id)?;
                }
                tx.run(&format!("DELETE FROM {} WHERE id = ?1", place.table), [what.row()])
                    .map_err(explain)?;
                if let Removable::Annotator(id) = what {
                    tx.forget_in_imports(*id)?;
                }
            }
            // Models in use know texts and people by their places.
            tx.run("DELETE FROM heads", []).map(drop).map_err(explain)
        })
    }

    /// Takes out of the rows behind `after` up to `to` of a table what nothing stands on, all at once, but for what `panels` name. Returns
    /// how many went. Triggers are the caller's, and so are indexes that make it fast.
    pub(crate) fn remove_unused(
        &self,
        place: &Place,
        after: u32,
        to: u32,
        panels: &str,
    ) -> rusqlite::Result<u32> {
        let uses = place.uses.iter().map(|(_, table, column, which)| {
            format!("AND NOT EXISTS (SELECT 1 FROM {table} AS u WHERE u.{column} = t.id AND {which})")
        });
        let work = place.work.iter().map(|(table, column)| {
            format!("AND NOT EXISTS (SELECT 1 FROM {table} AS w WHERE w.{column} = t.id)")
        });
        let unused = format!(
            "SELECT t.id FROM {} AS t WHERE t.id > ?1 AND t.id <= ?2
                 AND t.{} NOT IN (SELECT value FROM json_each(?3)) {}",
            place.table,
            match place.table {
                // A text may be called as somebody is.
                "texts" => "id",
                _ => place.name,
            },
            uses.chain(work).collect::<Vec<_>>().join(" ")
        );
        for (table, column) in place.parts {
            self.run(&format!("DELETE FROM {table} WHERE {column} IN ({unused})"), (after, to, panels))?;
        }
        Ok(self.run(&format!("DELETE FROM {} WHERE id IN ({unused})", place.table), (after, to, panels))?
            as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate::{MIGRATIONS, apply};

    /// A table that is added later and refers to a question, a text or a person has to be a use or a part.
    #[test]
    fn every_table_that_refers_to_something_is_a_use_or_a_part_of_it() {
        let mut conn = Connection::open_in_memory().unwrap();
        apply(&mut conn, MIGRATIONS, 0).unwrap();
        let tables: Vec<String> =
            all(&conn, "SELECT name FROM sqlite_schema WHERE type = 'table'", [], |r| r.get(0)).unwrap();
        for place in PLACES {
            for table in &tables {
                let sql = format!("SELECT \"table\", \"from\" FROM pragma_foreign_key_list('{table}')");
                let keys =
                    all(&conn, &sql, [], |r| Ok((r.get::<_, String>(0)?, r.get::<_, String>(1)?))).unwrap();
                for (_, column) in keys.iter().filter(|(to, _)| to == place.table) {
                    // Goes with the answer of a later occasion that it is about.
                    let with_repeat = ["repeat_remarks", "repeat_origins"].contains(&table.as_str());
                    let known = place.uses.iter().any(|(_, t, c, _)| t == table && c == column)
                        || place.parts.iter().any(|(t, c)| t == table && c == column);
                    assert!(known || with_repeat, "{table}.{column} refers to {}", place.table);
                }
            }
        }
    }
}
