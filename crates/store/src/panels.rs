//! Saved panels.

use crate::row::{bad, to_json};
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{Panel, PanelMembers, SavedPanel};
use rusqlite::Row;

const ALL: &str = "SELECT name, saved_at_ms, panel FROM panels ORDER BY name, saved_at_ms, panel";

/// Maximum length of a name, in characters.
const LONGEST_NAME: usize = 200;

fn saved_panel(row: &Row<'_>) -> rusqlite::Result<SavedPanel> {
    let panel: String = row.get(2)?;
    let panel = match panel.as_str() {
        "" => None,
        json => Some(serde_json::from_str(json).map_err(|e| bad(2, e))?),
    };
    Ok(SavedPanel { name: row.get(0)?, saved_at_ms: row.get(1)?, panel })
}

impl WriteTx<'_> {
    /// Saves or, with `None`, deletes the panel of this name, effective immediately, whatever the
    /// clock shows.
    ///
    /// # Errors
    /// The name is empty or too long.
    pub fn save_panel(&mut self, new: &SavedPanel) -> Result<()> {
        let length = new.name.chars().count();
        if new.name.trim().is_empty() || length > LONGEST_NAME {
            let why = format!("its name has {length} characters: give it one of 1 to {LONGEST_NAME}");
            return Err(StoreError::Invalid { what: "panel".to_owned(), why });
        }
        let sql = "SELECT max(saved_at_ms) FROM panels WHERE name = ?1";
        let newest: Option<i64> = self.first(sql, [&new.name], |r| r.get(0))?.flatten();
        let saved_at_ms =
            newest.map_or(new.saved_at_ms, |newest| new.saved_at_ms.max(newest.saturating_add(1)));
        self.add_panel(&SavedPanel { saved_at_ms, ..new.clone() }).map(drop)
    }

    /// Adds a fact made here or in another copy. Returns whether it was new.
    pub(crate) fn add_panel(&mut self, new: &SavedPanel) -> Result<bool> {
        let panel = match self.without_withdrawn(new.panel.clone())? {
            None => String::new(),
            Some(panel) => to_json("a panel", &panel)?,
        };
        let sql = "INSERT INTO panels (name, saved_at_ms, panel) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        let added = self.run(sql, (&new.name, new.saved_at_ms, panel));
        Ok(added.map_err(|e| self.explain("saving a panel", e))? > 0)
    }

    /// Removes named members who withdrew from a panel; `None` if no member is left.
    fn without_withdrawn(&self, panel: Option<Panel>) -> Result<Option<Panel>> {
        let Some(Panel { question, members: PanelMembers::Named(named), rule }) = panel else {
            return Ok(panel);
        };
        let mut left = Vec::with_capacity(named.len());
        for person in named {
            if !self.has_withdrawn(&person)? {
                left.push(person);
            }
        }
        let members = PanelMembers::Named(left);
        let nobody = matches!(&members, PanelMembers::Named(left) if left.is_empty());
        Ok((!nobody).then_some(Panel { question, members, rule }))
    }

    /// Removes annotators who withdrew from every panel ever saved. Returns the number of changed
    /// rows. The table's triggers must be dropped before.
    pub(crate) fn take_people_off_panels(&mut self) -> Result<u32> {
        let explain = |e| StoreError::explain(self.path, "taking somebody off a panel", e);
        let saved = all(self.conn, ALL, [], saved_panel).map_err(explain)?;
        let mut changed = 0;
        for old in saved {
            let left = self.without_withdrawn(old.panel.clone())?;
            if left == old.panel {
                continue;
            }
            let SavedPanel { name, saved_at_ms, panel } = &old;
            let json = panel.as_ref().map_or(Ok(String::new()), |panel| to_json("a panel", panel))?;
            let sql = "DELETE FROM panels WHERE name = ?1 AND saved_at_ms = ?2 AND panel = ?3";
            let gone = self.run(sql, (name, saved_at_ms, json));
            changed += gone.map_err(|e| self.explain("taking somebody off a panel", e))? as u32;
            self.add_panel(&SavedPanel { panel: left, ..old })?;
        }
        Ok(changed)
    }
}

impl Store {
    /// The saved panels, by name.
    pub fn panels(&self) -> Result<Vec<SavedPanel>> {
        let mut latest: Vec<SavedPanel> = Vec::new();
        for panel in self.all_panels()? {
            match latest.last_mut() {
                Some(last) if last.name == panel.name => *last = panel,
                _ => latest.push(panel),
            }
        }
        latest.retain(|saved| saved.panel.is_some());
        Ok(latest)
    }

    /// All panels ever saved, by name, each group ordered from oldest to latest. Panels with equal
    /// times, which can come from separate copies, are ordered by their columns, which are the same
    /// in every copy.
    pub(crate) fn all_panels(&self) -> Result<Vec<SavedPanel>> {
        self.read("reading panels", |c| all(c, ALL, [], saved_panel))
    }
}
