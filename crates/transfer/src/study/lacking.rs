//! Texts with too few annotators.

use super::open_parts::PagePart;
use dissensus_domain::{AnnotatorId, Assignment, Packet, TextId};
use dissensus_store::PacketKey;
use std::collections::{BTreeMap, BTreeSet};

/// The setting with the number of annotators a text that the latest plan asked for.
pub(super) const PLANNED: &str = "planned_per_text";

/// Returns how many annotators each text other than the anchors was to be assigned to, and how many of the
/// assigned texts have fewer. If no plan sets the number (`planned`), as in copies that only received the
/// packets, it is the number that most texts have. An annotator with a packet who answered a text outside of
/// it (`done`) counts, as in a plan. A part of a page for everybody counts only once somebody has it: until
/// then, nobody knows whether anybody will.
pub(super) fn people_per_text(
    packets: &[(Packet, PacketKey)],
    parts: &[PagePart],
    planned: Option<u32>,
    done: impl Fn(&Packet, TextId) -> bool,
) -> (u32, u32) {
    let mut people: BTreeMap<TextId, BTreeSet<AnnotatorId>> = BTreeMap::new();
    let items =
        packets.iter().flat_map(|(packet, _)| packet.assignments.iter().map(move |item| (packet, item)));
    for (packet, item) in items.filter(|(_, item)| !item.anchor) {
        people.entry(item.text).or_default().insert(packet.annotator);
    }
    let mut to_come: BTreeMap<TextId, usize> = BTreeMap::new();
    let first = |item: &&Assignment| item.occasion == 1 && !item.anchor;
    for part in parts {
        for item in part.assignments.iter().filter(first) {
            people.entry(item.text).or_default();
            *to_come.entry(item.text).or_default() += usize::from(part.open);
        }
    }
    let with_open = |(text, of_text): (&TextId, &BTreeSet<AnnotatorId>)| {
        of_text.len() + to_come.get(text).copied().unwrap_or_default()
    };
    let most = || {
        let mut texts: BTreeMap<usize, u32> = BTreeMap::new();
        for of_text in people.iter().map(with_open) {
            *texts.entry(of_text).or_default() += 1;
        }
        // Of two equally frequent numbers, the greater one was wanted.
        texts.into_iter().max_by_key(|(people, texts)| (*texts, *people)).map_or(0, |(people, _)| people)
    };
    let wanted = planned.map_or_else(most, |planned| planned as usize);
    let lacks = |(text, of_text): (&TextId, &BTreeSet<AnnotatorId>)| {
        let others = packets.iter().map(|(packet, _)| packet);
        let others = others.filter(|one| !of_text.contains(&one.annotator) && done(one, *text));
        of_text.len() + others.map(|one| one.annotator).collect::<BTreeSet<_>>().len() < wanted
    };
    let short = people.iter().filter(|(_, of_text)| of_text.len() < wanted).filter(|one| lacks(*one));
    (wanted as u32, short.count() as u32)
}
