//! Task packets as files: everything that one annotator needs to answer, and nothing about others.

use crate::guidelines::BEFORE;
use crate::levels::ever;
use crate::log::kind;
use crate::noted::question_added;
use crate::questions::as_added;
use crate::{NewAnnotator, NewQuestion, NewText, Result, Store, StoreError, WriteTx};
use dissensus_domain::{
    Annotator, Attributes, Fact, FactKind, Guideline, Packet, PacketId, Picture, Question, QuestionId, Text,
    TextId,
};
use std::collections::HashMap;
use std::path::Path;
use strum::VariantArray as _;

/// The contents of a task packet's file.
struct Contents {
    packet: Packet,
    key: crate::PacketKey,
    annotator: Annotator,
    questions: Vec<Question>,
    /// The initial names of all levels of each question; levels added later come last.
    level_keys: Vec<Vec<String>>,
    /// The guideline version in effect, and its number.
    guideline: Option<(Guideline, u32)>,
    pictures: Vec<Picture>,
    /// The number of the consent text in effect.
    consent: Option<u32>,
    texts: Vec<Text>,
    facts: Vec<Fact>,
}

impl Store {
    /// Writes a task packet to `path`, as a copy of this project with only the packet's annotator,
    /// questions and texts. Texts are stored in the order in which they are shown. The guideline is
    /// included in its current version, with its number. Of a text, only its id and body are
    /// included, the latter masked by the rules that the packet was handed out with; of the annotator, only
    /// id and name. Answers, attributes and anything derived from
    /// models are not included.
    ///
    /// # Errors
    /// There is no such packet, a question depends on one that is not in the packet, or an I/O
    /// error. An existing file at `path` is unchanged.
    pub fn write_packet(&self, packet: PacketId, path: impl AsRef<Path>) -> Result<()> {
        if let Some((packet, _)) = self.packet(packet)? {
            self.check_conditions(&packet)?;
        }
        self.write_packet_about(packet, &[], path)
    }

    /// Writes a task packet, as [`Store::write_packet`] does, whatever its questions depend on by now, with
    /// these texts among those that were ever practised on.
    pub(crate) fn write_packet_about(
        &self,
        packet: PacketId,
        texts: &[String],
        path: impl AsRef<Path>,
    ) -> Result<()> {
        let unknown = |what, name: String| StoreError::Unknown { what, name };
        let found = self.packet(packet)?;
        let (packet, key) = found.ok_or_else(|| unknown("packet", packet.to_string()))?;
        let annotator = self.annotator(packet.annotator)?;
        let annotator = annotator.ok_or_else(|| unknown("annotator", packet.annotator.0.to_string()))?;
        self.write_contents(self.contents(packet, key, annotator, texts)?, path)
    }

    /// Writes a task packet that is not in this project, for a person who is not in it either, as
    /// [`Store::write_packet`] does.
    ///
    /// # Errors
    /// The same as [`Store::write_packet`].
    pub fn write_packet_for_anybody(&self, packet: Packet, path: impl AsRef<Path>) -> Result<()> {
        self.check_conditions(&packet)?;
        let annotator = Annotator {
            id: packet.annotator,
            external_id: "?".to_owned(),
            name: String::new(),
            attributes: Attributes::new(),
            simulated: false,
        };
        self.write_contents(self.contents(packet, crate::PacketKey([0; 32]), annotator, &[])?, path)
    }

    fn write_contents(&self, contents: Contents, path: impl AsRef<Path>) -> Result<()> {
        let file = Self::create_copy_of(self.project_id()?, path)?;
        file.write(move |tx| contents.put(tx))?;
        file.close()
    }

    /// Checks that no question of a packet depends on one that is not in it.
    fn check_conditions(&self, packet: &Packet) -> Result<()> {
        let all = self.questions()?;
        let asked = |id: &QuestionId| packet.questions.contains(id);
        for question in all.iter().filter(|q| asked(&q.id)) {
            if let Some(only_if) = question.only_if.as_ref().filter(|only_if| !asked(&only_if.question)) {
                let other = all.iter().find(|q| q.id == only_if.question).map_or("?", |q| q.name.as_str());
                return Err(StoreError::Invalid {
                    what: format!("question {}", question.name),
                    why: format!("it is asked only after {other}: hand both out"),
                });
            }
        }
        Ok(())
    }

    fn contents(
        &self,
        packet: Packet,
        key: crate::PacketKey,
        annotator: Annotator,
        also: &[String],
    ) -> Result<Contents> {
        let unknown = |what, name: String| StoreError::Unknown { what, name };
        let all = self.questions()?;
        let mut questions = Vec::with_capacity(packet.questions.len());
        let mut level_keys = Vec::with_capacity(packet.questions.len());
        let mut added_at: HashMap<QuestionId, i64> = HashMap::new();
        for id in &packet.questions {
            let name = all.iter().find(|q| q.id == *id).map(|q| q.name.clone());
            let name = name.ok_or_else(|| unknown("question", id.0.to_string()))?;
            let added = self.read("reading a question", |c| as_added(c, &name))?;
            questions.push(added.ok_or_else(|| unknown("question", name))?);
            level_keys.push(self.read("reading the levels", |c| ever(c, *id))?);
            let noted = self.read("reading a question", |c| question_added(c, *id))?;
            added_at.extend(noted.map(|((at_ms, _), _)| (*id, at_ms)));
        }
        let asked = |id: &QuestionId| packet.questions.contains(id);
        let mut texts = Vec::with_capacity(packet.assignments.len());
        for item in packet.assignments.iter().filter(|item| item.occasion == 1) {
            let text = self.text(item.text)?;
            texts.push(text.ok_or_else(|| unknown("text", item.text.0.to_string()))?);
        }
        // Practice texts are stored after the assigned texts, followed by texts on which this
        // annotator practised earlier, so that finished rounds are finished in the packet too.
        let practice = self.practice()?;
        let now = practice.texts.iter().map(|one| (one.question, one.text));
        let known = self.ever_practised_on(&packet.questions)?;
        let own = practice.answers.iter().filter(|one| one.annotator == packet.annotator);
        let own = own.filter(|one| known.contains(&one.text));
        for (question, id) in now.chain(own.map(|one| (one.question, one.text))) {
            if asked(&question) && texts.iter().all(|known: &Text| known.id != id) {
                let text = self.text(id)?;
                texts.push(text.ok_or_else(|| unknown("text", id.0.to_string()))?);
            }
        }
        for name in also {
            if let Some(text) = self.text_by_external(name)?
                && known.contains(&text.id)
                && texts.iter().all(|other: &Text| other.id != text.id)
            {
                texts.push(text);
            }
        }
        if let Some(masker) = self.masker_of(packet.id)? {
            for Text { external_id, body, .. } in &mut texts {
                if let Some(masked) = masker.mask(external_id, body) {
                    *body = masked;
                }
            }
        }
        let guideline = self.newest_guideline()?;
        let mut pictures = Vec::new();
        for name in self.picture_names()? {
            // Pictures of earlier versions are not included.
            if guideline.as_ref().is_some_and(|(g, _)| g.body.contains(&format!("picture:{name}"))) {
                pictures.extend(self.picture(&name)?);
            }
        }
        let handed_out = |text: TextId| texts.iter().any(|known| known.id == text);
        let mut facts = Vec::new();
        for one in FactKind::VARIANTS.iter().filter(|one| one.is_in_packets()) {
            // Study settings include only those in effect; records about the annotator include all.
            facts.extend(if one.is_of_person() { self.all_facts(*one)? } else { self.facts(*one)? });
        }
        // A prompt that another copy set before the question was added is not asked; in the packet, whose
        // questions have no such time, it would be.
        let outdated = |fact: &Fact| {
            let added_at = fact.question.and_then(|id| added_at.get(&id));
            fact.kind == FactKind::Prompt && added_at.is_some_and(|added_at| fact.at_ms < *added_at)
        };
        facts.retain(|fact| !outdated(fact));
        let named = |name: &str| all.iter().any(|question| question.name == name && asked(&question.id));
        facts.retain(|fact| {
            fact.question.is_none_or(|id| asked(&id))
                && (kind(fact.kind).other_question)(&fact.value).is_none_or(named)
                && fact.text.is_none_or(handed_out)
                && fact.annotator.is_none_or(|id| id == packet.annotator)
        });
        let consent = self.consents()?.in_effect().map(|version| version.number);
        Ok(Contents {
            packet,
            key,
            annotator,
            questions,
            level_keys,
            guideline,
            pictures,
            consent,
            texts,
            facts,
        })
    }
}

impl Contents {
    fn put(mut self, tx: &mut WriteTx<'_>) -> Result<()> {
        let new = NewAnnotator {
            external_id: self.annotator.external_id,
            name: self.annotator.name,
            ..NewAnnotator::default()
        };
        let annotator = tx.add_annotator(&new)?;
        let mut questions: HashMap<QuestionId, QuestionId> = HashMap::new();
        for (Question { id, name, prompt, scale, .. }, keys) in
            self.questions.into_iter().zip(self.level_keys)
        {
            let added = tx.add_question(&NewQuestion { name, prompt, scale })?;
            tx.add_level_keys(added, &keys)?;
            questions.insert(id, added);
        }
        for picture in &self.pictures {
            tx.add_picture(picture)?;
        }
        if let Some((guideline, number)) = &self.guideline {
            tx.add_guideline(guideline)?;
            tx.set_setting(BEFORE, &(number - 1))?;
        }
        if let Some(number) = self.consent {
            tx.number_consent(number)?;
        }
        let mut texts: HashMap<TextId, TextId> = HashMap::new();
        for Text { id, external_id, body, .. } in self.texts {
            texts.insert(id, tx.add_text(&NewText { external_id, body, ..NewText::default() })?);
        }
        for Fact { question, text, annotator: of, .. } in &mut self.facts {
            *question = question.map(|id| questions[&id]);
            *text = text.map(|id| texts[&id]);
            *of = of.map(|_| annotator);
        }
        for fact in &self.facts {
            tx.add_fact(fact)?;
        }
        let mut packet = self.packet;
        packet.annotator = annotator;
        for question in &mut packet.questions {
            *question = questions[question];
        }
        for item in &mut packet.assignments {
            item.text = *texts.get(&item.text).ok_or_else(|| StoreError::Invalid {
                what: format!("packet {}", packet.id),
                why: "it asks a text again that it did not ask before".to_owned(),
            })?;
        }
        tx.add_own_packet(&packet, &self.key)
    }
}
