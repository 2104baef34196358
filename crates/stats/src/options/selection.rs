//! Selection of correlations between options of an answer, beyond their predictions, on held-out answers.

use super::factors::OptionFactors;
use super::fit::fit;
use super::held_out::HeldOutSets;
use crate::data::ModelError;
use crate::data::folds::assign;
use crate::math::clustered::{total_and_error, total_and_two_way_error};
use crate::math::distributions::student_quantile;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Minimum number of texts (or groups of texts) for learning correlations.
pub const MIN_TEXTS_TO_CORRELATE: usize = 50;
/// Largest number of answers to learn loadings from: more hardly improve them.
const MAX_ANSWERS: usize = 3_000;
/// Largest number of answers x options x nodes per step; questions with many options learn from fewer
/// answers.
const MAX_WORK: usize = 1_200_000;
const MAX_FACTORS: usize = 2;
const FOLDS: usize = 5;
/// One-sided confidence required of a gain, as in all selections on held-out labels.
const CONFIDENCE: f64 = 0.977_249_868;
/// Smallest total gain of all answers, in nats.
const MIN_GAIN: f64 = 2.0;
/// Minimum number of annotators for a standard error over annotators; with fewer it is only over texts.
const MIN_ANNOTATORS: usize = 3;

/// Correlations between options learned from answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptionCorrelations {
    /// The factors in use; none where they do not beat independence by more than chance.
    pub factors: OptionFactors,
    /// Gain of whole sets with these factors, in nats per answer, on answers whose texts were not used to
    /// learn the factors; that of the best candidate where none is used. Absent where nothing could be tried.
    pub gain: Option<f64>,
    /// Its standard error, over texts, and with at least three annotators also over these.
    pub standard_error: Option<f64>,
    /// Number of answers used for learning, all held out from the models of the options.
    pub answers: usize,
    /// Number of texts of these answers; groups of texts count as one.
    pub texts: usize,
}

/// Factors that were learned without a fold of the texts, and the fold of each answer; empty where options
/// are independent.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeftOutFactors {
    factors: Vec<OptionFactors>,
    fold: Vec<u8>,
}

impl LeftOutFactors {
    /// The factors learned without this answer's text.
    pub(crate) fn of(&self, answer: usize) -> Option<&OptionFactors> {
        self.factors.get(usize::from(*self.fold.get(answer)?))
    }
}

impl OptionCorrelations {
    /// Tries one factor, and then a second one; each is used only where held-out answers gain by more than
    /// chance at the level of two standard errors. With fewer than 50 texts, or fewer than two options that
    /// five answers have and five have not, options stay independent.
    ///
    /// # Errors
    /// [`ModelError::Length`] where lists differ in length.
    pub fn learn(options: usize, held_out: &HeldOutSets, seed: u64) -> Result<Self, ModelError> {
        Ok(Self::learned_in_folds(options, held_out, seed)?.0)
    }

    /// The same, and for each answer the factors learned without its text: as many factors as are used, none
    /// where options are independent.
    ///
    /// # Errors
    /// The same as [`OptionCorrelations::learn`].
    pub(crate) fn learned_in_folds(
        options: usize,
        held_out: &HeldOutSets,
        seed: u64,
    ) -> Result<(Self, LeftOutFactors), ModelError> {
        let independent = OptionFactors::independent(options)?;
        held_out.check(options)?;
        let units = held_out.units();
        let (answers, texts) = (held_out.sets.len(), units.iter().copied().max().map_or(0, |last| last + 1));
        let mut found = Self { factors: independent, gain: None, standard_error: None, answers, texts };
        if texts < MIN_TEXTS_TO_CORRELATE || options < 2 {
            return Ok((found, LeftOutFactors::default()));
        }
        let fold = assign(texts, FOLDS, seed ^ 0x0c0_77e1);
        let mut left_out = LeftOutFactors::default();
        let alone = held_out.log_losses(&found.factors);
        let mut before = alone.clone();
        for factors in 1..=MAX_FACTORS {
            let sample =
                |left_out: Option<u8>| held_out.sample(options, factors, &units, &fold, left_out, seed);
            let learned = |left_out: Option<u8>| {
                let taught = sample(left_out);
                fit(options, factors, &taught.probabilities, &taught.sets)
            };
            let own: Vec<OptionFactors> =
                (0..FOLDS as u8).into_par_iter().map(|f| learned(Some(f))).collect::<Result<_, _>>()?;
            if own.iter().all(|one| one.factors() == 0) {
                break;
            }
            let after = held_out.log_losses_by(|answer| &own[usize::from(fold[units[answer]])]);
            let gained = |before: &[f64]| {
                let gains: Vec<f64> =
                    before.iter().zip(&after).map(|(before, after)| before - after).collect();
                held_out.total_and_error(&gains, &units, texts)
            };
            let (total, error, df) = gained(&before);
            let used = total > MIN_GAIN && total > student_quantile(CONFIDENCE, df) * error;
            if used || factors == 1 {
                let (total, error, _) = gained(&alone);
                found.gain = Some(total / answers as f64);
                found.standard_error = Some(error / answers as f64);
            }
            if !used {
                break;
            }
            found.factors = learned(None)?;
            before = after;
            left_out = LeftOutFactors { factors: own, fold: units.iter().map(|unit| fold[*unit]).collect() };
        }
        Ok((found, left_out))
    }
}

impl HeldOutSets {
    fn check(&self, options: usize) -> Result<(), ModelError> {
        let answers = self.sets.len();
        let lists = [
            ("the list of probabilities", answers * options, self.probabilities.len()),
            ("the list of texts", answers, self.texts.len()),
            ("the list of annotators", answers, self.annotators.len()),
        ];
        match lists.into_iter().find(|(_, expected, found)| expected != found) {
            None => Ok(()),
            Some((what, expected, found)) => Err(ModelError::Length { what, expected, found }),
        }
    }

    /// The text of each answer, renumbered from 0.
    fn units(&self) -> Vec<usize> {
        let mut number: BTreeMap<u32, usize> = self.texts.iter().map(|text| (*text, 0)).collect();
        number.values_mut().enumerate().for_each(|(next, at)| *at = next);
        self.texts.iter().map(|text| number[text]).collect()
    }

    /// The answers for learning without a fold: whole texts in a seeded order, as many as are needed.
    fn sample(
        &self,
        options: usize,
        factors: usize,
        units: &[usize],
        fold: &[u8],
        left_out: Option<u8>,
        seed: u64,
    ) -> Self {
        let nodes = super::factors::model_nodes(factors).weights.len();
        let most = MAX_ANSWERS.min(MAX_WORK / (options * nodes)).max(MIN_TEXTS_TO_CORRELATE);
        let parts = units.len().div_ceil(most).max(1);
        // Texts are divided into enough parts that one of them is small enough.
        let part = assign(fold.len(), parts.min(255), seed ^ 0x5a3e);
        let teaches = |at: &usize| part[units[*at]] == 0 && Some(fold[units[*at]]) != left_out;
        let mut taught = Self::default();
        for at in (0..units.len()).filter(teaches) {
            taught.probabilities.extend(&self.probabilities[at * options..(at + 1) * options]);
            taught.sets.push(self.sets[at]);
        }
        taught
    }

    fn log_losses(&self, factors: &OptionFactors) -> Vec<f64> {
        self.log_losses_by(|_| factors)
    }

    /// Minus the logarithm of each set's probability, under the factors that `factors` returns for it.
    fn log_losses_by<'a>(&self, factors: impl Fn(usize) -> &'a OptionFactors + Sync) -> Vec<f64> {
        let options = self.probabilities.len() / self.sets.len().max(1);
        let rows = self.probabilities.par_chunks(options.max(1)).zip(&self.sets).enumerate();
        rows.map(|(at, (p, set))| -factors(at).given(p).log_probability(*set)).collect()
    }

    /// The sum of gains, its standard error and degrees of freedom.
    fn total_and_error(&self, gains: &[f64], units: &[usize], texts: usize) -> (f64, f64, usize) {
        let mut by_annotator: BTreeMap<u32, Vec<(u32, f64)>> = BTreeMap::new();
        for ((who, unit), gain) in self.annotators.iter().zip(units).zip(gains) {
            by_annotator.entry(*who).or_default().push((*unit as u32, *gain));
        }
        if by_annotator.len() >= MIN_ANNOTATORS {
            let df = by_annotator.len() - 1;
            let (total, error) =
                total_and_two_way_error(&by_annotator.into_values().collect::<Vec<_>>(), texts);
            return (total, error, df);
        }
        let mut by_text = vec![0.0; texts];
        units.iter().zip(gains).for_each(|(unit, gain)| by_text[*unit] += gain);
        let (total, error) = total_and_error(&by_text);
        (total, error, texts.saturating_sub(1))
    }
}
