//! Answers of later occasions against those before them.

use super::Context;
use crate::error::WorkbenchError;
use crate::view::SelfAgreementShare;
use dissensus_domain::{AnnotatorId, Answer, QuestionId, TextId};
use dissensus_perspectives::SelfAgreement;
use std::collections::{BTreeMap, HashMap};

/// Repeats of a question.
#[derive(Clone, Debug, Default)]
pub(crate) struct RepeatCounts {
    /// Repeats with the same answer, and all, of each person who has any.
    pub(crate) annotators: BTreeMap<AnnotatorId, (u32, u32)>,
    /// Answers of a later occasion without an earlier one to compare with.
    pub(crate) unpaired: u32,
}

impl RepeatCounts {
    /// Repeats with the same answer, and all, of everyone.
    pub(crate) fn overall(&self) -> (u32, u32) {
        self.annotators.values().fold((0, 0), |sum, n| (sum.0 + n.0, sum.1 + n.1))
    }
}

impl Context {
    /// Every answer of a later occasion against that of the occasion before it, the first being the label that is current now.
    pub(crate) fn repeat_counts(&self, question: QuestionId) -> Result<RepeatCounts, WorkbenchError> {
        let (repeats, labels) = self.store.snapshot(|snapshot| {
            let mut labels: HashMap<(TextId, AnnotatorId), Answer> = HashMap::new();
            let repeats = snapshot.repeats(question)?;
            if !repeats.is_empty() {
                snapshot.for_each_standing_answer(|answer| {
                    if answer.current && answer.question == question {
                        labels.insert((answer.text, answer.annotator), answer.answer);
                    }
                    Ok::<(), WorkbenchError>(())
                })?;
            }
            Ok::<_, WorkbenchError>((repeats, labels))
        })?;
        let mut counts = RepeatCounts::default();
        // They come by text, annotator and occasion: what stands here is the answer of the occasion before.
        let mut before: Option<((TextId, AnnotatorId), Answer)> = None;
        for repeat in repeats {
            let key = (repeat.text, repeat.annotator);
            let earlier = match before.take() {
                Some((of, answer)) if of == key => Some(answer),
                _ => labels.get(&key).cloned(),
            };
            match earlier {
                Some(earlier) => {
                    let (same, all) = counts.annotators.entry(repeat.annotator).or_default();
                    *same += u32::from(earlier == repeat.answer);
                    *all += 1;
                }
                None => counts.unpaired += 1,
            }
            before = Some((key, repeat.answer));
        }
        Ok(counts)
    }

    /// Everyone's self-agreement; none with too few repeats.
    pub(crate) fn self_agreement(
        &self,
        question: QuestionId,
    ) -> Result<Option<SelfAgreementShare>, WorkbenchError> {
        let (same, repeats) = self.repeat_counts(question)?.overall();
        Ok(share(same, repeats))
    }
}

/// A share with its interval and its ceiling; none with too few repeats.
pub(crate) fn share(same: u32, repeats: u32) -> Option<SelfAgreementShare> {
    let found = SelfAgreement::of(same, repeats)?;
    let (ceiling_low, ceiling_high) = found.ceiling();
    let SelfAgreement { repeats, same, share, low, high } = found;
    Some(SelfAgreementShare { repeats, same, share, low, high, ceiling_low, ceiling_high })
}

/// What stands beside an accuracy: the range in which its ceiling lies.
pub fn ceiling_note(found: &SelfAgreementShare) -> String {
    format!(
        "People repeat {:.3} of their answers (95 % {:.3} to {:.3}): the best accuracy that single answers allow lies between {:.3} \
         and {:.3}.",
        found.share, found.low, found.high, found.ceiling_low, found.ceiling_high
    )
}
