//! Rules that turn a panel's answers into a verdict.

use crate::data::{ModelError, Target};

/// A rule that turns the answers of a panel's members into a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictRule {
    /// The level that most members give; where two or more levels tie, there is no majority.
    Majority,
    /// The level closest to the members' mean; halves are rounded up. Ordered levels only.
    Mean,
    /// The middle answer; for an even number of members the lower of the two in the middle. Ordered levels
    /// only.
    Median,
    /// One member at this level or above (on scales without an order: at this level) is enough to veto.
    Veto {
        /// The level, from 0.
        level: u16,
    },
    /// A minimum number of members at this level or above (without an order: at this level).
    Quorum {
        members: usize,
        /// The level, from 0.
        level: u16,
    },
}

/// Possible verdicts of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// This level.
    Level(u16),
    /// Two or more levels tie for the majority.
    NoMajority,
    /// No member vetoed.
    Passed,
    /// At least one member vetoed.
    Vetoed,
    /// Fewer members than needed.
    NotReached,
    /// As many members as needed, or more.
    Reached,
}

impl VerdictRule {
    /// All possible verdicts, in the order of all distributions over verdicts.
    pub fn outcomes(self, levels: usize) -> Vec<Verdict> {
        let each = (0..levels as u16).map(Verdict::Level);
        match self {
            Self::Majority => each.chain([Verdict::NoMajority]).collect(),
            Self::Mean | Self::Median => each.collect(),
            Self::Veto { .. } => vec![Verdict::Passed, Verdict::Vetoed],
            Self::Quorum { .. } => vec![Verdict::NotReached, Verdict::Reached],
        }
    }

    /// The verdict on these answers, as its index in [`VerdictRule::outcomes`].
    ///
    /// # Panics
    /// Without an answer.
    pub fn of_answers(self, answers: &[u16], target: Target) -> usize {
        let n = answers.len();
        assert!(n > 0, "a verdict is of one answer or more");
        let at = |level: u16| answers.iter().filter(|a| reaches(**a, level, target)).count();
        match self {
            Self::Majority => {
                let counts: Vec<usize> = (0..target.levels as u16)
                    .map(|level| answers.iter().filter(|a| **a == level).count())
                    .collect();
                winner(counts.iter().copied())
            }
            Self::Mean => rounded_mean(answers.iter().map(|a| usize::from(*a)).sum(), n),
            Self::Median => {
                let mut sorted = answers.to_vec();
                sorted.sort_unstable();
                usize::from(sorted[(n - 1) / 2])
            }
            Self::Veto { level } => usize::from(at(level) > 0),
            Self::Quorum { members, level } => usize::from(at(level) >= members),
        }
    }

    /// Checks that the rule fits the scale and the size of a panel.
    pub(super) fn check(self, target: Target, members: usize) -> Result<(), ModelError> {
        let wrong = |why: String| Err(ModelError::PanelRule(why));
        if members == 0 {
            return wrong("a panel needs one member or more".to_owned());
        }
        match self {
            Self::Mean | Self::Median if !target.kind.is_ordered() => wrong(
                "levels without an order have no mean and no median: take majority, veto or quorum"
                    .to_owned(),
            ),
            Self::Veto { level } | Self::Quorum { level, .. } if usize::from(level) >= target.levels => {
                wrong(format!(
                    "there is no level {level} on a scale of {} levels counted from 0",
                    target.levels
                ))
            }
            Self::Quorum { members: needed, .. } if needed == 0 || needed > members => wrong(format!(
                "a quorum of {needed} cannot be asked of {members} members: ask for 1 to {members}"
            )),
            _ => Ok(()),
        }
    }
}

/// Whether an answer counts for a veto or a quorum at a level.
pub(super) fn reaches(answer: u16, level: u16, target: Target) -> bool {
    if target.kind.is_ordered() { answer >= level } else { answer == level }
}

/// The level closest to a mean of `sum / n`, with halves rounded up.
pub(super) fn rounded_mean(sum: usize, n: usize) -> usize {
    (2 * sum + n) / (2 * n)
}

/// The index of the largest of a panel's counts; the number of counts where two are the largest.
pub(super) fn winner(counts: impl Iterator<Item = usize> + Clone) -> usize {
    let all = counts.clone().count();
    let top = counts.clone().max().unwrap_or(0);
    let mut first = counts.enumerate().filter(|(_, n)| *n == top).map(|(at, _)| at);
    match (first.next(), first.next()) {
        (Some(at), None) => at,
        _ => all,
    }
}
