//! Merges the events of another copy of a project into this one.

use crate::appending::Place;
use crate::current::Key;
use crate::deleting::next_row;
use crate::events::NewEvent;
use crate::guidelines::is_named_by_its_bytes;
use crate::levels_back::{back_now, is_found, used_keys};
use crate::log::{Hash, Submitted, check_given, kind, name_hash, names_of, near_hash};
use crate::merge_known::Known;
use crate::noted::{Added, TextDigest, question_added, text_digests};
use crate::packets::{PACKET_TIMES, PacketKey};
use crate::places::{Places, ever, rows_by_key, with_levels};
use crate::questions::as_added;
use crate::repeat::Repeat;
use crate::repeat_changes::RepeatChange;
use crate::repeat_remarks::RepeatRemark;
use crate::repeats::RepeatAdded;
use crate::tx::all;
use crate::{NewAnnotator, NewQuestion, NewText, Result, Store, StoreError, WriteTx};
use dissensus_domain::{
    Annotator, AnnotatorId, Answer, Assignment, AttributeForm, Event, EventId, EventKind, Fact, FactKind,
    Guideline, Packet, PacketId, Question, QuestionId, RemarkError, Scale, TextId, WordingId,
    unsuperseded_answers,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Number of events read from the other copy at once.
const PAGE: usize = 10_000;

/// Maximum number of contradictions and changed splits that are listed; all are counted.
const NAMED: usize = 1_000;

/// A text whose split changed, because the other copy recorded a later one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitChange {
    /// External id of the text.
    pub text: String,
    /// The previous split.
    pub was: Option<String>,
    /// The new split.
    pub now: Option<String>,
}

/// Different answers of one annotator to one question about one text, given independently in
/// different copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    pub question: QuestionId,
    pub text: TextId,
    pub annotator: AnnotatorId,
    /// The answers by time, then copy, then sequence; the last one counts.
    pub answers: Vec<Event>,
}

/// What was merged from another copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenIn {
    /// New questions.
    pub questions: u32,
    /// New texts.
    pub texts: u32,
    /// New annotators.
    pub annotators: u32,
    /// New events.
    pub events: u32,
    /// Events of the other copy that were known here already.
    pub known: u32,
    /// New re-annotations.
    pub repeats: u32,
    /// New changes to re-annotations: retracted or restored.
    pub repeat_changes: u32,
    /// New changes to questions: prompts, help and levels edited, conditions set.
    pub question_changes: u32,
    /// Questions whose levels have new indices here.
    pub rearranged: u32,
    /// Levels that were removed in one copy and restored, because they are used in another.
    pub levels_back: u32,
    /// New names and attributes of annotators.
    pub annotator_changes: u32,
    /// New task packets.
    pub packets: u32,
    /// New submissions.
    pub hand_ins: u32,
    /// New decisions about texts.
    pub decisions: u32,
    /// New guideline versions.
    pub guidelines: u32,
    /// New facts about attention checks.
    pub attention_checks: u32,
    /// Annotators who had withdrawn only in the other copy, and were erased here if they were
    /// known.
    pub withdrawn: u32,
    /// Annotators of the other copy who withdrew here: nothing of theirs was merged.
    pub passed_over: u32,
    /// New saved or deleted panels.
    pub panels: u32,
    /// New facts: study settings, and records about annotators other than labels.
    pub facts: u32,
    /// Texts of both copies whose group, split or metadata changed here, because the other copy
    /// recorded them later.
    pub texts_changed: u32,
    /// Total number of texts whose split changed.
    pub splits_changed: u32,
    /// The first of these.
    pub splits: Vec<SplitChange>,
    /// Total number of annotators, questions and texts with contradicting answers, at least one of
    /// which was merged now.
    pub contradicted: u32,
    /// The first of these.
    pub contradictions: Vec<Contradiction>,
    /// Total number of events of the other copy that were left out, because they differ here under
    /// the same key or depend on such an event.
    pub left_out: u32,
    /// The subjects of the first of these.
    pub left_out_about: Vec<(QuestionId, TextId, AnnotatorId)>,
}

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
    pub fn take_in(&self, other: &Store) -> Result<TakenIn> {
        self.take_in_checked(other, None, |_, _| Ok(()))
    }

    /// Like [`Store::take_in`], for a submission: merges what its annotator did with the assigned
    /// texts, and nothing else.
    ///
    /// # Errors
    /// Like [`Store::take_in`]; [`StoreError::Unknown`] if `packet` does not belong to this
    /// project; [`StoreError::Conflict`] if the other file has an annotator, text, question or
    /// packet that was not part of the task packet.
    pub fn take_in_packet(&self, other: &Store, packet: PacketId) -> Result<TakenIn> {
        self.take_in_checked(other, Some(packet), |_, _| Ok(()))
    }

    /// Like [`Store::take_in`] or, for a submission, [`Store::take_in_packet`]. `check` inspects
    /// the result; if it returns an error, everything is rolled back.
    pub(crate) fn take_in_checked<E: From<StoreError> + Send + 'static>(
        &self,
        other: &Store,
        packet: Option<PacketId>,
        check: impl FnOnce(&WriteTx<'_>, &TakenIn) -> std::result::Result<(), E> + Send + 'static,
    ) -> std::result::Result<TakenIn, E> {
        // Everything in a submission is checked.
        let known = if packet.is_none() { Known::new(self, other)? } else { Known::default() };
        let other = other.clone();
        self.write(move |tx| {
            let taken = TakingIn::new(tx, &other, packet)?.run(known)?;
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
}

/// A merge in progress, with maps from row ids of the other copy to row ids here.
struct TakingIn<'a, 'tx> {
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
    rows: HashMap<QuestionId, Vec<u16>>,
    places: HashMap<QuestionId, Vec<u16>>,
    /// The row ids of our levels by position, before the merge, and the levels that had been
    /// restored.
    before: HashMap<QuestionId, (Vec<u16>, BTreeSet<String>)>,
    texts: HashMap<TextId, TextId>,
    annotators: HashMap<AnnotatorId, AnnotatorId>,
    /// Annotators of the other copy who withdrew, with their hashes: nothing of theirs is merged.
    gone: HashMap<AnnotatorId, Hash>,
    /// Their task packets.
    gone_packets: HashSet<PacketId>,
    events: HashMap<EventId, EventId>,
    /// Events of the other copy that differ here, and those that depend on them.
    differing: HashSet<EventId>,
    wordings: HashMap<(WordingId, QuestionId), u32>,
    copies: HashMap<dissensus_domain::CopyId, u32>,
    /// New copies.
    new_copies: Vec<dissensus_domain::CopyId>,
    last: EventId,
    /// New re-annotations.
    new_repeats: HashSet<RepeatPlace>,
    changed: BTreeSet<Key>,
    report: TakenIn,
}

impl<'a, 'tx> TakingIn<'a, 'tx> {
    fn new(tx: &'a mut WriteTx<'tx>, other: &'a Store, packet: Option<PacketId>) -> Result<Self> {
        let (ours, theirs) = (tx.project_id()?, other.project_id()?);
        if ours != theirs {
            return Err(StoreError::OtherProject { ours, theirs });
        }
        brought_up_to_date_together(tx, other)?;
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
                let forms = tx.attribute_forms_ever()?;
                Some(Only { packet: packet.id, person: packet.annotator, texts, again, forms })
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
            places: HashMap::new(),
            before: HashMap::new(),
            texts: HashMap::new(),
            annotators: HashMap::new(),
            gone: HashMap::new(),
            gone_packets: HashSet::new(),
            events: HashMap::new(),
            differing: HashSet::new(),
            wordings: HashMap::new(),
            copies: HashMap::new(),
            new_copies: Vec::new(),
            last: EventId(0),
            new_repeats: HashSet::new(),
            changed: BTreeSet::new(),
            report: TakenIn::default(),
        })
    }

    fn run(mut self, mut known: Known) -> Result<TakenIn> {
        known.still_hold(self.tx)?;
        // Events appended there from now on are left for the next merge: they may be about texts
        // that were not read.
        let end = self.other.last_event()?;
        // Facts come first: each is about an answer or a question that existed before it.
        let mut facts = self.other.every_fact()?;
        // Restored levels computed by the other copy are recomputed here.
        facts.retain(|fact| !is_found(fact));
        let changes = self.other.all_repeat_changes()?;
        let remarks = self.other.all_repeat_remarks()?;
        let (repeats, origins) = (self.other.all_repeats()?, self.other.all_repeat_origins()?);
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
        self.levels_meet()?;
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
        of_people.into_iter().try_for_each(|fact| self.fact(fact))?;
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
        for repeat in repeats {
            self.repeat(repeat)?;
        }
        for remark in remarks {
            if self.gone.contains_key(&remark.repeat.annotator) {
                continue;
            }
            self.said(remark.details.remark.check(), "remark", remark.said_at_ms)?;
            self.in_time("remark", remark.said_at_ms)?;
            let repeat = self.translated_repeat(remark.repeat)?;
            let place = place_of(&repeat);
            let added = self.tx.add_repeat_remark(&RepeatRemark { repeat, ..remark })?;
            // Notes given together with an answer are not counted separately.
            self.report.repeat_changes += u32::from(added && !self.new_repeats.contains(&place));
        }
        for origin in origins {
            self.repeat_origin(origin)?;
        }
        for change in changes {
            if self.gone.contains_key(&change.repeat.annotator) {
                continue;
            }
            self.in_time("change of a repeated answer", change.changed_at_ms)?;
            let repeat = self.translated_repeat(change.repeat)?;
            let added = self.tx.add_repeat_change(&RepeatChange { repeat, ..change })?;
            self.report.repeat_changes += u32::from(added);
        }
        for (packet, key) in packets {
            match self.gone.contains_key(&packet.annotator) {
                true => self.packet_of_gone(&packet)?,
                false => self.packet(packet, &key)?,
            }
        }
        facts.into_iter().try_for_each(|fact| self.fact(fact))?;
        self.levels_stay()?;
        let packet = self.only.as_ref().map(|only| only.packet);
        self.tx.note_copies_taken_in(&self.new_copies, packet, &self.other.copy_origins()?)?;
        Ok(self.report)
    }

    /// Annotators who withdrew in the other copy are withdrawn here, and those who withdrew here
    /// are skipped.
    fn withdrawals(&mut self, theirs: &[Fact]) -> Result<()> {
        // Without a withdrawal, what is known of one says nothing.
        if let Some(one) = theirs.iter().find(|fact| fact.kind == FactKind::Withdrawal) {
            let (what, name) = (kind(one.kind).title)(one);
            self.not_handed_out(what, &name, false)?;
            self.report.withdrawn = self.tx.add_withdrawals(theirs)?;
        }
        let people = self.other.annotators()?;
        self.gone = Store::withdrawn_among(self.tx, &people)?;
        self.names_of_gone(&people)?;
        self.report.passed_over = u32::try_from(self.gone.len()).unwrap_or(u32::MAX);
        let last = self.tx.first(&format!("SELECT {} - 1", next_row("events")), [], |r| r.get(0))?;
        self.last = EventId(last.unwrap_or(0));
        Ok(())
    }

    /// A copy may know an annotator who withdrew by names that were never known here.
    fn names_of_gone(&mut self, people: &[Annotator]) -> Result<()> {
        if self.gone.is_empty() {
            return Ok(());
        }
        let project = self.tx.project_id()?;
        let mut new = false;
        for person in people {
            let Some(hash) = self.gone.get(&person.id) else { continue };
            let mut names = self.other.read("reading names", |c| names_of(c, person.id))?;
            names.extend([person.external_id.clone(), person.name.clone()]);
            for name in names.iter().filter(|name| !name.is_empty()) {
                new |= self.tx.add_withdrawn_name(*hash, name_hash(project, name))?;
                self.tx.add_withdrawn_name(*hash, near_hash(project, name))?;
            }
        }
        // Something signed with such a name may have been merged before.
        if new {
            self.tx.erase(&[])?;
        }
        Ok(())
    }

    /// A task packet assigned in the other copy to an annotator who withdrew: its submission is
    /// rejected here too.
    fn packet_of_gone(&mut self, packet: &Packet) -> Result<()> {
        if let Some(hash) = self.gone.get(&packet.annotator) {
            self.tx.add_withdrawn_packet(*hash, packet.id.0)?;
        }
        self.gone_packets.insert(packet.id);
        Ok(())
    }

    /// Merges a fact. Of a submission, only what its kind allows is merged, about its own annotator.
    fn fact(&mut self, theirs: Fact) -> Result<()> {
        if theirs.annotator.is_some_and(|id| self.gone.contains_key(&id)) {
            return Ok(());
        }
        let kind = kind(theirs.kind);
        let (what, name) = (kind.title)(&theirs);
        let submitted = kind.submitted;
        if self.only.is_some() && submitted == Submitted::Ignored {
            return Ok(());
        }
        self.not_handed_out(what, &name, submitted != Submitted::No)?;
        let ours = self.fact_here(&theirs)?;
        let own = theirs.kind.is_of_person() && ours.annotator.is_some();
        if let Some(only) = &self.only {
            self.in_time(kind.noun.unwrap_or(theirs.kind.name()), theirs.at_ms)?;
            if theirs.kind == FactKind::FormAnswers {
                // Only attributes and values that some version of the form offered.
                check_given(&theirs.value, &only.forms).map_err(|why| StoreError::Invalid {
                    what: "answers to a form in the packet".to_owned(),
                    why,
                })?;
            }
        }
        let added = self.tx.add_fact(&ours)?;
        self.not_handed_out(what, &name, own || !added || submitted == Submitted::Yes)?;
        *(kind.count)(&mut self.report) += u32::from(added);
        Ok(())
    }

    /// A fact of the other copy with the ids that its question, text, annotator and levels have here.
    fn fact_here(&self, theirs: &Fact) -> Result<Fact> {
        let kind = kind(theirs.kind);
        let unknown = || match (kind.title)(theirs) {
            ("fact", name) => conflict(
                "fact",
                format!("{name} of {}", theirs.at_ms),
                "is about something that the other copy does not have",
            ),
            (what, name) => conflict(what, name, "is about a text that the other copy does not have"),
        };
        let question = theirs.question.map(|id| self.question_here(id)).transpose()?;
        let text = theirs.text.map(|id| self.texts.get(&id).copied().ok_or_else(unknown)).transpose()?;
        let annotator =
            theirs.annotator.map(|id| self.annotators.get(&id).copied().ok_or_else(unknown)).transpose()?;
        let rows = theirs.question.and_then(|id| self.rows.get(&id));
        let row = |row: u16| rows.and_then(|rows| rows.get(usize::from(row))).copied().unwrap_or(row);
        let value = (kind.with_levels)(theirs.value.clone(), &row);
        Ok(Fact { question, text, annotator, value, ..theirs.clone() })
    }

    /// Merges a fact that defines a question.
    fn fact_of_question(&mut self, theirs: Fact) -> Result<()> {
        let ours = self.fact_here(&theirs)?;
        let Some(question) = ours.question else { return Ok(()) };
        let kind = kind(ours.kind);
        let (_, scale) = self.asked.get(&question).ok_or_else(|| unknown_question(question))?;
        (kind.sound)(self.tx, &ours, scale).map_err(|why| StoreError::Invalid {
            what: format!("{} of {} in the other copy", kind.noun.unwrap_or(ours.kind.name()), ours.at_ms),
            why,
        })?;
        let added = self.tx.add_fact(&ours)?;
        self.not_changed(question, added)?;
        *(kind.count)(&mut self.report) += u32::from(added);
        Ok(())
    }

    /// Rejects notes that this program would not have accepted.
    fn said(
        &self,
        checked: std::result::Result<(), RemarkError>,
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
    fn not_handed_out(&self, what: &'static str, name: &str, handed_out: bool) -> Result<()> {
        match self.only.is_none() || handed_out {
            true => Ok(()),
            false => Err(conflict(what, name.to_owned(), "was not handed out with this packet")),
        }
    }

    fn not_changed(&self, question: QuestionId, changed: bool) -> Result<()> {
        match self.asked.get(&question) {
            Some((name, _)) if changed => self.not_handed_out("change of the question", name, false),
            _ => Ok(()),
        }
    }

    fn packet(&mut self, theirs: Packet, key: &PacketKey) -> Result<()> {
        let name = theirs.id.to_string();
        self.not_handed_out(
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
            Some(_) => Err(conflict("packet", name, "says something else in the other copy")),
            None => {
                self.report.packets += 1;
                self.tx.add_packet(&ours, key)
            }
        }
    }

    fn question(&mut self, theirs: Question, noted: Option<(Added, String)>) -> Result<()> {
        let known =
            as_added(self.tx.conn, &theirs.name).map_err(|e| self.tx.explain("reading a question", e))?;
        let ours = match known {
            Some(ours) if ours.scale != theirs.scale => {
                return Err(conflict("question", theirs.name, "has another scale in the other copy"));
            }
            Some(ours) => {
                let explain = |e| StoreError::explain(self.tx.path, "reading the levels", e);
                let places = Places::read(self.tx.conn).map_err(explain)?;
                let scale = self.tx.question(ours.id)?.map_or(ours.scale, |question| question.scale);
                let rows = (0..scale.len() as u16).map(|place| places.row(ours.id, place)).collect();
                let back = back_now(self.tx.conn, ours.id).map_err(explain)?;
                self.before.insert(ours.id, (rows, back));
                // A task packet has the prompt in effect as its initial prompt.
                if let Some(noted) = noted.filter(|_| self.only.is_none()) {
                    let changed = self.tx.note_of_question(ours.id, noted)?;
                    self.report.question_changes += u32::from(changed);
                }
                ours.id
            }
            None => {
                self.not_handed_out("question", &theirs.name, false)?;
                self.report.questions += 1;
                let (name, scale) = (theirs.name.clone(), theirs.scale.clone());
                let new = NewQuestion { name, prompt: theirs.prompt, scale };
                let ours = self.tx.add_question(&new)?;
                if let Some((added, prompt)) = noted {
                    self.tx.put_question_added(ours, added, &prompt)?;
                }
                ours
            }
        };
        self.questions.insert(theirs.id, ours);
        self.asked.insert(ours, (theirs.name, theirs.scale));
        Ok(())
    }

    /// Every level that the question ever had there gets a row id here.
    fn levels_ever(&mut self, theirs: QuestionId, now: Scale) -> Result<()> {
        let question = self.question_here(theirs)?;
        let keys = self.other.read("reading the levels", |c| ever(c, theirs))?;
        let known = ever(self.tx.conn, question).map_err(|e| self.tx.explain("reading the levels", e))?;
        for key in keys.iter().filter(|key| !known.contains(key)) {
            self.not_handed_out("level", key, false)?;
        }
        self.tx.add_level_keys(question, &keys)?;
        let rows =
            rows_by_key(self.tx.conn, question).map_err(|e| self.tx.explain("reading the levels", e))?;
        let rows = keys.iter().map(|key| rows.get(key).copied().unwrap_or_default()).collect();
        self.rows.insert(theirs, rows);
        self.scales.insert(theirs, now);
        Ok(())
    }

    /// Merges the levels of both copies: levels that one copy removed but that are used in the
    /// other are restored, and every position there is mapped to a position here.
    fn levels_meet(&mut self) -> Result<()> {
        for (theirs, ours) in self.questions.clone() {
            let other = self.other;
            self.tx.find_levels(ours, || {
                other.read("reading what stands on the levels", |c| used_keys(c, theirs, |_| true))
            })?;
            let path = self.tx.path.to_owned();
            let explain = |e| StoreError::explain(&path, "reading the levels", e);
            let rows = self.rows.get(&theirs).cloned().unwrap_or_default();
            let places = Places::read(self.tx.conn).map_err(explain)?;
            let there = self.other.read("reading the levels", Places::read)?;
            let of = self.scales.get(&theirs).map_or(0, Scale::len) as u16;
            let place = |place: u16| {
                let row = rows.get(usize::from(there.row(theirs, place))).copied().unwrap_or_default();
                places.place(ours, row)
            };
            self.places.insert(theirs, (0..of).map(place).collect());
            if let Some(question) = self.tx.question(ours)? {
                self.asked.insert(ours, (question.name, question.scale));
            }
        }
        Ok(())
    }

    /// Recomputes levels at the end: what used a restored level may not have been merged, because
    /// its annotator withdrew or a condition is no longer in effect.
    fn levels_stay(&mut self) -> Result<()> {
        for ours in self.questions.values().copied() {
            self.tx.find_levels(ours, || Ok(BTreeSet::new()))?;
            let Some((before, back_before)) = self.before.get(&ours) else { continue };
            let path = self.tx.path.to_owned();
            let explain = |e| StoreError::explain(&path, "reading the levels", e);
            let places = Places::read(self.tx.conn).map_err(explain)?;
            let levels = self.tx.question(ours)?.map_or(0, |question| question.scale.len()) as u16;
            if !(0..levels).map(|place| places.row(ours, place)).eq(before.iter().copied()) {
                self.report.rearranged += 1;
                self.tx.rearranged(ours)?;
            }
            let back = back_now(self.tx.conn, ours).map_err(explain)?;
            self.report.levels_back += back.difference(back_before).count() as u32;
        }
        Ok(())
    }

    /// Converts an answer of the other copy to the positions of its levels here.
    fn answer_here(&self, theirs: QuestionId, answer: Answer) -> Answer {
        let Some(places) = self.places.get(&theirs) else { return answer };
        with_levels(answer, |place| places.get(usize::from(place)).copied().unwrap_or(u16::MAX))
    }

    /// Merges guideline versions and their pictures.
    fn guidelines(&mut self, guidelines: Vec<Guideline>) -> Result<()> {
        for name in self.other.picture_names()? {
            if let Some(picture) = self.other.picture(&name)? {
                if !is_named_by_its_bytes(&picture) {
                    return Err(conflict("picture", name, "is not what its name says in the other copy"));
                }
                let added = self.tx.add_picture(&picture)?;
                self.not_handed_out("picture", &name, !added)?;
            }
        }
        for theirs in guidelines {
            let added = self.tx.add_guideline(&theirs)?;
            self.not_handed_out("version of the guideline", &theirs.id.to_string(), !added)?;
            self.report.guidelines += u32::from(added);
        }
        Ok(())
    }

    fn question_here(&self, theirs: QuestionId) -> Result<QuestionId> {
        self.questions.get(&theirs).copied().ok_or_else(|| unknown_question(theirs))
    }

    fn annotator(&mut self, theirs: Annotator, places: &BTreeMap<u32, i64>) -> Result<()> {
        if self.gone.contains_key(&theirs.id) {
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
                self.not_handed_out("person", &theirs.external_id, false)?;
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
        self.not_handed_out("person", &theirs.external_id, asked)?;
        if let Some(place) = places.get(&theirs.id.0).filter(|_| self.only.is_none()) {
            self.tx.place_of_annotator(ours.0, *place, known.is_none())?;
        }
        self.annotators.insert(theirs.id, ours);
        Ok(())
    }

    /// Texts are identified by external id; the body of a text never changes.
    fn texts(&mut self, theirs: Vec<TextDigest>) -> Result<()> {
        let ours = text_digests(self.tx.conn).map_err(|e| self.tx.explain("reading texts", e))?;
        let ours: HashMap<String, (TextId, u64, u64)> =
            ours.into_iter().map(|text| (text.external_id, (text.id, text.body, text.noted))).collect();
        for text in theirs {
            let known = ours.get(&text.external_id).copied();
            self.text(text, known)?;
        }
        Ok(())
    }

    fn text(&mut self, theirs: TextDigest, known: Option<(TextId, u64, u64)>) -> Result<()> {
        let name = theirs.external_id;
        let read = || {
            let found = self.other.noted_text(theirs.id)?;
            found.ok_or_else(|| conflict("text", name.clone(), "is gone from the other copy meanwhile"))
        };
        let ours = match known {
            Some((_, body, _)) if body != theirs.body => {
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
                self.not_handed_out("text", &name, false)?;
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
        self.not_handed_out("text", &name, handed_out)?;
        self.texts.insert(theirs.id, ours);
        Ok(())
    }

    /// Removes copies from `known` whose row ids mean something different here.
    fn same_rows(&self, known: &mut Known) {
        let moved = |pairs: &mut dyn Iterator<Item = (u32, u32)>| {
            pairs.filter(|(theirs, ours)| theirs != ours).map(|(theirs, _)| theirs).min().unwrap_or(u32::MAX)
        };
        let text = moved(&mut self.texts.iter().map(|(theirs, ours)| (theirs.0, ours.0)));
        let annotator = moved(&mut self.annotators.iter().map(|(theirs, ours)| (theirs.0, ours.0)));
        let same_levels = |question: &u32| {
            let id = QuestionId(*question);
            self.questions.get(&id) == Some(&id)
                && self.rows.get(&id).is_some_and(|rows| rows.iter().copied().eq(0..rows.len() as u16))
        };
        known.alike.retain(|_, alike| {
            alike.text < text && alike.annotator < annotator && alike.questions.iter().all(same_levels)
        });
    }

    /// Records contradicting answers of one annotator that exist since this merge.
    fn contradiction(&mut self, (question, text, annotator): Key) -> Result<()> {
        let events = self.tx.events_on(question, text, annotator)?;
        let mut standing = unsuperseded_answers(&events);
        if standing.iter().all(|event| event.answer() == standing[0].answer()) {
            return Ok(());
        }
        self.report.contradicted += 1;
        if self.report.contradictions.len() < NAMED {
            standing.sort_by_key(|event| event.order());
            let answers = standing.into_iter().cloned().collect();
            self.report.contradictions.push(Contradiction { question, text, annotator, answers });
        }
        Ok(())
    }

    /// The row id here of a wording of this question in the other copy.
    fn wording(&mut self, theirs: Option<WordingId>, question: QuestionId) -> Result<Option<u32>> {
        let Some(id) = theirs else { return Ok(None) };
        if let Some(row) = self.wordings.get(&(id, question)) {
            return Ok(Some(*row));
        }
        let other = || conflict("wording", id.to_string(), "is not what its name says in the other copy");
        let wording = self.other.wording(id)?.ok_or_else(other)?;
        if self.only.is_some() {
            let asked = self.asked.get(&question).is_some_and(|(name, _)| *name == wording.question);
            let known = self.tx.wording_row(Some(id))?.is_some();
            let handed_out = asked && (known || self.tx.was_ever_worded(question, &wording)?);
            self.not_handed_out("wording of the question", &wording.question, handed_out)?;
        }
        let row = self.tx.add_wording(&wording)?;
        // The id of a wording is derived from its contents.
        if self.tx.wording_row(Some(id))? != Some(row) {
            return Err(other());
        }
        self.wordings.insert((id, question), row);
        Ok(Some(row))
    }

    fn event(&mut self, theirs: Event) -> Result<()> {
        if self.gone.contains_key(&theirs.annotator) {
            return Ok(());
        }
        self.said(theirs.remark.check(), "remark", theirs.at_ms)?;
        let (id, on) = (theirs.id, theirs.replaces().or(theirs.retracts()));
        let stands_on_one = on.is_some_and(|on| self.differing.contains(&on));
        let about = self.about(&theirs);
        let event = match self.translated(theirs) {
            // The answer that it refers to is about something else here.
            Err(StoreError::Conflict { .. }) if stands_on_one => {
                self.leave_out(id, about);
                return Ok(());
            }
            event => event?,
        };
        let copy = self.copy(event.key.copy)?;
        if let Some(ours) = self.tx.event_with_key(copy, event.key.sequence)? {
            // The row id in the other file is meaningless; everything else must be equal.
            if (Event { id: event.id, ..ours.clone() }) != event {
                // In a submission, an already merged event was changed. In whole copies, each
                // merged one of two files with different events under the same key: each copy
                // retains its own, as otherwise neither could ever merge the other.
                if self.only.is_some() {
                    return Err(conflict(
                        "event",
                        event.key.to_string(),
                        "says something else in the other copy",
                    ));
                }
                self.leave_out(id, about);
            } else {
                self.report.known += 1;
            }
            self.events.insert(event.id, ours.id);
            return Ok(());
        }
        self.in_time("event", event.at_ms)?;
        self.last = EventId(self.last.0.checked_add(1).ok_or_else(|| StoreError::Invalid {
            what: "project".to_owned(),
            why: "it holds as many events as a project can hold (4,294,967,295)".to_owned(),
        })?);
        let place = Place { event: self.last.0, copy, sequence: event.key.sequence };
        let wording = self.wording(event.wording, event.question)?;
        let Event { question, text, annotator, at_ms, source, ref kind, ref remark, guideline, .. } = event;
        let new = NewEvent { question, text, annotator, at_ms, source, kind, remark, guideline, wording };
        self.tx.insert_event(place, &new)?;
        self.events.insert(event.id, self.last);
        self.changed.insert((question, text, annotator));
        self.report.events += 1;
        Ok(())
    }

    /// The question, text and annotator of an event of the other copy, as ids here.
    fn about(&self, theirs: &Event) -> Option<Key> {
        let question = *self.questions.get(&theirs.question)?;
        Some((question, *self.texts.get(&theirs.text)?, *self.annotators.get(&theirs.annotator)?))
    }

    /// Leaves out an event that cannot be merged; events that depend on it are left out too.
    fn leave_out(&mut self, theirs: EventId, about: Option<Key>) {
        self.differing.insert(theirs);
        self.report.left_out += 1;
        if self.report.left_out_about.len() < NAMED {
            self.report.left_out_about.extend(about);
        }
    }

    fn repeat(&mut self, theirs: Repeat) -> Result<()> {
        if self.gone.contains_key(&theirs.annotator) {
            return Ok(());
        }
        let ours = self.translated_repeat(theirs)?;
        self.in_time("repeated answer", ours.at_ms)?;
        let asked = self.only.as_ref().is_none_or(|only| only.again.contains(&(ours.text, ours.occasion)));
        self.not_handed_out("repeated answer of occasion", &ours.occasion.to_string(), asked)?;
        if self.tx.insert_repeat(&ours, true)? == RepeatAdded::New {
            self.report.repeats += 1;
            self.new_repeats.insert(place_of(&ours));
        }
        Ok(())
    }

    /// Merges the origin of a re-annotation, and the wording under which it was given.
    fn repeat_origin(&mut self, theirs: Repeat) -> Result<()> {
        if self.gone.contains_key(&theirs.annotator) {
            return Ok(());
        }
        let ours = self.translated_repeat(theirs)?;
        self.wording(ours.wording, ours.question)?;
        if self.only.is_some() {
            // A submission states it once, together with the answer.
            let known = self.tx.wording_of_repeat(&ours)?;
            let same = known.is_none() || ours.wording.is_none() || known == ours.wording;
            self.not_handed_out("other wording of an answer of occasion", &ours.occasion.to_string(), same)?;
        }
        self.tx.add_repeat_origin(&ours)
    }

    fn translated_repeat(&self, theirs: Repeat) -> Result<Repeat> {
        let unknown = || {
            conflict(
                "repeat",
                theirs.at_ms.to_string(),
                "points to something that the other copy does not have",
            )
        };
        Ok(Repeat {
            question: *self.questions.get(&theirs.question).ok_or_else(unknown)?,
            text: *self.texts.get(&theirs.text).ok_or_else(unknown)?,
            annotator: *self.annotators.get(&theirs.annotator).ok_or_else(unknown)?,
            answer: self.answer_here(theirs.question, theirs.answer),
            ..theirs
        })
    }

    /// Converts the row ids that an event of the other copy refers to; its own row id remains the
    /// other's.
    fn translated(&self, theirs: Event) -> Result<Event> {
        let name = theirs.key.to_string();
        let unknown =
            || conflict("event", name.clone(), "points to something that the other copy does not have");
        let question = *self.questions.get(&theirs.question).ok_or_else(unknown)?;
        let text = *self.texts.get(&theirs.text).ok_or_else(unknown)?;
        let annotator = *self.annotators.get(&theirs.annotator).ok_or_else(unknown)?;
        let answer_here = |id: &EventId| -> Result<EventId> {
            // An event follows the answer that it refers to, so that has been merged before.
            let here = match self.events.get(id) {
                Some(here) => *here,
                None => self.known_event(*id)?.ok_or_else(unknown)?,
            };
            let named = self.tx.event(here)?.ok_or_else(unknown)?;
            let same = (named.question, named.text, named.annotator) == (question, text, annotator);
            match same && named.answer().is_some() {
                true => Ok(here),
                false => Err(conflict("event", name.clone(), "names an answer to something else")),
            }
        };
        let kind = match theirs.kind {
            EventKind::Answer { answer, duration_ms, replaces } => {
                let answer = self.answer_here(theirs.question, answer);
                let fits = self.asked.get(&question).map_or(Ok(()), |(_, scale)| answer.check(scale));
                fits.map_err(|source| StoreError::OffScale { question, source })?;
                self.tx.spans_within(question, text, &answer)?;
                let replaces = replaces.as_ref().map(answer_here).transpose()?;
                EventKind::Answer { answer, duration_ms, replaces }
            }
            EventKind::Retraction { of } => EventKind::Retraction { of: answer_here(&of)? },
            mark => mark,
        };
        Ok(Event { question, text, annotator, kind, ..theirs })
    }

    /// The row id here of an event of the other copy that was not read, because both copies have
    /// it.
    fn known_event(&self, theirs: EventId) -> Result<Option<EventId>> {
        let Some(Event { key, .. }) = self.other.event(theirs)? else { return Ok(None) };
        let sql = "SELECT e.id FROM copies AS c JOIN events AS e ON e.copy = c.id WHERE c.uid = ?1 AND e.sequence = ?2";
        self.tx.first(sql, (key.copy.0, key.sequence), |r| Ok(EventId(r.get(0)?)))
    }

    fn copy(&mut self, copy: dissensus_domain::CopyId) -> Result<u32> {
        if let Some(row) = self.copies.get(&copy) {
            return Ok(*row);
        }
        if !self.tx.has_copy(copy)? {
            self.new_copies.push(copy);
        }
        let made_at_ms = self.other.copy_made_at(copy)?;
        self.in_time("beginning of the work", made_at_ms)?;
        let row = self.tx.copy_row(copy, made_at_ms)?;
        self.copies.insert(copy, row);
        Ok(row)
    }
}

/// Rejects copies of one file in format 2 that were labelled separately and migrated only
/// afterwards. They assigned two keys to each common event (see `identity.rs`), so an answer that
/// one of them retracted would reappear under its other key.
fn brought_up_to_date_together(tx: &WriteTx<'_>, other: &Store) -> Result<()> {
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

/// Identifies a re-annotation: question, text, annotator, annotation round, time.
type RepeatPlace = (QuestionId, TextId, AnnotatorId, u16, i64);

fn place_of(repeat: &Repeat) -> RepeatPlace {
    (repeat.question, repeat.text, repeat.annotator, repeat.occasion, repeat.at_ms)
}

/// Formats a time for messages, even if it is outside the range of dates.
fn time_of(at_ms: i64) -> String {
    let moment = jiff::Timestamp::from_millisecond(at_ms);
    moment.map_or_else(|_| format!("{at_ms} milliseconds since 1970"), |moment| moment.to_string())
}

fn unknown_question(theirs: QuestionId) -> StoreError {
    conflict("question", theirs.0.to_string(), "is changed in the other copy, which does not have it")
}

fn conflict(what: &'static str, name: String, why: &'static str) -> StoreError {
    StoreError::Conflict { what, name, why }
}
