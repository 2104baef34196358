//! Pages for everybody. A fact is about the page with an id.

use super::{About, Kind, LARGEST_FACT, SETTING, Submitted, checked, read, refused, select};
use crate::row::bad;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{Fact, FactKind, JoinPage};
use rusqlite::Connection;
use serde_json::json;
use uuid::Uuid;

pub(super) const KIND: Kind = Kind {
    about: About::Project,
    keyed: true,
    check: |_, fact| {
        let page: JoinPage = checked(fact)?;
        let position = |(text, ..): &(u32, u16, bool)| (*text as usize) < page.texts.len();
        match fact.key.as_deref().is_some_and(|key| Uuid::parse_str(key).is_ok())
            && page.parts.iter().flatten().all(position)
        {
            true => Ok(()),
            false => Err(refused(fact, "it is no page")),
        }
    },
    title: |fact| ("page for everybody", fact.key.clone().unwrap_or_default()),
    submitted: Submitted::No,
    // It holds a key.
    listed: None,
    ..SETTING
};

/// The pages, by their ids.
fn pages(c: &Connection) -> rusqlite::Result<Vec<(Uuid, JoinPage)>> {
    let page = |fact: Fact| {
        let id = Uuid::parse_str(fact.key.as_deref().unwrap_or_default()).map_err(|e| bad(4, e))?;
        Ok((id, read(&fact.value)?))
    };
    select(c, "WHERE kind = 'join-page'", [])?.into_iter().map(page).collect()
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
}

impl Store {
    /// The pages for everybody that were written.
    pub fn join_pages(&self) -> Result<Vec<(Uuid, JoinPage)>> {
        self.read("reading pages for everybody", pages)
    }
}
