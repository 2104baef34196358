//! Which assigned texts are answered.

use super::Study;
use dissensus_domain::{AnnotatorId, Packet, QuestionId, TextId};
use dissensus_project::error::ProjectError;
use std::collections::HashSet;

/// The answers: by question, annotator and text for the first annotation round, and with the round for later
/// ones.
#[derive(Default)]
pub(super) struct Answered {
    first: HashSet<(QuestionId, AnnotatorId, TextId)>,
    again: HashSet<(QuestionId, AnnotatorId, TextId, u16)>,
}

impl Answered {
    /// Whether every question of a packet that is asked about one of its texts is answered. Whether a
    /// question with a condition is asked depends on the answers, so a text counts once the questions without
    /// a condition are answered.
    pub(super) fn done(
        &self,
        packet: &Packet,
        always: &HashSet<QuestionId>,
        text: TextId,
        occasion: u16,
    ) -> bool {
        let asked = packet.questions.iter().filter(|question| always.contains(question));
        asked.clone().count() > 0
            && asked.clone().all(|question| match occasion {
                1 => self.first.contains(&(*question, packet.annotator, text)),
                _ => self.again.contains(&(*question, packet.annotator, text, occasion)),
            })
    }
}

/// Questions without a condition.
pub(super) fn always_assigned(cx: &Study) -> HashSet<QuestionId> {
    let index = cx.context.index();
    index
        .questions()
        .iter()
        .filter(|question| question.only_if.is_none())
        .map(|question| question.id)
        .collect()
}

/// Collects the answers to these questions.
pub(super) fn count_answered(
    cx: &Study,
    questions: impl Iterator<Item = QuestionId>,
) -> Result<Answered, ProjectError> {
    let mut answered = Answered::default();
    for question in questions.collect::<HashSet<_>>() {
        let labels = cx.context.store.current_labels(question)?;
        answered.first.extend(labels.iter().map(|label| (question, label.annotator, label.text)));
        let cannot_say = cx.context.store.cannot_say(question)?;
        answered.first.extend(cannot_say.into_iter().map(|(text, annotator)| (question, annotator, text)));
        let repeats = cx.context.store.repeats(question)?;
        answered.again.extend(repeats.iter().map(|r| (question, r.annotator, r.text, r.occasion)));
    }
    Ok(answered)
}
