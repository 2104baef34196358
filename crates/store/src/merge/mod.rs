//! Merges the events of another copy of a project into this one.

mod events;
mod facts;
mod questions;
mod things;

use crate::events::Key;
use crate::levels_back::is_found;
use crate::log::Hash;
use crate::merge_known::SharedParts;
use crate::merge_report::MergedCounts;
use crate::noted::{question_added, text_digests};
use crate::packets::PACKET_TIMES;
use crate::questions::as_added;
use crate::tx::all;
use crate::{Result, Store, StoreError, WriteTx};
use dissensus_domain::{
    AnnotatorId, AttributeForm, EventId, Fact, FactKind, LevelId, Masker, NoteError, PacketId, QuestionId,
    Scale, TextId, WordingId,
};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Number of events read from the other copy at once.
const PAGE: usize = 10_000;

/// Maximum number of contradictions and changed splits that are listed; all are counted.
const NAMED: usize = 1_000;

impl Store {
    /// Merges the events of another copy of this project, together with its new texts, annotators
    /// and questions, in a single transaction.
    ///
    /// Copies that have merged each other's events agree on every current answer, every mark and
    /// every history, on the name and attributes of every annotator, and on the recorded data of
    /// texts and questions, in whatever order and however often they merged. Events that both
    /// copies have are compared before the transaction, so its cost is proportional to what is new.
    ///
    /// # Errors
    /// [`StoreError::OtherProject`] if `other` is not a copy of this project;
    /// [`StoreError::Conflict`] if a text has a different body, a question has a different scale,
    /// or an event differs under the same key; or an I/O error.
    pub fn merge_from(&self, other: &Store) -> Result<MergedCounts> {
        self.merge_checked(other, None, |_, _| Ok(()))
    }

    /// Like [`Store::merge_from`], for a submission: merges what its annotator did with the assigned
    /// texts, and nothing else.
    ///
    /// # Errors
    /// Like [`Store::merge_from`]; [`StoreError::Unknown`] if `packet` does not belong to this
    /// project; [`StoreError::Conflict`] if the other file has an annotator, text, question or
    /// packet that was not part of the task packet.
    pub fn merge_packet(&self, other: &Store, packet: PacketId) -> Result<MergedCounts> {
        self.merge_checked(other, Some(packet), |_, _| Ok(()))
    }

    /// Like [`Store::merge_from`] or, for a submission, [`Store::merge_packet`]. `check` inspects
    /// the result; if it returns an error, everything is rolled back.
    pub(crate) fn merge_checked<E: From<StoreError> + Send + 'static>(
        &self,
        other: &Store,
        packet: Option<PacketId>,
        check: impl FnOnce(&WriteTx<'_>, &MergedCounts) -> std::result::Result<(), E> + Send + 'static,
    ) -> std::result::Result<MergedCounts, E> {
        // Everything in a submission is checked.
        let known = if packet.is_none() { SharedParts::new(self, other)? } else { SharedParts::default() };
        let other = other.clone();
        self.write(move |tx| {
            let taken = Merger::new(tx, &other, packet)?.run(known)?;
            check(tx, &taken)?;
            Ok(taken)
        })
    }
}

/// The submission to merge.
struct Only {
    packet: PacketId,
    person: AnnotatorId,
    /// Texts that it assigns or uses for practice.
    texts: HashSet<TextId>,
    /// Texts assigned for re-annotation, each with its annotation round.
    again: HashSet<(TextId, u16)>,
    /// All versions of the study's attribute form.
    forms: Vec<AttributeForm>,
    /// All versions of the consent text.
    consents: Vec<String>,
    /// What was masked in its texts.
    masker: Option<Masker>,
}

/// A merge in progress, with maps from row ids of the other copy to row ids here.
struct Merger<'a, 'tx> {
    tx: &'a mut WriteTx<'tx>,
    other: &'a Store,
    /// The submission, if the other file is one.
    only: Option<Only>,
    questions: HashMap<QuestionId, QuestionId>,
    /// Name and scale of our questions: initially as they were added, and with the merged levels
    /// after these are merged.
    asked: HashMap<QuestionId, (String, Scale)>,
    /// Scales of the other copy, unchanged.
    scales: HashMap<QuestionId, Scale>,
    /// For questions of the other copy: maps from its row ids of levels to ours, and from its
    /// positions to ours.
    rows: HashMap<QuestionId, Vec<LevelId>>,
    /// The row ids of our levels by position, before the merge, and the levels that had been
    /// restored.
    before: HashMap<QuestionId, (Vec<LevelId>, BTreeSet<String>)>,
    texts: HashMap<TextId, TextId>,
    annotators: HashMap<AnnotatorId, AnnotatorId>,
    /// Annotators of the other copy who withdrew, with their hashes: nothing of theirs is merged.
    withdrawn: HashMap<AnnotatorId, Hash>,
    /// Their task packets.
    withdrawn_packets: HashSet<PacketId>,
    events: HashMap<EventId, EventId>,
    /// Events of the other copy that differ here, and those that depend on them.
    differing: HashSet<EventId>,
    wordings: HashMap<(WordingId, QuestionId), u32>,
    copies: HashMap<dissensus_domain::CopyId, u32>,
    /// New copies.
    new_copies: Vec<dissensus_domain::CopyId>,
    last: EventId,
    changed: BTreeSet<Key>,
    report: MergedCounts,
}

impl<'a, 'tx> Merger<'a, 'tx> {
    fn new(tx: &'a mut WriteTx<'tx>, other: &'a Store, packet: Option<PacketId>) -> Result<Self> {
        let (ours, theirs) = (tx.project_id()?, other.project_id()?);
        if ours != theirs {
            return Err(StoreError::OtherProject { ours, theirs });
        }
        check_migrated_together(tx, other)?;
        let only = packet.map(|id| {
            let known = tx.packet(id)?;
            known.ok_or_else(|| StoreError::Unknown { what: "packet", name: id.to_string() })
        });
        let only = match only.transpose()? {
            None => None,
            Some((packet, _)) => {
                let asked = packet.assignments.iter().map(|item| item.text);
                let texts = asked.chain(tx.ever_practised_on(&packet.questions)?).collect();
                let again = packet.assignments.iter().filter(|item| item.occasion > 1);
                let again = again.map(|item| (item.text, item.occasion)).collect();
                let (forms, consents) = (tx.attribute_forms_ever()?, tx.consent_versions()?);
                let masker = tx.masker_of(packet.id)?;
                let (packet, person) = (packet.id, packet.annotator);
                Some(Only { packet, person, texts, again, forms, consents, masker })
            }
        };
        Ok(Self {
            tx,
            other,
            only,
            questions: HashMap::new(),
            asked: HashMap::new(),
            scales: HashMap::new(),
            rows: HashMap::new(),
            before: HashMap::new(),
            texts: HashMap::new(),
            annotators: HashMap::new(),
            withdrawn: HashMap::new(),
            withdrawn_packets: HashSet::new(),
            events: HashMap::new(),
            differing: HashSet::new(),
            wordings: HashMap::new(),
            copies: HashMap::new(),
            new_copies: Vec::new(),
            last: EventId(0),
            changed: BTreeSet::new(),
            report: MergedCounts::default(),
        })
    }

    fn run(mut self, mut known: SharedParts) -> Result<MergedCounts> {
        known.still_hold(self.tx)?;
        // Events appended there from now on are left for the next merge: they may be about texts
        // that were not read.
        let end = self.other.last_event()?;
        // Facts come first: each is about an answer or a question that existed before it.
        let mut facts = self.other.every_fact()?;
        // Restored levels computed by the other copy are recomputed here.
        facts.retain(|fact| !is_found(fact));
        let (guidelines, packets) = (self.other.guidelines()?, self.other.packets()?);
        for question in self.other.questions()? {
            let read = |c: &rusqlite::Connection| as_added(c, &question.name);
            if let Some(added) = self.other.read("reading a question", read)? {
                let (id, now) = (added.id, question.scale);
                let noted = self.other.read("reading a question", |c| question_added(c, id))?;
                self.question(added, noted)?;
                self.levels_ever(id, now)?;
            }
        }
        let (of_questions, facts): (Vec<Fact>, Vec<Fact>) =
            facts.into_iter().partition(|fact| fact.kind.is_of_question());
        of_questions.into_iter().try_for_each(|fact| self.fact_of_question(fact))?;
        self.merge_levels()?;
        let of_withdrawal = |fact: &Fact| {
            use FactKind::{Withdrawal, WithdrawnName, WithdrawnPacket};
            matches!(fact.kind, Withdrawal | WithdrawnName | WithdrawnPacket)
        };
        let (of_withdrawals, facts): (Vec<Fact>, Vec<Fact>) = facts.into_iter().partition(of_withdrawal);
        self.withdrawals(&of_withdrawals)?;
        self.guidelines(guidelines)?;
        let places = self.other.annotator_places()?;
        for annotator in self.other.annotators()? {
            self.annotator(annotator, &places)?;
        }
        let people =
            |fact: &Fact| matches!(fact.kind, FactKind::AnnotatorName | FactKind::AnnotatorAttribute);
        let (of_people, facts): (Vec<Fact>, Vec<Fact>) = facts.into_iter().partition(people);
        let mut changed = BTreeSet::new();
        for fact in of_people {
            changed.extend(self.fact(fact)?);
        }
        changed.into_iter().try_for_each(|person| self.tx.refresh_annotator(person))?;
        self.texts(self.other.read("reading texts", text_digests)?)?;
        self.same_rows(&mut known);
        let mut rows = known.rows_to_read(self.other)?;
        rows.retain(|row| *row <= end.0);
        for page in rows.chunks(PAGE) {
            for event in self.other.events_in_rows(page)? {
                self.event(event)?;
            }
        }
        self.report.known += known.alike.values().map(|alike| alike.count).sum::<u32>();
        for key in self.changed.clone() {
            self.tx.refresh_current(key)?;
            self.contradiction(key)?;
        }
        for (packet, key) in packets {
            match self.withdrawn.contains_key(&packet.annotator) {
                true => self.packet_of_withdrawn(&packet)?,
                false => self.packet(packet, &key)?,
            }
        }
        facts.into_iter().try_for_each(|fact| self.fact(fact).map(drop))?;
        self.levels_stay()?;
        let packet = self.only.as_ref().map(|only| only.packet);
        self.tx.record_merged_copies(&self.new_copies, packet, &self.other.copy_origins()?)?;
        Ok(self.report)
    }

    /// Rejects notes that this program would not have accepted.
    fn check_note(
        &self,
        checked: std::result::Result<(), NoteError>,
        what: &'static str,
        at_ms: i64,
    ) -> Result<()> {
        checked.map_err(|error| StoreError::Invalid {
            what: format!("{what} of {at_ms} in the other copy"),
            why: error.to_string(),
        })
    }

    /// Rejects times of a submission outside the supported range of dates: nothing could follow
    /// them, and no file can represent them.
    fn in_time(&self, what: &str, at_ms: i64) -> Result<()> {
        if self.only.is_none() || PACKET_TIMES.contains(&at_ms) {
            return Ok(());
        }
        Err(StoreError::Invalid {
            what: format!("{what} in the packet"),
            why: format!(
                "its time is {}, and must be between the years 1900 and 9998: its computer had no right clock. What was answered under such a \
                 clock can be exported there, given other times and imported here",
                time_of(at_ms)
            ),
        })
    }

    /// Rejects anything that was not part of the task packet being merged.
    fn refuse_unassigned(&self, what: &'static str, name: &str, handed_out: bool) -> Result<()> {
        match self.only.is_none() || handed_out {
            true => Ok(()),
            false => Err(conflict(what, name.to_owned(), "was not handed out with this packet")),
        }
    }
}

/// Rejects copies of one file in format 2 that were labelled separately and migrated only
/// afterwards. They assigned two keys to each common event (see `identity.rs`), so an answer that
/// one of them retracted would reappear under its other key.
fn check_migrated_together(tx: &WriteTx<'_>, other: &Store) -> Result<()> {
    // The copy id of such a history is derived from its content (UUIDv8); all others are random.
    const OLD: &str = "SELECT uid FROM copies WHERE substr(hex(uid), 13, 1) = '8'";
    let ours: BTreeSet<Vec<u8>> = all(tx.conn, OLD, [], |r| r.get(0))
        .map_err(|e| tx.explain("reading the copies", e))?
        .into_iter()
        .collect();
    let theirs: BTreeSet<Vec<u8>> =
        other.read("reading the copies", |c| all(c, OLD, [], |r| r.get(0)))?.into_iter().collect();
    if ours.is_subset(&theirs) || theirs.is_subset(&ours) {
        return Ok(());
    }
    let name = "before format 3".to_owned();
    Err(conflict("history", name, "went on in both copies before they were brought up to date"))
}

/// Formats a time for messages, even if it is outside the range of dates.
fn time_of(at_ms: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(at_ms);
    moment.map_or_else(|_| format!("{at_ms} milliseconds since 1970"), |moment| moment.to_string())
}

fn conflict(what: &'static str, name: String, why: &'static str) -> StoreError {
    StoreError::Conflict { what, name, why }
}
