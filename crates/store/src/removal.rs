//! Removing questions, texts and annotators that nothing depends on.
//!
//! This is for items that were added by mistake. Anything that was answered, decided, assigned or
//! shown is permanent. Merging a copy of the project that still has a removed item adds it again,
//! since no record of the removal is stored.

use crate::dependents::{Dependents, Use};
use crate::log::{kind, names_where, panels};
use crate::tx::first;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, FactKind, Panel, PanelMembers, QuestionId, SavedPanel, TextId};
use rusqlite::Connection;
use serde_json::Value;
use strum::VariantArray as _;

/// An item that can be removed from a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removable {
    /// A question with its levels and help.
    Question(QuestionId),
    Text(TextId),
    /// An annotator with their attributes.
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

    fn place(self) -> &'static ItemColumns {
        match self {
            Self::Question(_) => &QUESTIONS,
            Self::Text(_) => &TEXTS,
            Self::Annotator(_) => &ANNOTATORS,
        }
    }
}

/// How an item is stored in the file.
pub(crate) struct ItemColumns {
    /// The table of the item.
    pub(crate) table: &'static str,
    /// The column with its name.
    name: &'static str,
    /// The column of facts that refers to it. Facts are deleted together with the item, unless their kind
    /// prevents its removal.
    column: &'static str,
    /// Rows that prevent its removal: what is counted, the table (which may be restricted), and the column
    /// that refers to the item.
    uses: &'static [(Use, &'static str, &'static str)],
    /// Whether facts about it prevent its removal with an import, since somebody has worked on it since.
    has_work: bool,
    /// Rows that are deleted together with the item: the table and the column that refers to it.
    parts: &'static [(&'static str, &'static str)],
}

/// Re-annotations, and all other events.
const REANNOTATIONS: &str = "(SELECT * FROM events WHERE occasion > 1 AND kind = 'answer')";
const OTHER_EVENTS: &str = "(SELECT * FROM events WHERE occasion = 1 OR kind <> 'answer')";

static QUESTIONS: ItemColumns = ItemColumns {
    table: "questions",
    name: "name",
    column: "question",
    uses: &[
        (Use::Answers, OTHER_EVENTS, "question"),
        (Use::Repeats, REANNOTATIONS, "question"),
        (Use::Packets, "packet_questions", "question"),
    ],
    has_work: true,
    parts: &[("facts", "question"), ("heads", "question"), ("levels", "question")],
};

static TEXTS: ItemColumns = ItemColumns {
    table: "texts",
    name: "external_id",
    column: "text",
    uses: &[
        (Use::Answers, OTHER_EVENTS, "text"),
        (Use::Repeats, REANNOTATIONS, "text"),
        (Use::Packets, "assignments", "text"),
    ],
    has_work: false,
    parts: &[("facts", "text"), ("embeddings", "text")],
};

static ANNOTATORS: ItemColumns = ItemColumns {
    table: "annotators",
    name: "external_id",
    column: "annotator",
    uses: &[
        (Use::Answers, OTHER_EVENTS, "annotator"),
        (Use::Repeats, REANNOTATIONS, "annotator"),
        (Use::Packets, "packets", "annotator"),
    ],
    has_work: true,
    parts: &[("facts", "annotator")],
};

impl ItemColumns {
    /// What prevents the removal of the item `t`, as SQL for rows `u`. For many items, facts are found by the
    /// item, which has a temporary index, instead of by kind.
    fn uses(&self, of_many: bool) -> Vec<(Use, String)> {
        let tables = self.uses.iter();
        let mut found: Vec<(Use, String)> = tables
            .map(|(of, table, column)| (*of, format!("{table} AS u WHERE u.{column} = t.id")))
            .collect();
        for one in FactKind::VARIANTS {
            let (column, name, plus) = (self.column, one.name(), if of_many { "+" } else { "" });
            if let Some(of) = kind(*one).keeps {
                found.push((of, format!("facts AS u WHERE {plus}u.kind = '{name}' AND u.{column} = t.id")));
            }
        }
        // A page for everybody is a packet for those who will join.
        if let Some(member) = match self.table {
            "questions" => Some("questions"),
            "texts" => Some("texts"),
            _ => None,
        } {
            let name = self.name;
            found.push((
                Use::Packets,
                format!(
                    "(SELECT key AS packet, value FROM facts WHERE kind = 'join-page') AS u WHERE EXISTS \
                     (SELECT 1 FROM json_each(u.value, '$.{member}') AS named WHERE named.value = t.{name})"
                ),
            ));
        }
        if self.table == "questions" {
            let of_others =
                "facts AS u WHERE u.kind = 'condition' AND json_extract(u.value, '$.question') = t.name";
            found.push((Use::Conditions, of_others.to_owned()));
        }
        found
    }
}

pub(crate) static PLACES: [&ItemColumns; 3] = [&QUESTIONS, &TEXTS, &ANNOTATORS];

/// Tables protected by triggers whose rows are deleted together with the item that they are about.
pub(crate) const KEPT: [&str; 2] = ["facts", "levels"];

/// What depends on `what`, and its name; `None` if it does not exist.
fn name_and_dependents(conn: &Connection, what: Removable) -> rusqlite::Result<Option<(String, Dependents)>> {
    let (place, row) = (what.place(), what.row());
    let sql = format!("SELECT {} FROM {} WHERE id = ?1", place.name, place.table);
    let Some(name) = first(conn, &sql, [row], |r| r.get::<_, String>(0))? else { return Ok(None) };
    let mut found = Dependents::default();
    for (of, rows) in place.uses(false) {
        // A packet that includes a text twice counts once.
        let what = if of == Use::Packets && place.table != "annotators" { "DISTINCT u.packet" } else { "*" };
        let sql =
            format!("SELECT (SELECT count({what}) FROM {rows}) FROM {} AS t WHERE t.id = ?1", place.table);
        *found.count(of) += first(conn, &sql, [row], |r| r.get::<_, u32>(0))?.unwrap_or(0);
    }
    for saved in panels(conn)? {
        let (questions, people) = named_by(&saved);
        let names = match what {
            Removable::Question(_) => questions,
            Removable::Text(_) => Vec::new(),
            Removable::Annotator(_) => people,
        };
        if names.contains(&name) {
            found.panels.push(saved.name);
        }
    }
    Ok(Some((name, found)))
}

/// The questions and the annotators that a saved panel names.
fn named_by(saved: &SavedPanel) -> (Vec<String>, Vec<String>) {
    let Some(Panel { question, members, .. }) = saved.panel.clone() else { return Default::default() };
    let people = match members {
        PanelMembers::Named(people) => people,
        PanelMembers::Drawn { .. } => Vec::new(),
    };
    (question.into_iter().collect(), people)
}

/// Names of questions and annotators in saved panels, as a JSON list.
pub(crate) fn named_by_panels(conn: &Connection) -> rusqlite::Result<String> {
    let saved = panels(conn)?;
    let named =
        saved.iter().map(named_by).flat_map(|(questions, people)| questions.into_iter().chain(people));
    Ok(Value::from(named.collect::<Vec<String>>()).to_string())
}

fn unknown(what: Removable) -> StoreError {
    StoreError::Unknown { what: what.what(), name: what.row().to_string() }
}

impl Store {
    /// What depends on an item and prevents its removal.
    ///
    /// # Errors
    /// There is no such item.
    pub fn dependents_of(&self, what: Removable) -> Result<Dependents> {
        let found = self.read("reading what depends on something", |c| name_and_dependents(c, what))?;
        found.map(|(_, dependents)| dependents).ok_or_else(|| unknown(what))
    }
}

impl WriteTx<'_> {
    /// Removes items that nothing depends on. Their row ids are not reused.
    ///
    /// # Errors
    /// An item does not exist, or something depends on it; the transaction should then be rolled
    /// back.
    pub fn remove(&mut self, all: &[Removable]) -> Result<()> {
        for what in all {
            let found = name_and_dependents(self.conn, *what)
                .map_err(|e| self.explain("reading what depends on it", e))?;
            let (name, dependents) = found.ok_or_else(|| unknown(*what))?;
            if !dependents.is_empty() {
                return Err(StoreError::Invalid {
                    what: format!("{} \"{name}\"", what.what()),
                    why: format!("it stays, because of {dependents}"),
                });
            }
        }
        let path = self.path;
        let explain = |e| StoreError::explain(path, "removing", e);
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
            // The live models refer to texts and annotators by index.
            tx.run("DELETE FROM heads", []).map(drop).map_err(explain)
        })
    }

    /// Removes from the rows after `after` up to `to` of a table, in one statement, all that
    /// nothing depends on and that are not in `panels`. Returns how many were removed. The caller
    /// is responsible for triggers, and for indexes that make this fast.
    pub(crate) fn remove_unused(
        &self,
        place: &ItemColumns,
        after: u32,
        to: u32,
        panels: &str,
    ) -> rusqlite::Result<u32> {
        let uses =
            place.uses(true).into_iter().map(|(_, rows)| format!("AND NOT EXISTS (SELECT 1 FROM {rows})"));
        let work = place.has_work.then(|| {
            let (column, kinds) = (place.column, names_where(|kind| kind.is_work));
            format!("AND NOT EXISTS (SELECT 1 FROM facts AS w WHERE w.{column} = t.id AND w.kind IN {kinds})")
        });
        let unused = format!(
            "SELECT t.id FROM {} AS t WHERE t.id > ?1 AND t.id <= ?2
                 AND t.{} NOT IN (SELECT value FROM json_each(?3)) {}",
            place.table,
            match place.table {
                // A text may have the same name as an annotator.
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
    use crate::tx::all;

    /// A table that is added later and refers to a question, a text or an annotator must be listed
    /// as a use or a part.
    #[test]
    fn every_reference_is_a_use_or_a_part() {
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
                    let table_of = |t: &str| if t == OTHER_EVENTS { "events" } else { t }.to_owned();
                    let known = place.uses.iter().any(|(_, t, c)| table_of(t) == *table && *c == column)
                        || place.parts.iter().any(|(t, c)| t == table && c == column);
                    assert!(known, "{table}.{column} refers to {}", place.table);
                }
            }
        }
    }
}
