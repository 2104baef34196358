//! Merges annotators, texts, guideline versions and task packets.

use super::{Merger, NAMED, conflict};
use crate::guidelines::is_named_by_its_bytes;
use crate::merge_report::SplitChange;
use crate::noted::{TextDigest, body_digest, text_digests};
use crate::packets::PacketKey;
use crate::{NewAnnotator, NewText, Result};
use dissensus_domain::{Annotator, Assignment, Guideline, Packet, TextId};
use std::collections::{BTreeMap, HashMap};

impl Merger<'_, '_> {
    pub(super) fn annotator(&mut self, theirs: Annotator, places: &BTreeMap<u32, i64>) -> Result<()> {
        if self.withdrawn.contains_key(&theirs.id) {
            return Ok(());
        }
        let known = self.tx.annotator_by_external(&theirs.external_id)?;
        let ours = match known {
            Some(ours) => {
                // Of names and attributes recorded without a time, the greater value is in effect.
                if theirs.simulated && self.only.is_none() && self.tx.note_simulated(ours)? {
                    self.report.annotator_changes += 1;
                }
                ours
            }
            None => {
                self.refuse_unassigned("person", &theirs.external_id, false)?;
                self.report.annotators += 1;
                self.tx.insert_annotator(&NewAnnotator {
                    external_id: theirs.external_id.clone(),
                    name: theirs.name,
                    attributes: theirs.attributes,
                    simulated: theirs.simulated,
                })?
            }
        };
        let asked = self.only.as_ref().is_some_and(|only| only.person == ours);
        self.refuse_unassigned("person", &theirs.external_id, asked)?;
        if let Some(place) = places.get(&theirs.id.0).filter(|_| self.only.is_none()) {
            self.tx.place_of_annotator(ours.0, *place, known.is_none())?;
        }
        self.annotators.insert(theirs.id, ours);
        Ok(())
    }

    /// Texts are identified by external id; the body of a text never changes.
    pub(super) fn texts(&mut self, theirs: Vec<TextDigest>) -> Result<()> {
        let ours = text_digests(self.tx.conn).map_err(|e| self.tx.explain("reading texts", e))?;
        let ours: HashMap<String, (TextId, u64, u64)> =
            ours.into_iter().map(|text| (text.external_id, (text.id, text.body, text.noted))).collect();
        for text in theirs {
            let known = ours.get(&text.external_id).copied();
            self.text(text, known)?;
        }
        Ok(())
    }

    pub(super) fn text(&mut self, theirs: TextDigest, known: Option<(TextId, u64, u64)>) -> Result<()> {
        let name = theirs.external_id;
        let read = || {
            let found = self.other.noted_text(theirs.id)?;
            found.ok_or_else(|| conflict("text", name.clone(), "is gone from the other copy meanwhile"))
        };
        let ours = match known {
            Some((ours, body, _)) if theirs.body != self.as_handed_out(ours, &name, body)? => {
                return Err(conflict("text", name, "has another body in the other copy"));
            }
            // A submission does not contain the recorded data of texts.
            Some((ours, _, noted)) if noted == theirs.noted || self.only.is_some() => ours,
            Some((ours, ..)) => {
                let apart = self.tx.note_of_text(ours, read()?.noted)?;
                self.report.texts_changed += u32::from(apart.changed);
                if let Some((was, now)) = apart.split {
                    self.report.splits_changed += 1;
                    if self.report.splits.len() < NAMED {
                        self.report.splits.push(SplitChange { text: name.clone(), was, now });
                    }
                }
                ours
            }
            None => {
                self.refuse_unassigned("text", &name, false)?;
                self.report.texts += 1;
                let found = read()?;
                let ours = self.tx.add_text(&NewText {
                    external_id: name.clone(),
                    body: found.text.body,
                    group: found.text.group,
                    split: found.text.split,
                    metadata: found.text.metadata,
                })?;
                self.tx.put_noted(ours, &found.noted)?;
                ours
            }
        };
        let handed_out = self.only.as_ref().is_some_and(|only| only.texts.contains(&ours));
        self.refuse_unassigned("text", &name, handed_out)?;
        self.texts.insert(theirs.id, ours);
        Ok(())
    }

    /// The hash of one of our texts, which has this one, as the packet of a submission showed it.
    fn as_handed_out(&self, ours: TextId, name: &str, body: u64) -> Result<u64> {
        let Some(masker) = self.only.as_ref().and_then(|only| only.masker.as_ref()) else { return Ok(body) };
        let sql = "SELECT body FROM texts WHERE id = ?1";
        let unmasked: Option<String> = self.tx.first(sql, [ours.0], |r| r.get(0))?;
        let masked = unmasked.and_then(|unmasked| masker.mask(name, &unmasked));
        Ok(masked.map_or(body, |masked| body_digest(masked.as_bytes())))
    }

    /// Merges guideline versions and their pictures.
    pub(super) fn guidelines(&mut self, guidelines: Vec<Guideline>) -> Result<()> {
        for name in self.other.picture_names()? {
            if let Some(picture) = self.other.picture(&name)? {
                if !is_named_by_its_bytes(&picture) {
                    return Err(conflict("picture", name, "does not match its name in the other copy"));
                }
                let added = self.tx.add_picture(&picture)?;
                self.refuse_unassigned("picture", &name, !added)?;
            }
        }
        for theirs in guidelines {
            let added = self.tx.add_guideline(&theirs)?;
            self.refuse_unassigned("version of the guideline", &theirs.id.to_string(), !added)?;
            self.report.guidelines += u32::from(added);
        }
        Ok(())
    }

    pub(super) fn packet(&mut self, theirs: Packet, key: &PacketKey) -> Result<()> {
        let name = theirs.id.to_string();
        self.refuse_unassigned(
            "packet",
            &name,
            self.only.as_ref().is_some_and(|only| only.packet == theirs.id),
        )?;
        let unknown =
            || conflict("packet", name.clone(), "points to something that the other copy does not have");
        let ours = Packet {
            annotator: *self.annotators.get(&theirs.annotator).ok_or_else(unknown)?,
            questions: theirs.questions.iter().map(|id| self.question_here(*id)).collect::<Result<_>>()?,
            assignments: (theirs.assignments.iter())
                .map(|item| {
                    Ok(Assignment { text: *self.texts.get(&item.text).ok_or_else(unknown)?, ..*item })
                })
                .collect::<Result<_>>()?,
            ..theirs
        };
        match self.tx.packet(ours.id)? {
            // The file of a task packet does not contain the key here.
            Some((known, its_key)) if known == ours && (self.only.is_some() || its_key == *key) => Ok(()),
            Some(_) => Err(conflict("packet", name, "differs in the other copy")),
            None => {
                self.report.packets += 1;
                self.tx.add_packet(&ours, key)
            }
        }
    }

    /// A task packet assigned in the other copy to an annotator who withdrew: its submission is
    /// rejected here too.
    pub(super) fn packet_of_withdrawn(&mut self, packet: &Packet) -> Result<()> {
        if let Some(hash) = self.withdrawn.get(&packet.annotator) {
            self.tx.add_withdrawn_packet(*hash, packet.id.0)?;
        }
        self.withdrawn_packets.insert(packet.id);
        Ok(())
    }
}
