//! Saved panels. A fact is about the panel of a name, and its value is the panel; null if it was deleted.

use super::{
    About, Kind, LARGEST_FACT, Listed, SETTING, Submitted, checked, read, refused, select, that_hold,
};
use crate::{Done, Result, Store, StoreError, WriteTx};
use dissensus_domain::{Fact, FactKind, Panel, PanelMembers, SavedPanel};
use rusqlite::Connection;
use serde_json::{Value, json};

/// Maximum length of a name, in characters.
const LONGEST_NAME: usize = 200;

pub(super) const KIND: Kind = Kind {
    about: About::Project,
    keyed: true,
    check: |_, fact| {
        if fact.key.as_deref().is_none_or(str::is_empty) {
            return Err(refused(fact, "it has no name"));
        }
        checked::<Option<Panel>>(fact).map(drop)
    },
    title: |fact| ("panel", fact.key.clone().unwrap_or_default()),
    order: |value, _| {
        let panel: Option<Panel> = read(value)?;
        Ok(panel.and_then(|panel| serde_json::to_string(&panel).ok()).unwrap_or_default())
    },
    submitted: Submitted::No,
    count: |report| &mut report.panels,
    listed: Some(Listed { words: "key", ..Listed::new("'panel'") }),
    done: |_, fact| {
        Ok(Done::Panel { name: fact.key.clone().unwrap_or_default(), kept: !fact.value.is_null() })
    },
    without_withdrawn: Some(without_withdrawn),
    ..SETTING
};

/// Removes named members who withdrew; if no member is left, the panel was deleted.
fn without_withdrawn(tx: &WriteTx<'_>, value: Value) -> Result<Value> {
    let panel = read(&value).map_err(|e| tx.explain("reading a panel", e))?;
    let Some(Panel { question, members: PanelMembers::Named(named), rule }) = panel else {
        return Ok(value);
    };
    let mut left = Vec::with_capacity(named.len());
    for person in named {
        if !tx.has_withdrawn(&person)? {
            left.push(person);
        }
    }
    match left.is_empty() {
        true => Ok(Value::Null),
        false => Ok(json!(Panel { question, members: PanelMembers::Named(left), rule })),
    }
}

/// The panels in effect, by name.
pub(crate) fn panels(c: &Connection) -> rusqlite::Result<Vec<SavedPanel>> {
    let saved = |fact: Fact| {
        let panel = read(&fact.value)?;
        Ok(SavedPanel { name: fact.key.unwrap_or_default(), saved_at_ms: fact.at_ms, panel })
    };
    that_hold(select(c, "WHERE kind = 'panel'", [])?).into_iter().map(saved).collect()
}

impl WriteTx<'_> {
    /// Saves or, with `None`, deletes the panel of this name, effective immediately, whatever the
    /// clock shows.
    ///
    /// # Errors
    /// The name is empty or too long, or the panel has too many members.
    pub fn save_panel(&mut self, new: &SavedPanel) -> Result<()> {
        let length = new.name.chars().count();
        if new.name.trim().is_empty() || length > LONGEST_NAME {
            let why = format!("its name has {length} characters: give it one of 1 to {LONGEST_NAME}");
            return Err(StoreError::Invalid { what: "panel".to_owned(), why });
        }
        let value = json!(new.panel);
        let size = value.to_string().len();
        if size > LARGEST_FACT {
            let why = format!(
                "its members take {size} bytes, and may take {LARGEST_FACT}: save one with fewer members"
            );
            return Err(StoreError::Invalid { what: format!("panel {}", new.name), why });
        }
        let fact = Fact::of_project(FactKind::Panel, new.saved_at_ms, value);
        self.note_fact(&Fact { key: Some(new.name.clone()), ..fact })
    }
}

impl Store {
    /// The saved panels, by name.
    pub fn panels(&self) -> Result<Vec<SavedPanel>> {
        self.read("reading panels", panels)
    }
}
