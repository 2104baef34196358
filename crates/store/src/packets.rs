//! Task packets: what was assigned to whom.

use crate::error::is_duplicate;
use crate::row::uid;
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, Assignment, FactKind, Packet, PacketId, QuestionId, TextId};
use rusqlite::Connection;
use std::ops::RangeInclusive;
use strum::VariantArray as _;
use uuid::Uuid;

/// Valid times in a submission: from 1900-01-01 to 9999-01-01 UTC. Other times cannot be
/// represented as dates in every file, and nothing could follow them. A clock that is ahead by less
/// is reported when the submission is merged.
pub(crate) const PACKET_TIMES: RangeInclusive<i64> = -2_208_988_800_000..=253_370_764_800_000;

/// The setting with the key of a task packet. The key is not in the packet's row, so that it can be
/// removed from the submission.
const KEY: &str = "packet-key";
/// The setting of a task packet with how much of it was submitted.
pub(crate) const HANDED_IN: &str = "handed-in";
/// Placeholder for the key in the packet's row, which marks a file as that task packet.
const NO_KEY: [u8; 32] = [0; 32];

/// Signs the submission of a task packet: 32 random bytes, known to the packet's file and to the
/// project.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PacketKey(pub [u8; 32]);

impl std::fmt::Debug for PacketKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PacketKey(..)")
    }
}

impl WriteTx<'_> {
    /// Adds a task packet.
    ///
    /// # Errors
    /// The packet exists already; its annotator, a question or a text is not in the project; or a
    /// text occurs twice in one annotation round.
    pub fn add_packet(&mut self, new: &Packet, key: &PacketKey) -> Result<()> {
        let explain = |e: rusqlite::Error| match is_duplicate(&e) {
            true => StoreError::Duplicate { what: "packet", name: new.id.to_string() },
            false => self.explain("adding a packet", e),
        };
        let sql = "INSERT INTO packets (uid, annotator, made_at_ms, seed, key) VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = (new.id.0, new.annotator.0, new.made_at_ms, new.seed, key.0);
        let packet = self.insert(sql, values).map_err(explain)?;
        for (position, question) in (0_u32..).zip(&new.questions) {
            let sql = "INSERT INTO packet_questions (packet, position, question) VALUES (?1, ?2, ?3)";
            self.run(sql, (packet, position, question.0)).map_err(explain)?;
        }
        for (position, item) in (0_u32..).zip(&new.assignments) {
            let sql = "INSERT INTO assignments (packet, position, text, occasion, anchor) VALUES (?1, ?2, ?3, ?4, ?5)";
            let values = (packet, position, item.text.0, item.occasion, item.anchor);
            self.run(sql, values).map_err(explain)?;
        }
        Ok(())
    }

    /// Adds the task packet that this file is.
    pub(crate) fn add_own_packet(&mut self, new: &Packet, key: &PacketKey) -> Result<()> {
        self.add_packet(new, &PacketKey(NO_KEY))?;
        let rows = work_rows(self.conn).map_err(|e| self.explain("counting what was done", e))?;
        self.set_setting(HANDED_IN, &rows)?;
        self.set_setting(KEY, &key.0)
    }

    /// Removes the key from a task packet's file and its bytes from the disk: the file can then no
    /// longer be used to sign a submission.
    pub fn forget_packet_key(&mut self) -> Result<()> {
        let explain = |tx: &Self, e| tx.explain("taking out the key", e);
        self.conn.pragma_update(None, "secure_delete", true).map_err(|e| explain(self, e))?;
        self.run("DELETE FROM settings WHERE key = ?1", [KEY]).map(drop).map_err(|e| explain(self, e))
    }

    /// Finds a task packet and its key by id.
    pub(crate) fn packet(&self, id: PacketId) -> Result<Option<(Packet, PacketKey)>> {
        packet(self.conn, id).map_err(|e| self.explain("reading a packet", e))
    }
}

pub(crate) fn work_rows(c: &Connection) -> rusqlite::Result<[u32; 3]> {
    let count = |which: &str| {
        c.query_row(&format!("SELECT count(*) FROM events WHERE {which}"), [], |r| r.get::<_, u32>(0))
    };
    let mut changes = count("occasion > 1 AND kind <> 'answer'")?;
    let sql = "SELECT count(*) FROM facts WHERE kind = ?1";
    for kind in FactKind::VARIANTS.iter().filter(|kind| kind.is_of_person()) {
        changes += c.query_row(sql, [kind.name()], |r| r.get::<_, u32>(0))?;
    }
    Ok([count("occasion = 1")?, count("occasion > 1 AND kind = 'answer'")?, changes])
}

impl Store {
    /// All task packets with their keys, in the order in which they were added to this file.
    pub fn packets(&self) -> Result<Vec<(Packet, PacketKey)>> {
        self.read("reading the packets", |c| {
            let ids: Vec<Uuid> = all(c, "SELECT uid FROM packets ORDER BY id", [], |r| uid(r, 0))?;
            ids.into_iter().filter_map(|id| packet(c, PacketId(id)).transpose()).collect()
        })
    }

    /// Finds a task packet and its key by id.
    pub fn packet(&self, id: PacketId) -> Result<Option<(Packet, PacketKey)>> {
        self.read("reading a packet", |c| packet(c, id))
    }

    /// The task packet that this file is; `None` if it is a whole project.
    pub fn own_packet(&self) -> Result<Option<Packet>> {
        self.read("reading the packet", |c| {
            let own =
                first(c, "SELECT uid FROM packets WHERE key = ?1 ORDER BY id", [NO_KEY], |r| uid(r, 0))?;
            let found = own.map_or(Ok(None), |id| packet(c, PacketId(id)))?;
            Ok(found.map(|(packet, _)| packet))
        })
    }

    /// The key of the task packet that this file is; `None` in a submission.
    pub fn own_packet_key(&self) -> Result<Option<PacketKey>> {
        Ok(self.setting::<[u8; 32]>(KEY)?.map(PacketKey))
    }

    /// The amount of work in a task packet, counted in rows so as not to depend on a clock: events of
    /// the first round; re-annotations; and changes of these together with other records, such as
    /// practice answers and answers to the attribute form. Rows that the packet contained initially
    /// count as submitted.
    pub fn work_rows(&self) -> Result<[u32; 3]> {
        self.read("counting what was done", work_rows)
    }

    /// The amount of work when the packet was last submitted.
    pub fn submitted_rows(&self) -> Result<Option<[u32; 3]>> {
        self.setting(HANDED_IN)
    }

    /// Records the amount of work when the packet was submitted.
    pub fn set_submitted_rows(&self, rows: [u32; 3]) -> Result<()> {
        self.set_setting(HANDED_IN, &rows)
    }
}

fn packet(c: &Connection, id: PacketId) -> rusqlite::Result<Option<(Packet, PacketKey)>> {
    let sql = "SELECT id, annotator, made_at_ms, seed, key FROM packets WHERE uid = ?1";
    let found = first(c, sql, [id.0], |r| {
        let row: u32 = r.get(0)?;
        Ok((row, AnnotatorId(r.get(1)?), r.get(2)?, r.get(3)?, PacketKey(r.get(4)?)))
    })?;
    let Some((row, annotator, made_at_ms, seed, key)) = found else { return Ok(None) };
    let sql = "SELECT question FROM packet_questions WHERE packet = ?1 ORDER BY position";
    let questions = all(c, sql, [row], |r| Ok(QuestionId(r.get(0)?)))?;
    let sql = "SELECT text, occasion, anchor FROM assignments WHERE packet = ?1 ORDER BY position";
    let assignments = all(c, sql, [row], |r| {
        Ok(Assignment { text: TextId(r.get(0)?), occasion: r.get(1)?, anchor: r.get(2)? })
    })?;
    Ok(Some((Packet { id, annotator, made_at_ms, seed, questions, assignments }, key)))
}
