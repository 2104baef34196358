//! The distribution of a panel's verdict.

use super::counts::{level_sums, poisson_binomial};
use super::joint::JointAnswers;
use super::plurality::Plurality;
use super::rule::{Verdict, VerdictRule, reaches, rounded_mean};
use crate::data::{ModelError, Target};
use crate::metrics::CONFIDENCE_LEVEL;
use std::borrow::Cow;

/// Probability outside the interval on either side.
const TAIL: f64 = 0.5 * (1.0 - CONFIDENCE_LEVEL);

/// Forecast of a panel's verdict on one text.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictForecast {
    /// Probabilities of [`Verdicts::outcomes`], which sum to 1.
    pub probabilities: Vec<f64>,
    /// For each outcome the central 95 % of its probability if the text were known exactly: how far labels of
    /// this text might still move it.
    pub ranges: Vec<(f64, f64)>,
    /// For a rule of means: the distribution of the mean.
    pub mean: Option<MeanForecast>,
}

/// The mean level of a panel's answers, levels counted from 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanForecast {
    /// Its expectation.
    pub expected: f64,
    /// The interval that contains it with at least 95 % (it has steps of one over the members).
    pub interval: (f64, f64),
}

impl VerdictForecast {
    /// The most likely outcome, the first in case of ties, and its probability.
    pub fn likeliest(&self) -> (usize, f64) {
        let better = |best: (usize, f64), (at, p): (usize, f64)| if p > best.1 { (at, p) } else { best };
        self.probabilities.iter().copied().enumerate().fold((0, f64::MIN), better)
    }
}

/// Makes forecasts for panels of one size under one rule.
#[derive(Clone, Debug)]
pub struct Verdicts {
    rule: VerdictRule,
    target: Target,
    members: usize,
    plurality: Option<Plurality>,
}

impl Verdicts {
    /// Forecasts for panels with this many members.
    ///
    /// # Errors
    /// [`ModelError::PanelRule`]: no member, a rule that the scale does not have, or a quorum that cannot be
    /// reached.
    pub fn new(rule: VerdictRule, target: Target, members: usize) -> Result<Self, ModelError> {
        rule.check(target, members)?;
        let plurality = (rule == VerdictRule::Majority).then(|| Plurality::new(target.levels, members));
        Ok(Self { rule, target, members, plurality })
    }

    /// All possible verdicts of the panels, in the order of all distributions.
    pub fn outcomes(&self) -> Vec<Verdict> {
        self.rule.outcomes(self.target.levels)
    }

    /// Whether distributions are computed exactly at every node: majorities of large panels on many levels
    /// are sampled, with a standard error below 0.01.
    pub fn is_exact(&self) -> bool {
        self.plurality.as_ref().is_none_or(Plurality::is_exact)
    }

    /// The forecast for the panel of these people, given as indices in `answers`.
    ///
    /// # Errors
    /// [`ModelError::PanelRule`]: another number of members than these forecasts are for, a member who is not
    /// in `answers` or is repeated, or answers on another scale.
    pub fn of(&self, answers: &JointAnswers, members: &[usize]) -> Result<VerdictForecast, ModelError> {
        self.check(answers, members)?;
        let at_nodes = self.at_nodes(answers, members);
        let weights = answers.weights();
        let nodes = weights.len();
        let mean = |p: &[f64]| p.iter().zip(weights).map(|(p, w)| p * w).sum::<f64>();
        let probabilities: Vec<f64> = at_nodes.chunks_exact(nodes).map(mean).collect();
        let ranges =
            at_nodes.chunks_exact(nodes).zip(&probabilities).map(|(p, mean)| range(p, weights, *mean));
        Ok(VerdictForecast {
            ranges: ranges.collect(),
            mean: self.mean(answers, members),
            probabilities: normalised(probabilities),
        })
    }

    fn check(&self, answers: &JointAnswers, members: &[usize]) -> Result<(), ModelError> {
        let wrong = |why: String| Err(ModelError::PanelRule(why));
        let mut sorted = members.to_vec();
        sorted.sort_unstable();
        let twice = sorted.windows(2).any(|pair| pair[0] == pair[1]);
        if members.len() != self.members {
            return wrong(format!("{} members of a panel of {}", members.len(), self.members));
        }
        if twice || sorted.last().is_some_and(|last| *last >= answers.people()) {
            return wrong("a member of the panel is not among those asked, or twice a member".to_owned());
        }
        if answers.levels() != self.target.levels {
            return wrong(format!("answers of {} levels for {}", answers.levels(), self.target.levels));
        }
        Ok(())
    }

    /// Probabilities outcomes x nodes.
    fn at_nodes(&self, answers: &JointAnswers, members: &[usize]) -> Vec<f64> {
        let nodes = answers.weights().len();
        match (self.rule, &self.plurality) {
            (VerdictRule::Majority, Some(plurality)) => plurality.of(answers, members),
            (VerdictRule::Majority, None) => {
                Plurality::new(self.target.levels, members.len()).of(answers, members)
            }
            (VerdictRule::Mean, _) => {
                let mut out = vec![0.0; self.target.levels * nodes];
                let sums = self.sums(answers, members);
                for (sum, p) in sums.chunks_exact(nodes).enumerate() {
                    let at = rounded_mean(sum, members.len()) * nodes;
                    out[at..at + nodes].iter_mut().zip(p).for_each(|(out, p)| *out += p);
                }
                out
            }
            (VerdictRule::Median, _) => self.medians(answers, members),
            (VerdictRule::Veto { level }, _) => self.at_least(answers, members, level, 1),
            (VerdictRule::Quorum { members: needed, level }, _) => {
                self.at_least(answers, members, level, needed)
            }
        }
    }

    fn sums(&self, answers: &JointAnswers, members: &[usize]) -> Vec<f64> {
        level_sums(answers.weights().len(), self.target.levels, members.iter().map(|m| answers.rows(*m)))
    }

    /// The probabilities that fewer than `needed` of the members, and that `needed` or more, reach a level, 2
    /// x nodes.
    fn at_least(&self, answers: &JointAnswers, members: &[usize], level: u16, needed: usize) -> Vec<f64> {
        let nodes = answers.weights().len();
        let chance = |member: &usize| {
            let mut sum = vec![0.0; nodes];
            for own in (0..self.target.levels).filter(|own| reaches(*own as u16, level, self.target)) {
                sum.iter_mut().zip(answers.of(*member, own)).for_each(|(sum, p)| *sum += p);
            }
            Cow::Owned(sum)
        };
        let counts = poisson_binomial(nodes, members.iter().map(chance));
        let mut out = vec![0.0; 2 * nodes];
        for (count, p) in counts.chunks_exact(nodes).enumerate() {
            let at = usize::from(count >= needed) * nodes;
            out[at..at + nodes].iter_mut().zip(p).for_each(|(out, p)| *out += p);
        }
        out
    }

    /// The middle answer is at a level or above where more than half of the members are (for an even number:
    /// the lower middle one).
    fn medians(&self, answers: &JointAnswers, members: &[usize]) -> Vec<f64> {
        let nodes = answers.weights().len();
        let needed = members.len() / 2 + 1;
        let mut out = Vec::with_capacity(self.target.levels * nodes);
        let mut at_this = vec![1.0; nodes];
        for level in 1..=self.target.levels {
            let above = match level < self.target.levels {
                true => self.at_least(answers, members, level as u16, needed).split_off(nodes),
                false => vec![0.0; nodes],
            };
            out.extend(at_this.iter().zip(&above).map(|(this, above)| (this - above).max(0.0)));
            at_this = above;
        }
        out
    }

    fn mean(&self, answers: &JointAnswers, members: &[usize]) -> Option<MeanForecast> {
        if self.rule != VerdictRule::Mean {
            return None;
        }
        let weights = answers.weights();
        let sums = self.sums(answers, members);
        let p: Vec<f64> = (sums.chunks_exact(weights.len()))
            .map(|p| p.iter().zip(weights).map(|(p, w)| p * w).sum())
            .collect();
        let n = members.len() as f64;
        let at = |tail: f64| {
            let mut below = 0.0;
            let reached = |p: &f64| {
                below += p;
                below >= tail
            };
            p.iter().position(reached).unwrap_or(p.len() - 1) as f64 / n
        };
        let expected = p.iter().enumerate().map(|(sum, p)| sum as f64 * p).sum::<f64>() / n;
        Some(MeanForecast { expected, interval: (at(TAIL), at(1.0 - TAIL)) })
    }
}

fn normalised(mut p: Vec<f64>) -> Vec<f64> {
    let sum: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p /= sum);
    p
}

/// The central 95 % of weighted values, each placed at the middle of its weight; widened where needed to
/// contain their mean.
fn range(values: &[f64], weights: &[f64], mean: f64) -> (f64, f64) {
    let mut sorted: Vec<(f64, f64)> = values.iter().copied().zip(weights.iter().copied()).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let quantile = |p: f64| {
        let mut below = 0.0;
        let mut last: Option<(f64, f64)> = None;
        for (value, weight) in &sorted {
            let here = below + weight / 2.0;
            if here >= p {
                return last.map_or(*value, |(v, at)| v + (value - v) * (p - at) / (here - at));
            }
            last = Some((*value, here));
            below += weight;
        }
        last.map_or(mean, |(v, _)| v)
    };
    (quantile(TAIL).min(mean).clamp(0.0, 1.0), quantile(1.0 - TAIL).max(mean).clamp(0.0, 1.0))
}
