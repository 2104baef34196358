//! Practice: texts with a known right answer that annotators label first, and their results.
//!
//! Practice answers are stored as separate records and are not labels.

use crate::{AnnotatorId, Answer, QuestionId, Scale, TextId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What happens to an annotator who misses a pass mark.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum AfterFailing {
    /// The annotator continues; their labels are retained and marked.
    #[default]
    GoOn,
    /// The annotator repeats the practice until they reach the pass mark.
    Practise,
    /// The annotator is not asked any more.
    Stop,
}

/// When practice is passed, and what happens otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PracticeRule {
    /// The share of practice texts that must be right, 0 to 1.
    pub pass: f64,
    /// On ordinal scales, an answer up to this many levels away counts as right.
    pub within: u16,
    /// What happens below the pass mark.
    pub then: AfterFailing,
}

impl Default for PracticeRule {
    fn default() -> Self {
        Self { pass: 0.8, within: 0, then: AfterFailing::GoOn }
    }
}

/// Whether an answer counts as right. On ordinal scales the answer may be up to `within` levels
/// away.
pub fn is_right(scale: &Scale, right: &Answer, given: &Answer, within: u16) -> bool {
    scale.kind().rules().is_right(scale, right, given, within)
}

/// How many attention checks must be right, and what happens otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckRule {
    /// The share of a person's attention checks that must be right, 0 to 1.
    pub pass: f64,
    /// On ordinal scales, an answer up to this many levels away counts as right.
    pub within: u16,
    /// What happens below the pass mark.
    pub then: AfterFailing,
}

/// An annotator's result with respect to a pass mark.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::Display, strum::IntoStaticStr,
)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum PassStatus {
    /// Some answers are missing, and both results are still possible.
    Unfinished,
    Passed,
    Failed,
}

impl PassStatus {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The result after `right` right answers out of `answered`, where `all` are required: failed
    /// as soon as the mark can no longer be reached.
    pub fn new(pass: f64, right: u32, answered: u32, all: u32) -> Self {
        // Tolerance: 0.8 of 5 texts must be 4 texts in spite of floating-point error.
        let wanted = pass * f64::from(all) - 1e-9;
        let missing = all.saturating_sub(answered);
        if f64::from(right + missing) < wanted {
            Self::Failed
        } else if missing > 0 {
            Self::Unfinished
        } else {
            Self::Passed
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PracticeText {
    pub question: QuestionId,
    pub text: TextId,
    pub answer: Answer,
    /// Why this answer is right; shown after the annotator's own answer.
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PracticeAnswer {
    pub question: QuestionId,
    pub text: TextId,
    pub annotator: AnnotatorId,
    /// Round, from 1.
    pub round: u32,
    pub answer: Answer,
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: i64,
}

/// One practice round of one annotator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PracticeRound {
    /// Round number, from 1.
    pub number: u32,
    /// The first answer to each question about a text. Later answers are ignored, since the right
    /// answer has been shown.
    pub answers: BTreeMap<(TextId, QuestionId), Answer>,
    /// Whether all questions of the round are answered.
    pub finished: bool,
    /// Time of the last answer.
    pub at_ms: i64,
}

/// The practice rounds of one annotator, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PracticeRounds(pub Vec<PracticeRound>);

impl PracticeRounds {
    /// Groups answers, in chronological order, into rounds; `finished` lists the numbers of
    /// finished rounds, from 1.
    pub fn new(
        answers: impl IntoIterator<Item = PracticeAnswer>,
        finished: impl IntoIterator<Item = u32>,
    ) -> Self {
        let mut rounds: BTreeMap<u32, PracticeRound> = BTreeMap::new();
        for one in answers {
            let new = || PracticeRound { number: one.round, ..PracticeRound::default() };
            let round = rounds.entry(one.round).or_insert_with(new);
            round.answers.entry((one.text, one.question)).or_insert(one.answer);
            round.at_ms = round.at_ms.max(one.at_ms);
        }
        for number in finished {
            if let Some(round) = rounds.get_mut(&number) {
                round.finished = true;
            }
        }
        Self(rounds.into_values().collect())
    }

    /// The current round: the last one that was started.
    pub fn last(&self) -> Option<&PracticeRound> {
        self.0.last()
    }
}

impl PracticeRound {
    /// The practice texts that are not answered yet.
    pub fn left<'a>(&'a self, texts: &'a [PracticeText]) -> impl Iterator<Item = &'a PracticeText> {
        let answered = |one: &&PracticeText| self.answers.contains_key(&(one.text, one.question));
        texts.iter().filter(move |one| !self.finished && !answered(one))
    }

    /// Number of right answers and number of answers, for the current practice texts and their
    /// current right answers. Correcting a right answer therefore changes the scores of earlier
    /// rounds.
    pub fn score(
        &self,
        texts: &[PracticeText],
        right: impl Fn(&PracticeText, &Answer) -> bool,
    ) -> (u32, u32) {
        let given =
            texts.iter().filter_map(|one| Some(right(one, self.answers.get(&(one.text, one.question))?)));
        given.fold((0, 0), |(good, all), right| (good + u32::from(right), all + 1))
    }

    /// The result of the round with respect to the pass mark.
    pub fn status(
        &self,
        texts: &[PracticeText],
        pass: f64,
        right: impl Fn(&PracticeText, &Answer) -> bool,
    ) -> PassStatus {
        // A round is always completed, whatever the mark: its purpose is to show the right answers.
        if self.left(texts).next().is_some() {
            return PassStatus::Unfinished;
        }
        let (right, of) = self.score(texts, right);
        PassStatus::new(pass, right, of, of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScaleKind;
    use rstest::rstest;

    const TEXTS: [(u32, u16); 3] = [(1, 0), (2, 3), (3, 4)];

    fn texts() -> Vec<PracticeText> {
        let text = |(text, level)| PracticeText {
            question: QuestionId(1),
            text: TextId(text),
            answer: Answer::from_level(level),
            reason: String::new(),
        };
        TEXTS.map(text).into()
    }

    fn answer(text: u32, round: u32, level: u16) -> PracticeAnswer {
        PracticeAnswer {
            question: QuestionId(1),
            text: TextId(text),
            annotator: AnnotatorId(1),
            round,
            answer: Answer::from_level(level),
            at_ms: i64::from(text),
        }
    }

    fn equal(one: &PracticeText, given: &Answer) -> bool {
        one.answer == *given
    }

    #[rstest]
    #[case::exact(0, 2, true)]
    #[case::next_level(0, 3, false)]
    #[case::next_level_allowed(1, 3, true)]
    #[case::previous_level_allowed(1, 1, true)]
    #[case::too_far(1, 4, false)]
    fn neighbouring_level_is_right_on_ordinal_scales(
        #[case] within: u16,
        #[case] given: u16,
        #[case] right: bool,
    ) {
        let is_right = |kind| {
            let scale = Scale::new(kind, (1..=5).map(|n| n.to_string())).unwrap();
            super::is_right(&scale, &Answer::from_level(2), &Answer::from_level(given), within)
        };
        assert_eq!(is_right(ScaleKind::Ordinal), right);
        assert_eq!(is_right(ScaleKind::Choice), given == 2);
    }

    #[rstest]
    #[case::before_the_first(0, 0, PassStatus::Unfinished)]
    #[case::can_still_be_reached(1, 2, PassStatus::Unfinished)]
    #[case::cannot_be_reached(0, 2, PassStatus::Failed)]
    #[case::reached(4, 5, PassStatus::Passed)]
    #[case::missed(3, 5, PassStatus::Failed)]
    fn pass_mark_fails_once_unreachable(
        #[case] right: u32,
        #[case] answered: u32,
        #[case] expected: PassStatus,
    ) {
        assert_eq!(PassStatus::new(0.8, right, answered, 5), expected);
    }

    #[test]
    fn pass_mark_is_robust_to_rounding() {
        for all in 1..100 {
            assert_eq!(PassStatus::new(0.1 + 0.2, 0, 0, 0), PassStatus::Passed);
            assert_eq!(PassStatus::new(1.0, all, all, all), PassStatus::Passed, "{all}");
            assert_eq!(PassStatus::new(1.0, all - 1, all, all), PassStatus::Failed, "{all}");
        }
    }

    #[test]
    fn round_counts_first_answers_until_complete() {
        let rounds =
            PracticeRounds::new([answer(1, 1, 1), answer(1, 1, 0), answer(2, 1, 3), answer(1, 2, 0)], []);
        let [first, second] = &rounds.0[..] else { panic!("{rounds:?}") };
        assert_eq!(
            first.score(&texts(), equal),
            (1, 2),
            "what was answered after the feedback does not count"
        );
        assert_eq!(first.status(&texts(), 0.1, equal), PassStatus::Unfinished);
        assert_eq!(second.left(&texts()).map(|one| one.text.0).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn added_text_does_not_reopen_a_finished_round() {
        let done = PracticeRounds::new([answer(1, 1, 0), answer(2, 1, 3)], [1, 7]);
        let round = done.last().unwrap();
        assert_eq!(round.left(&texts()).count(), 0);
        assert_eq!(round.status(&texts(), 1.0, equal), PassStatus::Passed);
        let mut corrected = texts();
        corrected[1].answer = Answer::from_level(0);
        assert_eq!(
            round.status(&corrected, 1.0, equal),
            PassStatus::Failed,
            "by the right answers that hold"
        );
        assert_eq!(
            round.status(&corrected[..1], 1.0, equal),
            PassStatus::Passed,
            "of texts that are practised on"
        );
    }
}
