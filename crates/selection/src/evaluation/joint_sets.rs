//! Effect of correlations between options on predicted sets.

use super::predicted::Predicted;
use dissensus_domain::OptionSet;
use dissensus_stats::data::ModelError;
use dissensus_stats::math::clustered::total_and_error;
use dissensus_stats::metrics::{MultiLabelScores, Scored};
use dissensus_stats::options::{HeldOutSets, OptionCorrelations, OptionFactors, OptionPair};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whole sets, predicted with correlated options: learned on labels that models had not learned from, and
/// scored on test labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetsTogether {
    /// Number of divisions of the labels; several for a cross-validation.
    pub divisions: usize,
    /// Number of divisions that use correlations: where held-out answers gained by more than chance. In the
    /// others options are independent.
    pub used: usize,
    /// Maximum number of factors shared by an answer's options.
    pub factors: usize,
    /// Gain of whole sets, in nats per answer, on held-out answers whose texts were not used to learn the
    /// factors, on which the decision was based; mean over the divisions that use them, or over all where
    /// none does.
    pub gain: Option<f64>,
    /// The standard error for one of these divisions, over texts, and over annotators where there are
    /// three; mean over them.
    pub standard_error: Option<f64>,
    /// Number of held-out answers that this was learned from, per division (mean).
    pub learned_from: usize,
    /// Mean `-ln p` of a whole test answer, in nats; absent without answers.
    pub set_log_loss: Option<f64>,
    /// Gain of test answers over independent options, in nats per answer.
    pub test_gain: Option<f64>,
    /// Its standard error over texts.
    pub test_standard_error: Option<f64>,
    /// Scores of the most likely set.
    #[serde(flatten)]
    pub likely: MultiLabelScores,
    /// Pairs of options, most strongly correlated or mutually exclusive first; means over the divisions
    /// that use them.
    pub pairs: Vec<OptionPair>,
}

/// Predictions of one model for the test answers with correlated options.
#[derive(Clone, Debug)]
pub(super) struct Together {
    found: Vec<OptionCorrelations>,
    answers: Vec<Answer>,
}

/// Prediction for one test answer.
#[derive(Clone, Copy, Debug)]
struct Answer {
    /// Body or group of its text.
    unit: u32,
    /// Negative logarithm of the answered set's probability.
    loss: f64,
    /// The same with independent options.
    alone: f64,
    likely: OptionSet,
}

impl Together {
    /// Learns correlations on the labels that each division held out; `None` without such labels or without
    /// probabilities.
    ///
    /// # Errors
    /// [`ModelError::Length`] where options have different held-out answers.
    pub(super) fn learned(
        options: &[Predicted],
        unit: impl Fn(u32) -> u32,
        seed: u64,
    ) -> Result<Option<Self>, ModelError> {
        let Some(first) = options.first().filter(|one| !one.answers_alone && !one.held_out.is_empty()) else {
            return Ok(None);
        };
        let parts = first.held_out.len();
        let found = (0..parts)
            .map(|part| {
                let of: Vec<&Scored> =
                    options.iter().filter_map(|one| Some(&one.held_out.get(part)?.scored)).collect();
                OptionCorrelations::learn(options.len(), &HeldOutSets::of_options(&of, &unit)?, seed)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let part_of = |text: u32| first.held_out.iter().position(|part| part.tested.contains(&text));
        Ok(Some(Self::new(options, found, part_of, unit)?))
    }

    /// Applies correlations that were learned before.
    ///
    /// # Errors
    /// [`ModelError::Length`] where they are for another number of options.
    pub(super) fn known(options: &[Predicted], found: OptionCorrelations) -> Result<Self, ModelError> {
        if found.factors.options() != options.len() {
            let (what, expected) = ("the loadings of options", options.len());
            return Err(ModelError::Length { what, expected, found: found.factors.options() });
        }
        Self::new(options, vec![found], |_| Some(0), |text| text)
    }

    fn new(
        options: &[Predicted],
        found: Vec<OptionCorrelations>,
        part_of: impl Fn(u32) -> Option<usize> + Sync,
        unit: impl Fn(u32) -> u32,
    ) -> Result<Self, ModelError> {
        let alone = OptionFactors::independent(options.len())?;
        let first = &options[0];
        let answer = |row: usize| {
            let text = first.scored.observations[row].text;
            let p: Vec<f32> = options.iter().map(|one| one.scored.row(row)[1]).collect();
            let set = options.iter().enumerate().fold(0, |bits, (option, one)| {
                bits | u64::from(one.scored.observations[row].level == 1) << option
            });
            let set = OptionSet::from_bits(set);
            let factors = part_of(text).map_or(&alone, |part| &found[part].factors);
            let given = factors.given(&p);
            (text, -given.log_probability(set), -alone.given(&p).log_probability(set), given.most_likely().0)
        };
        let rows: Vec<(u32, f64, f64, OptionSet)> =
            (0..first.scored.observations.len()).into_par_iter().map(answer).collect();
        let answers = rows
            .into_iter()
            .map(|(text, loss, alone, likely)| Answer { unit: unit(text), loss, alone, likely })
            .collect();
        Ok(Self { found, answers })
    }

    /// Only the answers for which `keep` is true.
    pub(super) fn filtered(&self, keep: &[bool]) -> Self {
        let answers = self.answers.iter().zip(keep).filter(|(_, keep)| **keep).map(|(answer, _)| *answer);
        Self { found: self.found.clone(), answers: answers.collect() }
    }

    /// Computes the scores against the given answers.
    ///
    /// # Errors
    /// [`ModelError::Length`].
    pub(super) fn scores(&self, truth: &[OptionSet], options: usize) -> Result<SetsTogether, ModelError> {
        let predicted: Vec<OptionSet> = self.answers.iter().map(|answer| answer.likely).collect();
        let likely = MultiLabelScores::new(truth, &predicted, options)?;
        let answers = self.answers.len() as f64;
        let mean = |sum: f64| (!self.answers.is_empty()).then(|| sum / answers);
        let mut by_unit: BTreeMap<u32, f64> = BTreeMap::new();
        for answer in &self.answers {
            *by_unit.entry(answer.unit).or_default() += answer.alone - answer.loss;
        }
        let (gain, error) = total_and_error(&by_unit.into_values().collect::<Vec<_>>());
        let used: Vec<&OptionFactors> =
            self.found.iter().map(|one| &one.factors).filter(|factors| factors.factors() > 0).collect();
        // Where some divisions use them, only those are reported.
        let report_lines = || self.found.iter().filter(|one| used.is_empty() || one.factors.factors() > 0);
        let tried = report_lines().count().max(1);
        Ok(SetsTogether {
            divisions: self.found.len(),
            used: used.len(),
            factors: used.iter().map(|factors| factors.factors()).max().unwrap_or_default(),
            gain: mean_of(report_lines().filter_map(|one| one.gain)),
            standard_error: mean_of(report_lines().filter_map(|one| one.standard_error)),
            learned_from: report_lines().map(|one| one.answers).sum::<usize>() / tried,
            set_log_loss: mean(self.answers.iter().map(|answer| answer.loss).sum()),
            test_gain: mean(gain),
            test_standard_error: mean(error).filter(|error| error.is_finite()),
            likely,
            pairs: mean_pairs(&used),
        })
    }
}

fn mean_of(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0.0), |(sum, count), number| (sum + number, count + 1.0));
    (count > 0.0).then(|| sum / count)
}

/// Every pair's mean correlation.
fn mean_pairs(used: &[&OptionFactors]) -> Vec<OptionPair> {
    let Some(first) = used.first() else { return Vec::new() };
    let mean = |pair: OptionPair| {
        let (i, j) = pair.options;
        let sum: f64 = used.iter().map(|factors| factors.correlation(i, j)).sum();
        OptionPair { correlation: sum / used.len() as f64, ..pair }
    };
    let mut pairs: Vec<OptionPair> = first.pairs().into_iter().map(mean).collect();
    pairs.sort_by(|a, b| b.correlation.abs().total_cmp(&a.correlation.abs()).then(a.options.cmp(&b.options)));
    pairs
}
