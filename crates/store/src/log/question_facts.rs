//! Edits of questions: prompt, help, levels, and whether "cannot say" is offered.

use super::{About, Kind, Listed, SETTING};
use crate::WriteTx;
use crate::levels::rows_of;
use dissensus_domain::{Fact, Levels, QuestionHelp, Scale};
use serde_json::Value;

/// The description that all edits of questions share.
pub(super) const EDIT: Kind = Kind {
    about: About::Question,
    count: |report| &mut report.question_changes,
    listed: Some(Listed { words: "value", ..Listed::new("'question'") }),
    ..SETTING
};

pub(super) const PROMPT: Kind = Kind { sound: |_, fact, _| is(fact.value.is_string()), ..EDIT };
pub(super) const CANNOT_SAY: Kind = Kind { sound: |_, fact, _| is(fact.value.is_boolean()), ..EDIT };
pub(super) const HELP: Kind = Kind { sound: |_, fact, _| help(&fact.value), ..EDIT };
pub(super) const LEVELS: Kind = Kind { sound: levels, ..EDIT };

fn is(right: bool) -> Result<(), String> {
    if right { Ok(()) } else { Err("it is not what it should be".to_owned()) }
}

fn help(value: &Value) -> Result<(), String> {
    let help = serde_json::from_value::<Option<QuestionHelp>>(value.clone());
    help.map_err(|e| e.to_string())?.unwrap_or_default().check().map_err(|e| e.to_string())
}

/// Whether levels of another copy are valid for a question that was added with `scale`.
fn levels(tx: &WriteTx<'_>, fact: &Fact, scale: &Scale) -> Result<(), String> {
    let Some(question) = fact.question else { return Err("it is of no question".to_owned()) };
    let levels: Levels = serde_json::from_value(fact.value.clone()).map_err(|e| e.to_string())?;
    if usize::from(levels.began) != scale.len() {
        return Err("it states that the question began with other levels".to_owned());
    }
    let named = Scale::new(scale.kind(), levels.levels.iter().map(|level| level.name.as_str()));
    let named = named.map_err(|e| e.to_string())?;
    let mut keys: Vec<&str> = levels.levels.iter().map(|level| level.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    if keys.len() != named.len() {
        return Err("a level is listed twice in it".to_owned());
    }
    rows_of(tx.conn, question, &levels).map(drop).map_err(|e| e.to_string())
}
