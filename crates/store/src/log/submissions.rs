//! Submissions: when a task packet was submitted, and with how many answers. A fact is about the packet's
//! annotator and the packet.

use super::{About, Kind, Listed, SETTING, Submitted, checked, read, refused, select};
use crate::row::{bad, uid};
use crate::tx::all;
use crate::{Done, Result, Store, StoreError, WriteTx};
use dissensus_domain::{Fact, FactKind, PacketId};
use std::collections::HashMap;
use uuid::Uuid;

/// Records that a task packet was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Submission {
    pub packet: PacketId,
    pub at_ms: i64,
    /// Number of answers, including re-annotations.
    pub answers: u32,
}

fn packet(fact: &Fact) -> rusqlite::Result<PacketId> {
    let key = fact.key.as_deref().unwrap_or_default();
    Uuid::parse_str(key).map(PacketId).map_err(|e| bad(4, e))
}

pub(super) const KIND: Kind = Kind {
    about: About::Annotator,
    keyed: true,
    noun: Some("hand-in"),
    check,
    order: |value, _| Ok(format!("{:010}", read::<u32>(value)?)),
    submitted: Submitted::Yes,
    count: |report| &mut report.submissions,
    listed: Some(Listed::new("'packet'")),
    done: |_, fact| Ok(Done::HandedIn { answers: read(&fact.value)? }),
    ..SETTING
};

/// The packet must be here and of this annotator.
fn check(tx: &WriteTx<'_>, fact: &Fact) -> Result<()> {
    checked::<u32>(fact)?;
    let id = packet(fact).ok().filter(|id| Some(id.0.to_string()) == fact.key);
    let id = id.ok_or_else(|| refused(fact, "its key is no id of a packet"))?;
    let known = tx.packet(id)?.filter(|(known, _)| Some(known.annotator) == fact.annotator);
    known.map(drop).ok_or_else(|| StoreError::Unknown { what: "packet", name: id.to_string() })
}

impl WriteTx<'_> {
    /// Records that a task packet was submitted. Returns whether this is new.
    ///
    /// # Errors
    /// There is no such packet.
    pub fn add_submission(&mut self, new: &Submission) -> Result<bool> {
        let unknown = || StoreError::Unknown { what: "packet", name: new.packet.to_string() };
        let (packet, _) = self.packet(new.packet)?.ok_or_else(unknown)?;
        let fact = Fact::of_project(FactKind::HandIn, new.at_ms, new.answers);
        let key = Some(new.packet.0.to_string());
        self.add_fact(&Fact { annotator: Some(packet.annotator), key, ..fact })
    }
}

impl Store {
    /// All submissions, by task packet and time.
    pub fn submissions(&self) -> Result<Vec<Submission>> {
        self.read("reading what was handed in", |c| {
            let hand_in = |fact: &Fact| {
                Ok(Submission { packet: packet(fact)?, at_ms: fact.at_ms, answers: read(&fact.value)? })
            };
            let facts = select(c, "WHERE kind = 'hand-in'", [])?;
            let mut found = facts.iter().map(hand_in).collect::<rusqlite::Result<Vec<_>>>()?;
            let packets: Vec<Uuid> = all(c, "SELECT uid FROM packets ORDER BY id", [], |r| uid(r, 0))?;
            let place: HashMap<Uuid, usize> = packets.into_iter().zip(0..).collect();
            found.sort_by_key(|one| (place.get(&one.packet.0).copied(), one.at_ms, one.answers));
            Ok(found)
        })
    }
}
