//! Names of the levels of a question, as set by earlier versions: a list of all names. Later facts about the
//! levels take precedence.

use super::question_facts::EDIT;
use super::{Kind, read, select};
use crate::Done;
use crate::row::bad;
use dissensus_domain::{QuestionId, Scale};
use rusqlite::Connection;

pub(super) const KIND: Kind = Kind {
    sound: |_, fact, scale| {
        let names: Vec<String> = read(&fact.value).map_err(|e| e.to_string())?;
        with_names(scale, &names).map(drop)
    },
    done: |_, fact| Ok(Done::LevelNames { names: read(&fact.value)? }),
    ..EDIT
};

/// Lists of names that the levels of a question ever had, from oldest to latest.
pub(crate) fn names_ever(conn: &Connection, question: QuestionId) -> rusqlite::Result<Vec<Vec<String>>> {
    let found = select(conn, "WHERE kind = 'level-names' AND coalesce(question, 0) = ?1", [question.0])?;
    found.iter().map(|fact| read(&fact.value)).collect()
}

/// The scale with the current names of its levels.
pub(crate) fn renamed(conn: &Connection, question: QuestionId, scale: Scale) -> rusqlite::Result<Scale> {
    let Some(names) = names_ever(conn, question)?.pop() else { return Ok(scale) };
    with_names(&scale, &names).map_err(|why| bad(0, why))
}

/// The scale with these names of all its levels.
pub(crate) fn with_names(scale: &Scale, names: &[String]) -> Result<Scale, String> {
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
