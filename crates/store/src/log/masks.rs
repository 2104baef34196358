//! Rules for masking texts that are handed out, and which of them masked the texts of a task packet.
//!
//! All versions of the rules stay in the log. A task packet, and a page for everybody, names the version by a
//! hash, so that its texts are masked again in the same way whenever it is written or its submission is read.

use super::{About, Kind, Listed, SETTING, Submitted, checked, read, refused, select};
use crate::row::{bad, json};
use crate::tx::{all, first};
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{AnnotatorId, Fact, FactKind, MaskRules, Masker, PacketId, TextId};
use rusqlite::Connection;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeSet, HashMap};
use uuid::Uuid;

/// The rules.
pub(super) const RULES: Kind = Kind {
    about: About::Project,
    check: |_, fact| match fact.value.is_null() {
        true => Ok(()),
        false => prepared(&checked(fact)?).map(drop).map_err(|error| refused(fact, error.to_string())),
    },
    submitted: Submitted::No,
    // A search does not look through its words.
    listed: Some(Listed::new("'setting'")),
    ..SETTING
};

/// The version of the rules of a task packet.
pub(super) const OF_PACKET: Kind = Kind {
    about: About::Project,
    keyed: true,
    check: |_, fact| {
        let is_id = fact.key.as_deref().is_some_and(|key| Uuid::parse_str(key).is_ok());
        match is_id && fact.value.is_string() {
            true => Ok(()),
            false => Err(refused(fact, "it names no packet and no version of the rules")),
        }
    },
    submitted: Submitted::No,
    listed: None,
    ..SETTING
};

/// One version of the rules.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskVersion {
    /// Its number in the order of time, from 1.
    pub number: u32,
    pub at_ms: i64,
    pub rules: MaskRules,
}

fn prepared(rules: &MaskRules) -> std::result::Result<Masker, dissensus_domain::MaskError> {
    Masker::new(rules)
}

/// The name of a version: the first 32 hexadecimal digits of the SHA-256 of its value.
fn version(value: &Value) -> String {
    Sha256::digest(value.to_string())[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All versions of the rules, from the oldest.
fn rules_ever(c: &Connection) -> rusqlite::Result<Vec<Fact>> {
    let mut all = select(c, "WHERE kind = 'mask-rules'", [])?;
    all.retain(|fact| !fact.value.is_null());
    Ok(all)
}

fn versions_by_packet(c: &Connection) -> rusqlite::Result<HashMap<PacketId, MaskVersion>> {
    let mut versions: HashMap<String, MaskVersion> = HashMap::new();
    for (fact, number) in rules_ever(c)?.iter().zip(1..) {
        let rules = read(&fact.value)?;
        versions.insert(version(&fact.value), MaskVersion { number, at_ms: fact.at_ms, rules });
    }
    let mut found = HashMap::new();
    for fact in select(c, "WHERE kind = 'packet-masks'", [])? {
        let packet = Uuid::parse_str(fact.key.as_deref().unwrap_or_default()).map_err(|e| bad(4, e))?;
        let known = fact.value.as_str().and_then(|name| versions.get(name));
        found.extend(known.map(|known| (PacketId(packet), known.clone())));
    }
    Ok(found)
}

/// Masks the texts of a packet; `None` if they are handed out as they are.
fn masker(c: &Connection, packet: PacketId) -> rusqlite::Result<Option<Masker>> {
    let sql = "SELECT value FROM facts WHERE kind = 'packet-masks' AND key = ?1 ORDER BY at_ms DESC LIMIT 1";
    let named: Option<String> = first(c, sql, [packet.0.to_string()], |r| r.get(0))?;
    let Some(named) = named else { return Ok(None) };
    let named: String = serde_json::from_str(&named).map_err(|e| bad(6, e))?;
    let rules = rules_ever(c)?.into_iter().find(|fact| version(&fact.value) == named);
    // Without its rules, the packet would be written with unmasked texts.
    let rules =
        rules.ok_or_else(|| bad(6, StoreError::Unknown { what: "version of the masks", name: named }))?;
    prepared(&read(&rules.value)?).map(Some).map_err(|e| bad(6, e))
}

fn masked_for(c: &Connection, text: TextId) -> rusqlite::Result<BTreeSet<AnnotatorId>> {
    let sql =
        "SELECT DISTINCT f.value, p.annotator FROM assignments AS a JOIN packets AS p ON p.id = a.packet
               JOIN facts AS f ON f.kind = 'packet-masks' AND lower(hex(p.uid)) = replace(f.key, '-', '')
               WHERE a.text = ?1";
    let shown = all(c, sql, [text.0], |r| Ok((json::<String>(r, 0)?, AnnotatorId(r.get(1)?))))?;
    let mut masked = BTreeSet::new();
    if shown.is_empty() {
        return Ok(masked);
    }
    let sql = "SELECT external_id, body FROM texts WHERE id = ?1";
    let known = first(c, sql, [text.0], |r| Ok((r.get::<_, String>(0)?, r.get::<_, String>(1)?)))?;
    let Some((id, body)) = known else { return Ok(masked) };
    for fact in rules_ever(c)? {
        let version = version(&fact.value);
        let people: Vec<AnnotatorId> =
            shown.iter().filter(|(of, _)| *of == version).map(|(_, person)| *person).collect();
        if people.is_empty() {
            continue;
        }
        let masker = prepared(&read(&fact.value)?).map_err(|e| bad(6, e))?;
        if masker.mask(&id, &body).is_some() {
            masked.extend(people);
        }
    }
    Ok(masked)
}

impl WriteTx<'_> {
    /// Sets what is masked in texts that are handed out from now on. Returns whether this is a change.
    ///
    /// # Errors
    /// The rules are invalid.
    pub fn set_mask_rules(&mut self, rules: &MaskRules, at_ms: i64) -> Result<bool> {
        let rules = rules.clone().tidied();
        let value = match rules == MaskRules::default() {
            true => Value::Null,
            false => serde_json::json!(rules),
        };
        self.set_fact(&Fact::of_project(FactKind::MaskRules, at_ms, value))
    }

    /// Records that texts of this packet, or page for everybody, are masked by the rules in effect.
    pub fn mask_packet(&mut self, packet: PacketId, at_ms: i64) -> Result<()> {
        let latest = self.latest_fact(&Fact::of_project(FactKind::MaskRules, 0, Value::Null))?;
        let Some((_, value)) = latest.filter(|(_, value)| !value.is_null()) else { return Ok(()) };
        let rules: MaskRules = read(&value).map_err(|e| self.explain("reading the masks", e))?;
        match rules.on.is_empty() {
            true => Ok(()),
            false => self.note_masks(packet, version(&value), at_ms),
        }
    }

    /// Records that texts of a packet are masked like those of a page for everybody.
    pub fn mask_packet_as(&mut self, packet: PacketId, page: PacketId, at_ms: i64) -> Result<()> {
        let like =
            Fact { key: Some(page.0.to_string()), ..Fact::of_project(FactKind::PacketMasks, 0, false) };
        match self.latest_fact(&like)? {
            Some((_, Value::String(version))) => self.note_masks(packet, version, at_ms),
            _ => Ok(()),
        }
    }

    fn note_masks(&mut self, packet: PacketId, version: String, at_ms: i64) -> Result<()> {
        let fact = Fact::of_project(FactKind::PacketMasks, at_ms, version);
        self.add_fact(&Fact { key: Some(packet.0.to_string()), ..fact }).map(drop)
    }

    /// Masks the texts of a packet; `None` if they are handed out as they are.
    pub(crate) fn masker_of(&self, packet: PacketId) -> Result<Option<Masker>> {
        masker(self.conn, packet).map_err(|e| self.explain("reading the masks", e))
    }
}

impl Store {
    /// What is masked in texts that are handed out from now on.
    pub fn mask_rules(&self) -> Result<MaskRules> {
        let fact = self.fact(FactKind::MaskRules, None, None, None)?;
        let rules = fact.map(|fact| self.read("reading the masks", |_| read(&fact.value)));
        Ok(rules.transpose()?.unwrap_or_default())
    }

    /// The number of versions of the rules.
    pub fn mask_versions(&self) -> Result<u32> {
        self.read("reading the masks", rules_ever).map(|all| all.len() as u32)
    }

    /// The version of the rules that masks the texts of each packet and page for everybody, of those with
    /// masks.
    pub fn masked_packets(&self) -> Result<HashMap<PacketId, MaskVersion>> {
        self.read("reading the masks", versions_by_packet)
    }

    /// The annotators to whom a packet showed a text with masks.
    pub fn masked_for(&self, text: TextId) -> Result<BTreeSet<AnnotatorId>> {
        self.read("reading the masks", |c| masked_for(c, text))
    }

    /// Masks the texts of a packet; `None` if they are handed out as they are.
    ///
    /// # Errors
    /// The version of the rules that it names is not in the file.
    pub fn masker_of(&self, packet: PacketId) -> Result<Option<Masker>> {
        self.read("reading the masks", |c| masker(c, packet))
    }
}
