//! Unfinished packets whose contents have changed since they were handed out.

use super::Study;
use super::answered::{Answered, always_assigned};
use dissensus_api::EarlierPacket;
use dissensus_domain::{FactKind, Packet, QuestionId, TextId};
use dissensus_project::error::ProjectError;
use dissensus_store::PacketKey;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Facts about a question that are in a packet and can be edited afterwards.
const OF_QUESTIONS: [FactKind; 4] = [FactKind::Prompt, FactKind::Help, FactKind::Levels, FactKind::CannotSay];
/// The same for practice.
const OF_PRACTICE: [FactKind; 2] = [FactKind::PracticeText, FactKind::PracticeRule];

/// Returns unfinished packets that were handed out before something that they contain was changed.
pub(super) fn earlier(
    cx: &Study,
    packets: &[(Packet, PacketKey)],
    answered: &Answered,
) -> Result<Vec<EarlierPacket>, ProjectError> {
    let store = &cx.context.store;
    let index = cx.context.index();
    let guideline = store.newest_guideline()?.map(|(guideline, _)| guideline.at_ms);
    let consent = store.consents()?.in_effect().map(|version| version.at_ms);
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
    let always = always_assigned(cx);
    let mut asked: HashMap<_, HashSet<TextId>> = HashMap::new();
    for (packet, _) in packets {
        asked.entry(packet.annotator).or_default().extend(packet.assignments.iter().map(|item| item.text));
    }
    let mut found = Vec::new();
    for (packet, _) in packets {
        let open =
            |item: &&dissensus_domain::Assignment| !answered.done(packet, &always, item.text, item.occasion);
        if packet.assignments.iter().find(open).is_none() {
            continue;
        }
        let since = |at_ms: i64| at_ms > packet.made_at_ms;
        let mut changed = Vec::new();
        if guideline.is_some_and(since) {
            changed.push("the guideline".to_owned());
        }
        if consent.is_some_and(since) {
            changed.push("the consent text".to_owned());
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
        let row = index.annotator_row(packet.annotator).and_then(|row| index.annotators().get(row as usize));
        if let Some(person) = row {
            let (annotator, name) = (person.external_id.clone(), person.name.clone());
            found.push(EarlierPacket { annotator, name, changed });
        }
    }
    Ok(found)
}
