//! The language of the desk.

use crate::{Result, Store, WriteTx};
use dissensus_domain::{Fact, FactKind, Language};

impl WriteTx<'_> {
    /// Sets the language in which annotators use the desk, effective now; `None` leaves it to each
    /// person's system.
    pub fn set_language(&mut self, language: Option<Language>, now_ms: i64) -> Result<()> {
        self.set_fact(&Fact::of_project(FactKind::Language, now_ms, language.map(Language::name))).map(drop)
    }
}

impl Store {
    /// The language in which annotators use the desk; `None` if nobody chose one, or if it is one of a
    /// later version.
    pub fn language(&self) -> Result<Option<Language>> {
        let fact = self.fact(FactKind::Language, None, None, None)?;
        Ok(fact.and_then(|fact| fact.value.as_str().and_then(|tag| tag.parse().ok())))
    }
}
