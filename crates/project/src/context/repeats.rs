//! Comparison of later annotation rounds with the previous ones.

use super::Context;
use crate::error::ProjectError;
use dissensus_api::SelfAgreementShare;
use dissensus_domain::{AnnotatorId, Answer, QuestionId, TextId};
use dissensus_exchange::latest_meant;
use dissensus_stats::agreement::SelfAgreement;
use dissensus_store::Repeat;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Re-annotations of a question.
#[derive(Clone, Debug, Default)]
pub struct ReannotationCounts {
    /// For each person with re-annotations, the number with the same answer, and of all.
    pub annotators: BTreeMap<AnnotatorId, (u32, u32)>,
    /// Answers of a later round without an earlier one to compare with.
    pub unpaired: u32,
    /// Pairs in which one of the answers is "cannot say".
    pub cannot_say: u32,
    /// Answers of a later round that are themselves the only labels of their texts.
    pub labels_themselves: u32,
    /// First answers with the first re-annotation of each.
    pub again: Vec<AnswerAgain>,
}

/// A re-annotated answer.
#[derive(Clone, Debug)]
pub struct AnswerAgain {
    pub text: TextId,
    pub annotator: AnnotatorId,
    pub first: Answer,
    pub second: Answer,
}

impl ReannotationCounts {
    /// The overall figure, with an interval for people like these; `None` with too few re-annotations.
    pub fn overall(&self) -> Option<SelfAgreementShare> {
        let counts: Vec<(u32, u32)> = self.annotators.values().copied().collect();
        SelfAgreement::of_people(&counts).map(share_of)
    }

    /// Number of re-annotations of everyone.
    pub fn repeats(&self) -> u32 {
        self.annotators.values().map(|(_, all)| all).sum()
    }

    fn compare(&mut self, before: &Answer, repeat: &Repeat) {
        let (same, all) = self.annotators.entry(repeat.annotator).or_default();
        *same += u32::from(*before == repeat.answer);
        *all += 1;
    }
}

type Pair = (TextId, AnnotatorId);

/// A label that was not taken back.
struct Label {
    answer: Answer,
    at_ms: i64,
    /// Whether it was given in the window or with the command.
    given: bool,
}

/// A person's answer in the first round.
enum FirstAnswer {
    Known(Answer),
    /// There is no earlier label.
    None,
    /// The only label is itself a re-annotation.
    IsRepeat,
}

/// Finds the answer that re-annotations of one person and text, by round, are compared with: the last label
/// given before the first of them.
///
/// A label with the same answer and time as one of the re-annotations is that re-annotation (a file was
/// imported with and without rounds) and not an answer of the first round; where times are dates, the first
/// label may be of the same day and counts. A label that was given here after the re-annotation corrects
/// the first answer. An imported one may have its time from the import.
fn first_answer(mut labels: Vec<Label>, repeats: &[Repeat]) -> FirstAnswer {
    let Some(at_ms) = repeats.first().map(|repeat| latest_meant(repeat.at_ms)) else {
        return FirstAnswer::None;
    };
    labels.sort_by_key(|label| label.at_ms);
    let facts: HashSet<(i64, &Answer)> = repeats.iter().map(|r| (r.at_ms, &r.answer)).collect();
    let is_repeat = |(nth, label): (usize, &Label)| {
        (nth > 0 || latest_meant(label.at_ms) == label.at_ms) && facts.contains(&(label.at_ms, &label.answer))
    };
    let first: Vec<&Label> =
        labels.iter().enumerate().filter(|(nth, label)| !is_repeat((*nth, label))).map(|(_, l)| l).collect();
    let until = first.iter().rev().find(|label| label.at_ms <= at_ms);
    match until.or_else(|| first.iter().rev().find(|label| !label.given)) {
        Some(label) => FirstAnswer::Known(label.answer.clone()),
        None if first.len() < labels.len() => FirstAnswer::IsRepeat,
        None => FirstAnswer::None,
    }
}

impl Context {
    /// Compares every answer of a later round with that of the round before it, the first being the label
    /// of that time ([`first_answer`]).
    pub fn repeat_counts(&self, question: QuestionId) -> Result<ReannotationCounts, ProjectError> {
        let (repeats, mut labels) = self.store.snapshot(|snapshot| {
            let repeats = snapshot.repeats(question)?;
            let mut labels: HashMap<Pair, Vec<Label>> =
                repeats.iter().map(|repeat| ((repeat.text, repeat.annotator), Vec::new())).collect();
            if !repeats.is_empty() {
                snapshot.for_each_unretracted_answer(|answer| {
                    if answer.question == question.row()
                        && let Some(of_pair) = labels.get_mut(&(answer.text, answer.annotator))
                    {
                        let given = answer.source.is_given();
                        of_pair.push(Label {
                            answer: answer.answer.to(question),
                            at_ms: answer.at_ms,
                            given,
                        });
                    }
                    Ok::<(), ProjectError>(())
                })?;
            }
            Ok::<_, ProjectError>((repeats, labels))
        })?;
        let mut counts = ReannotationCounts::default();
        // They are ordered by text, annotator and round.
        for of_pair in repeats.chunk_by(|a, b| (a.text, a.annotator) == (b.text, b.annotator)) {
            let Some(first) = of_pair.first() else { continue };
            let labels = labels.remove(&(first.text, first.annotator)).unwrap_or_default();
            match first_answer(labels, of_pair) {
                // "Cannot say" answers are excluded.
                FirstAnswer::Known(answer) if [&answer, &first.answer].contains(&&Answer::CannotSay) => {
                    counts.cannot_say += 1;
                }
                FirstAnswer::Known(answer) => {
                    counts.compare(&answer, first);
                    let Repeat { text, annotator, answer: second, .. } = first.clone();
                    counts.again.push(AnswerAgain { text, annotator, first: answer, second });
                }
                FirstAnswer::None => counts.unpaired += 1,
                FirstAnswer::IsRepeat => counts.labels_themselves += 1,
            }
            for (before, repeat) in of_pair.iter().zip(&of_pair[1..]) {
                match [&before.answer, &repeat.answer].contains(&&Answer::CannotSay) {
                    true => counts.cannot_say += 1,
                    false => counts.compare(&before.answer, repeat),
                }
            }
        }
        Ok(counts)
    }

    /// Self-agreement of everyone; `None` with too few re-annotations.
    pub fn self_agreement(&self, question: QuestionId) -> Result<Option<SelfAgreementShare>, ProjectError> {
        Ok(self.repeat_counts(question)?.overall())
    }
}

/// One person's share with its interval and its ceiling; `None` with too few re-annotations.
pub fn share(same: u32, repeats: u32) -> Option<SelfAgreementShare> {
    SelfAgreement::new(same, repeats).map(share_of)
}

fn share_of(found: SelfAgreement) -> SelfAgreementShare {
    let (ceiling_low, ceiling_high) = found.ceiling();
    let SelfAgreement { repeats, same, share, low, high, people } = found;
    SelfAgreementShare { repeats, same, share, low, high, ceiling_low, ceiling_high, people }
}

/// The note next to an accuracy: the range of its ceiling.
pub fn ceiling_note(found: &SelfAgreementShare) -> String {
    let whose = match found.people {
        0 => "these people alone; it takes three to speak of others",
        _ => "people like these",
    };
    format!(
        "People repeat {:.3} of their answers (95 % {:.3} to {:.3}, for {whose}): the best accuracy that single answers allow is between \
         {:.3} and {:.3}, if people did not remember their answer, and for texts like those asked again.",
        found.share, found.low, found.high, found.ceiling_low, found.ceiling_high
    )
}
