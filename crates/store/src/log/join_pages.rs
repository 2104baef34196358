//! Pages for everybody. A fact is about the page with an id (`PAGE`), or says that somebody has or had one of
//! its parts (`PAGE/PART`). The latter names nobody, and stays if they withdraw.

use super::{About, Kind, LARGEST_FACT, SETTING, Submitted, checked, read, refused, select};
use crate::row::bad;
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{Fact, FactKind, JoinPage};
use rusqlite::Connection;
use serde_json::json;
use std::collections::BTreeSet;
use uuid::Uuid;

pub(super) const KIND: Kind = Kind {
    about: About::Project,
    keyed: true,
    check,
    title: |fact| ("page for everybody", fact.key.clone().unwrap_or_default()),
    submitted: Submitted::No,
    // It holds a key.
    listed: None,
    ..SETTING
};

fn check(_: &WriteTx<'_>, fact: &Fact) -> Result<()> {
    let key = fact.key.as_deref().unwrap_or_default();
    if key.contains('/') {
        return match part_in(key).is_some() && fact.value == true {
            true => Ok(()),
            false => Err(refused(fact, "it is no part of a page")),
        };
    }
    let page: JoinPage = checked(fact)?;
    let position = |(text, ..): &(u32, u16, bool)| (*text as usize) < page.texts.len();
    match Uuid::parse_str(key).is_ok() && page.parts.iter().flatten().all(position) {
        true => Ok(()),
        false => Err(refused(fact, "it is no page")),
    }
}

fn part_in(key: &str) -> Option<(Uuid, u32)> {
    let (page, part) = key.split_once('/')?;
    Some((Uuid::parse_str(page).ok()?, part.parse().ok()?))
}

/// The pages, by their ids.
fn pages(c: &Connection) -> rusqlite::Result<Vec<(Uuid, JoinPage)>> {
    let page = |fact: Fact| {
        let id = Uuid::parse_str(fact.key.as_deref().unwrap_or_default()).map_err(|e| bad(4, e))?;
        Ok((id, read(&fact.value)?))
    };
    select(c, "WHERE kind = 'join-page' AND NOT instr(key, '/')", [])?.into_iter().map(page).collect()
}

impl WriteTx<'_> {
    /// Adds a page for everybody.
    ///
    /// # Errors
    /// It has too many parts.
    pub fn add_join_page(&mut self, id: Uuid, page: &JoinPage) -> Result<()> {
        let value = json!(page);
        let size = value.to_string().len();
        if size > LARGEST_FACT {
            let why = format!(
                "its parts take {size} bytes, and may take {LARGEST_FACT}: make one for fewer people or texts"
            );
            return Err(StoreError::Invalid { what: "page for everybody".to_owned(), why });
        }
        let fact = Fact::of_project(FactKind::JoinPage, page.made_at_ms, value);
        self.add_fact(&Fact { key: Some(id.to_string()), ..fact }).map(drop)
    }

    /// Notes that somebody has this part of the page of this time.
    pub fn use_part(&mut self, page: Uuid, part: u32, made_at_ms: i64) -> Result<()> {
        // The same fact in every copy.
        let fact = Fact::of_project(FactKind::JoinPage, made_at_ms, true);
        self.add_fact(&Fact { key: Some(format!("{page}/{part}")), ..fact }).map(drop)
    }
}

impl Store {
    /// The pages for everybody that were written.
    pub fn join_pages(&self) -> Result<Vec<(Uuid, JoinPage)>> {
        self.read("reading pages for everybody", pages)
    }

    /// The parts of these pages that somebody has, or had before they withdrew.
    pub fn used_parts(&self) -> Result<BTreeSet<(Uuid, u32)>> {
        let sql = "SELECT DISTINCT key FROM facts WHERE kind = 'join-page' AND instr(key, '/')";
        let keys = self.read("reading parts of pages", |c| all(c, sql, [], |r| r.get::<_, String>(0)))?;
        Ok(keys.iter().filter_map(|key| part_in(key)).collect())
    }
}
