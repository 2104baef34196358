//! Packets that are out with what holds no longer, and texts that lack a person.

use super::Study;
use super::report::Answered;
use crate::error::WorkbenchError;
use crate::view::EarlierPacket;
use dissensus_domain::{AnnotatorId, FactKind, Packet, QuestionId, TextId};
use dissensus_store::PacketKey;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What of a question goes into a packet and can be edited afterwards.
const OF_QUESTIONS: [FactKind; 4] = [FactKind::Prompt, FactKind::Help, FactKind::Levels, FactKind::CannotSay];
/// What of practice does.
const OF_PRACTICE: [FactKind; 2] = [FactKind::PracticeText, FactKind::PracticeRule];

impl Study {
    /// Packets that are not answered to the end and were handed out before something that they hold was changed.
    pub(super) fn earlier(
        &self,
        packets: &[(Packet, PacketKey)],
        answered: &Answered,
    ) -> Result<Vec<EarlierPacket>, WorkbenchError> {
        let store = &self.context.store;
        let index = self.context.index();
        let guideline = store.newest_guideline()?.map(|(guideline, _)| guideline.at_ms);
        let mut edited: BTreeMap<QuestionId, i64> = BTreeMap::new();
        for kind in OF_QUESTIONS {
            for fact in store.all_facts(kind)? {
                let Some(question) = fact.question else { continue };
                let at_ms = edited.entry(question).or_insert(fact.at_ms);
                *at_ms = fact.at_ms.max(*at_ms);
            }
        }
        let mut practice = None;
        for kind in OF_PRACTICE {
            practice = practice.max(store.all_facts(kind)?.iter().map(|fact| fact.at_ms).max());
        }
        let checks = store.attention_checks()?;
        let always = self.always_asked();
        let mut asked: HashMap<_, HashSet<TextId>> = HashMap::new();
        for (packet, _) in packets {
            asked
                .entry(packet.annotator)
                .or_default()
                .extend(packet.assignments.iter().map(|item| item.text));
        }
        let mut found = Vec::new();
        for (packet, _) in packets {
            let open = |item: &&dissensus_domain::Assignment| {
                !answered.done(packet, &always, item.text, item.occasion)
            };
            if packet.assignments.iter().find(open).is_none() {
                continue;
            }
            let since = |at_ms: i64| at_ms > packet.made_at_ms;
            let mut changed = Vec::new();
            if guideline.is_some_and(since) {
                changed.push("the guideline".to_owned());
            }
            for question in &packet.questions {
                if edited.get(question).copied().is_some_and(since)
                    && let Some(question) = index.question(*question)
                {
                    changed.push(format!("the question {}", question.name));
                }
            }
            if practice.is_some_and(since) {
                changed.push("practice".to_owned());
            }
            let lacks = |text: &TextId| !asked.get(&packet.annotator).is_some_and(|all| all.contains(text));
            if checks.iter().any(|check| since(check.at_ms) && lacks(&check.text)) {
                changed.push("attention checks, which it does not have".to_owned());
            }
            if changed.is_empty() {
                continue;
            }
            let row =
                index.annotator_row(packet.annotator).and_then(|row| index.annotators().get(row as usize));
            if let Some(person) = row {
                let (annotator, name) = (person.external_id.clone(), person.name.clone());
                found.push(EarlierPacket { annotator, name, changed });
            }
        }
        Ok(found)
    }
}

/// The setting with the number of people a text that the latest plan asked for.
pub(super) const PLANNED: &str = "planned_per_text";

/// To how many people a text that is not for everybody was to be handed out, and how many of those that were have fewer. Where no plan says it
/// (`planned`), as in copies that only met the packets, it is the number that most texts have. Who has a packet and has answered a text
/// outside of it (`done`) counts, as in a plan.
pub(super) fn people_per_text(
    packets: &[(Packet, PacketKey)],
    planned: Option<u32>,
    done: impl Fn(&Packet, TextId) -> bool,
) -> (u32, u32) {
    let mut people: BTreeMap<TextId, BTreeSet<AnnotatorId>> = BTreeMap::new();
    let items =
        packets.iter().flat_map(|(packet, _)| packet.assignments.iter().map(move |item| (packet, item)));
    for (packet, item) in items.filter(|(_, item)| !item.anchor) {
        people.entry(item.text).or_default().insert(packet.annotator);
    }
    let most = || {
        let mut texts: BTreeMap<usize, u32> = BTreeMap::new();
        for of_text in people.values() {
            *texts.entry(of_text.len()).or_default() += 1;
        }
        // Of two numbers that are as frequent the greater one was wanted.
        texts.into_iter().max_by_key(|(people, texts)| (*texts, *people)).map_or(0, |(people, _)| people)
    };
    let wanted = planned.map_or_else(most, |planned| planned as usize);
    let lacks = |(text, of_text): (&TextId, &BTreeSet<AnnotatorId>)| {
        let beside = packets.iter().map(|(packet, _)| packet);
        let beside = beside.filter(|one| !of_text.contains(&one.annotator) && done(one, *text));
        of_text.len() + beside.map(|one| one.annotator).collect::<BTreeSet<_>>().len() < wanted
    };
    let short = people.iter().filter(|(_, of_text)| of_text.len() < wanted).filter(|one| lacks(*one));
    (wanted as u32, short.count() as u32)
}
