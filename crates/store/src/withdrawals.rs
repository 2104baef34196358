//! Withdrawals of annotators: facts that name nobody, but allow every copy to recognize the
//! annotator.

use crate::row::uid;
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{Annotator, AnnotatorId, CopyId, PacketId, ProjectId, composed, look_alike};
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap, HashSet};
use uuid::Uuid;

/// A SHA-256 that identifies an annotator who withdrew, or one of their names. It differs between
/// projects.
///
/// Given a list of all annotators, it can be found by trial who withdrew; but then it can also be
/// seen who is missing.
pub(crate) type Hash = [u8; 32];

/// Records that an annotator withdrew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Withdrawal {
    /// Hash of the annotator, so that nobody is named.
    pub(crate) person: Hash,
    /// Time of withdrawal, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
    /// The copy of the project in which the annotator withdrew.
    pub copy: CopyId,
}

/// Everything that a copy knows about annotators who withdrew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Withdrawals {
    pub(crate) facts: Vec<Withdrawal>,
    pub(crate) names: Vec<(Hash, Hash)>,
    pub(crate) packets: Vec<(Hash, Uuid)>,
}

/// The hash of an annotator's external id.
pub(crate) fn person_hash(project: ProjectId, external_id: &str) -> Hash {
    hash(b"dissensus withdrawn person\0", project, external_id)
}

/// The hash of a name of an annotator, including the external id.
pub(crate) fn name_hash(project: ProjectId, name: &str) -> Hash {
    hash(b"dissensus withdrawn name\0", project, name)
}

/// The hash shared by all names that look like this one, stored in addition to that of the name
/// itself.
pub(crate) fn near_hash(project: ProjectId, name: &str) -> Hash {
    hash(b"dissensus withdrawn look\0", project, &look_alike(name))
}

fn hash(what: &[u8], project: ProjectId, name: &str) -> Hash {
    Sha256::new_with_prefix(what).chain_update(project.0.as_bytes()).chain_update(name).finalize().into()
}

fn known(c: &Connection) -> rusqlite::Result<Withdrawals> {
    let facts =
        all(c, "SELECT person, at_ms, copy FROM withdrawals ORDER BY at_ms, person, copy", [], |r| {
            Ok(Withdrawal { person: r.get(0)?, at_ms: r.get(1)?, copy: CopyId(uid(r, 2)?) })
        })?;
    let names =
        all(c, "SELECT person, name FROM withdrawn_names", [], |r| Ok((r.get::<_, Hash>(0)?, r.get(1)?)))?;
    let packets = all(c, "SELECT person, packet FROM withdrawn_packets", [], |r| {
        Ok((r.get::<_, Hash>(0)?, uid(r, 1)?))
    })?;
    Ok(Withdrawals { facts, names, packets })
}

fn is_withdrawn(c: &Connection, person: &Hash) -> rusqlite::Result<bool> {
    Ok(first(c, "SELECT 1 FROM withdrawals WHERE person = ?1 LIMIT 1", [person], |_| Ok(()))?.is_some())
}

impl WriteTx<'_> {
    /// Fails if the annotator withdrew.
    pub(crate) fn must_not_have_withdrawn(&self, external_id: &str) -> Result<()> {
        // In most projects nobody has withdrawn.
        if self.first("SELECT 1 FROM withdrawals LIMIT 1", [], |_| Ok(()))?.is_none() {
            return Ok(());
        }
        match self.has_withdrawn(external_id)? {
            true => Err(StoreError::Withdrawn(external_id.to_owned())),
            false => Ok(()),
        }
    }

    /// Whether the annotator with this id withdrew.
    pub(crate) fn has_withdrawn(&self, external_id: &str) -> Result<bool> {
        Ok(self.withdrawn_as(external_id)?.is_some())
    }

    /// The hash of the annotator with this id, in any Unicode normalization, if they withdrew.
    fn withdrawn_as(&self, external_id: &str) -> Result<Option<Hash>> {
        let project = self.project_id()?;
        for id in [external_id, &composed(external_id)] {
            let person = person_hash(project, id);
            if is_withdrawn(self.conn, &person).map_err(|e| self.explain("reading who withdrew", e))? {
                return Ok(Some(person));
            }
        }
        Ok(None)
    }

    /// A name under which something was written; empty if it is the name of an annotator who
    /// withdrew.
    pub(crate) fn name_or_nobody<'a>(&self, name: &'a str) -> Result<&'a str> {
        if name.is_empty() || self.first("SELECT 1 FROM withdrawn_names LIMIT 1", [], |_| Ok(()))?.is_none() {
            return Ok(name);
        }
        let hash = name_hash(self.project_id()?, name);
        let sql = "SELECT 1 FROM withdrawn_names WHERE name = ?1 LIMIT 1";
        Ok(if self.first(sql, [hash], |_| Ok(()))?.is_some() { "" } else { name })
    }

    /// Adds withdrawals known to another copy, and erases the annotators. Returns how many
    /// withdrawals were new.
    pub(crate) fn add_withdrawals(&mut self, theirs: &Withdrawals) -> Result<u32> {
        if theirs.facts.is_empty() {
            return Ok(0);
        }
        let explain = |e| StoreError::explain(self.path, "adding who withdrew", e);
        let mut new = BTreeSet::new();
        for fact in &theirs.facts {
            if !is_withdrawn(self.conn, &fact.person).map_err(explain)? {
                new.insert(fact.person);
            }
        }
        for fact in &theirs.facts {
            self.add_withdrawal(fact)?;
        }
        for (person, name) in &theirs.names {
            self.add_withdrawn_name(*person, *name)?;
        }
        for (person, packet) in &theirs.packets {
            self.add_withdrawn_packet(*person, *packet)?;
        }
        let project = self.project_id()?;
        let here = all(self.conn, "SELECT id, external_id FROM annotators ORDER BY id", [], |r| {
            Ok((AnnotatorId(r.get(0)?), r.get::<_, String>(1)?))
        });
        let mut gone = here.map_err(|e| self.explain("reading the annotators", e))?;
        let is_new = |id: &str| new.contains(&person_hash(project, id));
        gone.retain(|(_, external_id)| is_new(external_id) || is_new(&composed(external_id)));
        let gone: Vec<AnnotatorId> = gone.into_iter().map(|(id, _)| id).collect();
        self.erase(&gone)?;
        Ok(u32::try_from(new.len()).unwrap_or(u32::MAX))
    }

    pub(crate) fn add_withdrawal(&mut self, new: &Withdrawal) -> Result<()> {
        let sql = "INSERT INTO withdrawals (person, at_ms, copy) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        let added = self.run(sql, (new.person, new.at_ms, new.copy.0));
        added.map(drop).map_err(|e| self.explain("noting that somebody withdrew", e))
    }

    /// Returns whether the name was new.
    pub(crate) fn add_withdrawn_name(&self, person: Hash, name: Hash) -> Result<bool> {
        let sql = "INSERT INTO withdrawn_names (person, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        let added = self.run(sql, (person, name));
        added.map(|added| added > 0).map_err(|e| self.explain("noting that somebody withdrew", e))
    }

    pub(crate) fn add_withdrawn_packet(&mut self, person: Hash, packet: Uuid) -> Result<()> {
        let sql = "INSERT INTO withdrawn_packets (person, packet) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        let added = self.run(sql, (person, packet));
        added.map(drop).map_err(|e| self.explain("noting that somebody withdrew", e))
    }
}

impl Store {
    /// All withdrawals, by time. An annotator who withdrew in two separate copies occurs twice.
    pub fn withdrawals(&self) -> Result<Vec<Withdrawal>> {
        Ok(self.all_withdrawals()?.facts)
    }

    pub(crate) fn all_withdrawals(&self) -> Result<Withdrawals> {
        self.read("reading who withdrew", known)
    }

    /// How many annotators withdrew.
    pub fn people_withdrawn(&self) -> Result<u32> {
        let sql = "SELECT count(DISTINCT person) FROM withdrawals";
        self.read("reading who withdrew", |c| c.query_row(sql, [], |r| r.get(0)))
    }

    /// Whether the annotator with this id withdrew.
    pub fn has_withdrawn(&self, external_id: &str) -> Result<bool> {
        let project = self.project_id()?;
        let ids = [external_id.to_owned(), composed(external_id)];
        self.read("reading who withdrew", |c| {
            ids.iter()
                .map(|id| is_withdrawn(c, &person_hash(project, id)))
                .try_fold(false, |any, one| Ok(any || one?))
        })
    }

    /// Whether an annotator withdrew who had a name that looks like this one.
    pub fn looks_withdrawn(&self, name: &str) -> Result<bool> {
        let look = near_hash(self.project_id()?, name);
        let sql = "SELECT 1 FROM withdrawn_names WHERE name = ?1 LIMIT 1";
        self.read("reading who withdrew", |c| Ok(first(c, sql, [look], |_| Ok(()))?.is_some()))
    }

    /// Whether this task packet was created for an annotator who withdrew.
    pub fn is_withdrawn_packet(&self, packet: PacketId) -> Result<bool> {
        let sql = "SELECT 1 FROM withdrawn_packets WHERE packet = ?1 LIMIT 1";
        self.read("reading who withdrew", |c| Ok(first(c, sql, [packet.0], |_| Ok(()))?.is_some()))
    }

    /// Whether `other`, a copy of this project, knows about a withdrawal that this one does not:
    /// merging it would erase annotators.
    pub fn is_to_erase_for(&self, other: &Self) -> Result<bool> {
        let known: HashSet<Hash> = self.all_withdrawals()?.facts.iter().map(|fact| fact.person).collect();
        Ok(other.all_withdrawals()?.facts.iter().any(|fact| !known.contains(&fact.person)))
    }

    /// Those of these annotators of another copy who withdrew here, each with their hash.
    pub(crate) fn withdrawn_among(
        tx: &WriteTx<'_>,
        people: &[Annotator],
    ) -> Result<HashMap<AnnotatorId, Hash>> {
        let mut gone = HashMap::new();
        if tx.first("SELECT 1 FROM withdrawals LIMIT 1", [], |_| Ok(()))?.is_none() {
            return Ok(gone);
        }
        for person in people {
            if let Some(hash) = tx.withdrawn_as(&person.external_id)? {
                gone.insert(person.id, hash);
            }
        }
        Ok(gone)
    }
}
