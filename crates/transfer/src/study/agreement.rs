//! Agreement of the annotators of a study with each other on anchors, and with themselves.

use super::Study;
use dissensus_api::StudyFigure;
use dissensus_domain::{AnnotatorId, Answer, Packet, QuestionId, TextId};
use dissensus_project::error::ProjectError;
use dissensus_stats::agreement::{MIN_REPEATS, SelfAgreement, share_interval};
use dissensus_store::PacketKey;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// With fewer texts or pairs no figure is reported, here and in `repeats`.
const MIN_COMPARISONS: u32 = MIN_REPEATS;

/// Agreement of each annotator, and overall.
#[derive(Default)]
pub(super) struct Agreements {
    pub(super) overall: Option<StudyFigure>,
    pub(super) people: HashMap<AnnotatorId, StudyFigure>,
}

/// Returns how often annotators who both answered an anchor gave the same answer: the mean over anchors
/// and questions, so that an anchor with many annotators counts as much as one with two.
pub(super) fn anchor_agreement(
    cx: &Study,
    packets: &[(Packet, PacketKey)],
) -> Result<Agreements, ProjectError> {
    let people: HashSet<AnnotatorId> = packets.iter().map(|(packet, _)| packet.annotator).collect();
    let questions: BTreeSet<QuestionId> =
        packets.iter().flat_map(|(packet, _)| packet.questions.iter().copied()).collect();
    // Of all annotators in the study, including those who had the text before it became an anchor.
    let items = packets.iter().flat_map(|(packet, _)| &packet.assignments);
    let anchors: HashSet<TextId> = items.filter(|item| item.anchor).map(|item| item.text).collect();
    // The mean over questions of a text comes first: several questions about one text are not several
    // texts.
    let mut per_text: BTreeMap<TextId, Vec<f64>> = BTreeMap::new();
    let mut of_person: HashMap<AnnotatorId, BTreeMap<TextId, Vec<f64>>> = HashMap::new();
    for question in questions {
        let mut answers: BTreeMap<TextId, Vec<(AnnotatorId, Answer)>> = BTreeMap::new();
        for label in cx.context.store.current_labels(question)? {
            if people.contains(&label.annotator) && anchors.contains(&label.text) {
                answers.entry(label.text).or_default().push((label.annotator, label.answer));
            }
        }
        for (text, of_text) in answers.iter().filter(|(_, of_text)| of_text.len() > 1) {
            let others = of_text.len() as f64 - 1.0;
            let mut sum = 0.0;
            for (who, answer) in of_text {
                let same = of_text.iter().filter(|(_, other)| other == answer).count() as f64 - 1.0;
                of_person.entry(*who).or_default().entry(*text).or_default().push(same / others);
                sum += same / others;
            }
            per_text.entry(*text).or_default().push(sum / of_text.len() as f64);
        }
    }
    let people = of_person.into_iter().filter_map(|(who, shares)| Some((who, mean(&shares)?)));
    Ok(Agreements { overall: mean(&per_text), people: people.collect() })
}

/// Returns how often answers to repeated texts were the same, over all questions.
pub(super) fn own_agreement(cx: &Study, packets: &[(Packet, PacketKey)]) -> Result<Agreements, ProjectError> {
    let questions: HashSet<_> = packets.iter().flat_map(|(packet, _)| packet.questions.clone()).collect();
    let people: HashSet<AnnotatorId> = packets.iter().map(|(packet, _)| packet.annotator).collect();
    let mut counts: HashMap<AnnotatorId, (u32, u32)> = HashMap::new();
    for question in questions {
        for (who, (same, all)) in cx.context.repeat_counts(question)?.annotators {
            if people.contains(&who) {
                let sum = counts.entry(who).or_default();
                *sum = (sum.0 + same, sum.1 + all);
            }
        }
    }
    let figure = |found: SelfAgreement| {
        let SelfAgreement { share, low, high, repeats: of, .. } = found;
        StudyFigure { share, low, high, of }
    };
    let each: Vec<(u32, u32)> = counts.values().copied().collect();
    let one = |(who, (same, all))| Some((who, figure(SelfAgreement::new(same, all)?)));
    Ok(Agreements {
        overall: SelfAgreement::of_people(&each).map(figure),
        people: counts.into_iter().filter_map(one).collect(),
    })
}

/// The mean of shares of so many texts. Its interval is that of a share of as many yes/no outcomes, which
/// vary at least as much.
fn mean(shares: &BTreeMap<TextId, Vec<f64>>) -> Option<StudyFigure> {
    let of_text = |shares: &Vec<f64>| shares.iter().sum::<f64>() / shares.len().max(1) as f64;
    figure(shares.values().map(of_text).sum::<f64>() / shares.len().max(1) as f64, shares.len() as u32)
}

pub(super) fn figure(share: f64, of: u32) -> Option<StudyFigure> {
    (of >= MIN_COMPARISONS).then(|| {
        let (low, high) = share_interval(share, of);
        StudyFigure { share, low, high, of }
    })
}
