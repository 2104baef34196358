//! Withdrawals of annotators: facts that name nobody, but allow every copy to recognize the
//! annotator. A withdrawal is about the hash of a person, and its value is the copy in which it was made; the
//! hash of a name, and the id of a task packet, have the hash of the person as their value.

use super::{About, Kind, Listed, SETTING, Submitted, refused};
use crate::row::bad;
use crate::tx::{all, first};
use crate::{Done, Result, Store, StoreError, WriteTx};
use dissensus_domain::{
    Annotator, AnnotatorId, CopyId, Fact, FactKind, PacketId, ProjectId, composed, look_alike,
};
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

pub(super) const KIND: Kind = Kind {
    about: About::Project,
    keyed: true,
    check: |_, fact| {
        check_that(fact, is_hash(key_of(fact)), "its key is no hash")?;
        check_that(fact, fact.value.as_str().is_some_and(is_uid), "its value is no id of a copy")
    },
    title: |_| ("withdrawal", "of somebody".to_owned()),
    submitted: Submitted::No,
    listed: Some(Listed {
        copy: "unhex(replace(json_extract(value, '$'), '-', ''))",
        ..Listed::new("'withdrawal'")
    }),
    done: |_, _| Ok(Done::Withdrawal),
    ..SETTING
};

/// Names of annotators who withdrew.
pub(super) const NAME: Kind = Kind {
    check: |_, fact| {
        check_that(fact, is_hash(key_of(fact)), "its key is no hash")?;
        check_that(fact, fact.value.as_str().is_some_and(is_hash), "its value is no hash")
    },
    submitted: Submitted::Ignored,
    listed: None,
    ..KIND
};

/// Task packets of annotators who withdrew.
pub(super) const PACKET: Kind = Kind {
    check: |_, fact| {
        check_that(fact, is_uid(key_of(fact)), "its key is no id of a packet")?;
        check_that(fact, fact.value.as_str().is_some_and(is_hash), "its value is no hash")
    },
    ..NAME
};

fn check_that(fact: &Fact, right: bool, why: &str) -> Result<()> {
    if right { Ok(()) } else { Err(refused(fact, why)) }
}

fn key_of(fact: &Fact) -> &str {
    fact.key.as_deref().unwrap_or_default()
}

/// Whether this is a hash as the program writes it: readers compare the text.
fn is_hash(text: &str) -> bool {
    from_hex(text).is_ok_and(|hash| hex(&hash) == text)
}

/// Whether this is an id of a copy or packet as the program writes it.
fn is_uid(text: &str) -> bool {
    Uuid::parse_str(text).is_ok_and(|uid| uid.to_string() == text)
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

fn hex(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(key: &str) -> rusqlite::Result<Hash> {
    let byte = |at: usize| key.get(at..at + 2).and_then(|byte| u8::from_str_radix(byte, 16).ok());
    let bytes: Option<Vec<u8>> = (0..key.len()).step_by(2).map(byte).collect();
    bytes.and_then(|bytes| Hash::try_from(bytes).ok()).ok_or_else(|| bad(0, "not a hash"))
}

/// The keys of a kind of fact.
fn keys(c: &Connection, kind: FactKind) -> rusqlite::Result<BTreeSet<String>> {
    let sql = "SELECT DISTINCT key FROM facts WHERE kind = ?1 AND key IS NOT NULL";
    Ok(all(c, sql, [kind.name()], |r| r.get(0))?.into_iter().collect())
}

/// Whether there is a fact of this kind with this key.
fn has(c: &Connection, kind: FactKind, key: &str) -> rusqlite::Result<bool> {
    let sql = "SELECT 1 FROM facts WHERE kind = ?1 AND coalesce(question, 0) = 0 AND coalesce(text, 0) = 0
                   AND coalesce(annotator, 0) = 0 AND coalesce(key, '') = ?2 LIMIT 1";
    Ok(first(c, sql, (kind.name(), key), |_| Ok(()))?.is_some())
}

/// Whether there is any fact of this kind.
fn has_any(c: &Connection, kind: FactKind) -> rusqlite::Result<bool> {
    Ok(first(c, "SELECT 1 FROM facts WHERE kind = ?1 LIMIT 1", [kind.name()], |_| Ok(()))?.is_some())
}

fn withdrawals(c: &Connection) -> rusqlite::Result<Vec<Withdrawal>> {
    let sql = "SELECT key, at_ms, json_extract(value, '$') FROM facts WHERE kind = 'withdrawal' AND key IS NOT NULL";
    let mut found = all(c, sql, [], |r| {
        let copy = Uuid::parse_str(r.get_ref(2)?.as_str()?).map_err(|e| bad(2, e))?;
        Ok(Withdrawal { person: from_hex(r.get_ref(0)?.as_str()?)?, at_ms: r.get(1)?, copy: CopyId(copy) })
    })?;
    found.sort_by_key(|one| (one.at_ms, one.person, one.copy));
    Ok(found)
}

/// Hashes of names, and ids of task packets, of annotators who withdrew.
#[derive(Default)]
pub(crate) struct Hashes {
    pub(crate) names: BTreeSet<Hash>,
    pub(crate) packets: BTreeSet<Uuid>,
}

impl Hashes {
    pub(crate) fn read(c: &Connection) -> rusqlite::Result<Self> {
        let names = keys(c, FactKind::WithdrawnName)?;
        let packets = keys(c, FactKind::WithdrawnPacket)?;
        let uid = |key: &String| Uuid::parse_str(key).map_err(|e| bad(0, e));
        Ok(Self {
            names: names.iter().map(|key| from_hex(key)).collect::<rusqlite::Result<_>>()?,
            packets: packets.iter().map(uid).collect::<rusqlite::Result<_>>()?,
        })
    }
}

fn is_withdrawn(c: &Connection, person: &Hash) -> rusqlite::Result<bool> {
    has(c, FactKind::Withdrawal, &hex(person))
}

impl WriteTx<'_> {
    /// Fails if the annotator withdrew.
    pub(crate) fn must_not_have_withdrawn(&self, external_id: &str) -> Result<()> {
        // In most projects nobody has withdrawn.
        if !has_any(self.conn, FactKind::Withdrawal).map_err(|e| self.explain("reading who withdrew", e))? {
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
    pub(crate) fn name_unless_withdrawn<'a>(&self, name: &'a str) -> Result<&'a str> {
        let explain = |e| self.explain("reading who withdrew", e);
        if name.is_empty() || !has_any(self.conn, FactKind::WithdrawnName).map_err(explain)? {
            return Ok(name);
        }
        let key = hex(&name_hash(self.project_id()?, name));
        let withdrawn = has(self.conn, FactKind::WithdrawnName, &key).map_err(explain)?;
        Ok(if withdrawn { "" } else { name })
    }

    /// Adds facts about withdrawals from another copy, and erases the annotators. Returns how many
    /// annotators had not withdrawn here.
    pub(crate) fn add_withdrawals(&mut self, theirs: &[Fact]) -> Result<u32> {
        let known = |tx: &Self| {
            keys(tx.conn, FactKind::Withdrawal).map_err(|e| tx.explain("reading who withdrew", e))
        };
        let before = known(self)?;
        for fact in theirs {
            self.add_fact(fact)?;
        }
        let mut new = known(self)?;
        new.retain(|person| !before.contains(person));
        let project = self.project_id()?;
        let here = all(self.conn, "SELECT id, external_id FROM annotators ORDER BY id", [], |r| {
            Ok((AnnotatorId(r.get(0)?), r.get::<_, String>(1)?))
        });
        let mut gone = here.map_err(|e| self.explain("reading the annotators", e))?;
        let is_new = |id: &str| new.contains(&hex(&person_hash(project, id)));
        gone.retain(|(_, external_id)| is_new(external_id) || is_new(&composed(external_id)));
        let gone: Vec<AnnotatorId> = gone.into_iter().map(|(id, _)| id).collect();
        self.erase(&gone)?;
        Ok(u32::try_from(new.len()).unwrap_or(u32::MAX))
    }

    pub(crate) fn add_withdrawal(&mut self, new: &Withdrawal) -> Result<()> {
        let key = hex(&new.person);
        self.add_keyed(FactKind::Withdrawal, key, new.at_ms, new.copy.0.to_string()).map(drop)
    }

    /// Returns whether the name was new.
    pub(crate) fn add_withdrawn_name(&mut self, person: Hash, name: Hash) -> Result<bool> {
        self.add_keyed(FactKind::WithdrawnName, hex(&name), 0, hex(&person))
    }

    pub(crate) fn add_withdrawn_packet(&mut self, person: Hash, packet: Uuid) -> Result<()> {
        self.add_keyed(FactKind::WithdrawnPacket, packet.to_string(), 0, hex(&person)).map(drop)
    }

    fn add_keyed(&mut self, kind: FactKind, key: String, at_ms: i64, value: String) -> Result<bool> {
        self.add_fact(&Fact { key: Some(key), ..Fact::of_project(kind, at_ms, value) })
    }
}

impl Store {
    /// All withdrawals, by time. An annotator who withdrew in two separate copies occurs twice.
    pub fn withdrawals(&self) -> Result<Vec<Withdrawal>> {
        self.read("reading who withdrew", withdrawals)
    }

    /// How many annotators withdrew.
    pub fn people_withdrawn(&self) -> Result<u32> {
        let found = self.read("reading who withdrew", |c| keys(c, FactKind::Withdrawal))?;
        Ok(u32::try_from(found.len()).unwrap_or(u32::MAX))
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
        let look = hex(&near_hash(self.project_id()?, name));
        self.read("reading who withdrew", |c| has(c, FactKind::WithdrawnName, &look))
    }

    /// Whether this task packet was created for an annotator who withdrew.
    pub fn is_withdrawn_packet(&self, packet: PacketId) -> Result<bool> {
        self.read("reading who withdrew", |c| has(c, FactKind::WithdrawnPacket, &packet.0.to_string()))
    }

    /// Whether `other`, a copy of this project, knows about a withdrawal that this one does not:
    /// merging it would erase annotators.
    pub fn is_to_erase_for(&self, other: &Self) -> Result<bool> {
        let known: HashSet<Hash> = self.withdrawals()?.iter().map(|one| one.person).collect();
        Ok(other.withdrawals()?.iter().any(|one| !known.contains(&one.person)))
    }

    /// Those of these annotators of another copy who withdrew here, each with their hash.
    pub(crate) fn withdrawn_among(
        tx: &WriteTx<'_>,
        people: &[Annotator],
    ) -> Result<HashMap<AnnotatorId, Hash>> {
        let mut gone = HashMap::new();
        if !has_any(tx.conn, FactKind::Withdrawal).map_err(|e| tx.explain("reading who withdrew", e))? {
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
