//! Expected MASI distance of two people's sets with correlated options.

use super::masi::ExpectedMasi;
use super::whole_sets::{FactorsOf, WholeSets, between};
use crate::agreement::masi_distance;
use crate::data::ModelError;
use crate::math::clustered::total_and_error;
use crate::math::distributions::student_quantile;
use crate::options::{GivenFactors, HeldOutSets, LeftOutFactors, OptionCorrelations, OptionFactors};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Minimum number of held-out texts (copies and groups as one) with answers of two people for learning
/// factors; with fewer, options stay independent.
pub const MIN_TEXTS_OF_TWO: usize = 50;
/// Largest number of texts, and of answers to each, that are used.
const MAX_TEXTS: usize = 2_000;
const MAX_ANSWERS: usize = 8;
/// One-sided confidence that a gain must have.
const CONFIDENCE: f64 = 0.977_249_868;

/// Expected distances of two people's sets, with correlated options where that predicts held-out distances
/// better.
#[derive(Clone, Debug)]
pub struct OptionCooccurrence {
    masi: ExpectedMasi,
    used: Option<(FactorsOf, OptionFactors)>,
    /// The learned correlations between options.
    pub correlations: OptionCorrelations,
    /// Number of held-out texts with answers of two people or more.
    pub texts: usize,
}

impl OptionCooccurrence {
    /// Learns correlations between options from answers that were held out from the models, where `unit`
    /// identifies the group or the body of a text, and tests on their pairs of answers to the same text
    /// whether distances are predicted better with factors of each person, or of the text, than with
    /// independent options: by the squared error, on texts that the factors were not learned from, at the
    /// level of two standard errors over texts (Bonferroni over the two).
    ///
    /// # Errors
    /// The same as [`OptionCorrelations::learn`].
    pub fn learn(
        options: usize,
        held_out: &HeldOutSets,
        unit: impl Fn(u32) -> u32,
        seed: u64,
    ) -> Result<Self, ModelError> {
        let masi = ExpectedMasi::new(options)?;
        let units = HeldOutSets {
            texts: held_out.texts.iter().map(|text| unit(*text)).collect(),
            ..held_out.clone()
        };
        let (correlations, left_out) = OptionCorrelations::learned_in_folds(options, &units, seed)?;
        let texts = answers_by_text(held_out);
        let mut found = Self { masi, used: None, correlations, texts: texts.len() };
        if found.correlations.factors.factors() == 0 || texts.len() < MIN_TEXTS_OF_TWO {
            return Ok(found);
        }
        let step = texts.len().div_ceil(MAX_TEXTS);
        let sample: Vec<&Vec<usize>> = texts.iter().step_by(step).collect();
        let trial = Trial { masi: &found.masi, held_out, left_out: &left_out, options };
        let gains: Vec<(u32, [f64; 2])> = sample
            .par_iter()
            .filter_map(|answers| Some((units.texts[answers[0]], trial.gains(answers)?)))
            .collect();
        found.used = [FactorsOf::Person, FactorsOf::Text]
            .into_iter()
            .enumerate()
            .filter_map(|(at, of)| {
                let mut by_unit: BTreeMap<u32, f64> = BTreeMap::new();
                gains.iter().for_each(|(unit, gain)| *by_unit.entry(*unit).or_default() += gain[at]);
                if by_unit.len() < MIN_TEXTS_OF_TWO {
                    return None;
                }
                let degrees = by_unit.len() - 1;
                let (total, error) = total_and_error(&by_unit.into_values().collect::<Vec<_>>());
                let level = student_quantile(1.0 - (1.0 - CONFIDENCE) / 2.0, degrees);
                (total > level * error).then_some((of, total))
            })
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(of, _)| (of, found.correlations.factors.clone()));
        Ok(found)
    }

    /// The same distances for tables of many texts and people.
    ///
    /// # Errors
    /// The same as [`WholeSets::new`].
    pub fn whole_sets(&self) -> Result<WholeSets, ModelError> {
        WholeSets::new(self.correlations.factors.clone(), self.factors_of())
    }

    /// Kind of the factors in use; none where options are independent.
    pub fn factors_of(&self) -> Option<FactorsOf> {
        self.used.as_ref().map(|(of, _)| *of)
    }

    /// Mean over all pairs of different people; `probabilities` are people x options, 0 and 1 where an answer
    /// is known. Absent for fewer than two people. `answered` is whether the text has answers. Then the
    /// probabilities already include what all its readers have in common, so that factors of a text are not
    /// applied again: they were tested on texts without answers.
    pub fn mean(&self, probabilities: &[f32], answered: bool) -> Option<f64> {
        let used = self.used.as_ref().filter(|(of, _)| *of == FactorsOf::Person || !answered);
        let Some((of, factors)) = used else { return self.masi.mean(probabilities) };
        let people: Vec<GivenFactors> =
            probabilities.chunks_exact(factors.options()).map(|p| factors.given_few(p)).collect();
        let pairs: Vec<(&GivenFactors, &GivenFactors)> =
            people.iter().enumerate().flat_map(|(i, p)| people[..i].iter().map(move |q| (p, q))).collect();
        // Summed in a fixed order, so that the result is reproducible.
        let distances: Vec<f64> = pairs.par_iter().map(|(p, q)| between(&self.masi, *of, p, q)).collect();
        (!distances.is_empty()).then(|| distances.iter().sum::<f64>() / distances.len() as f64)
    }
}

/// Indices of the answers to each text with answers of two people or more.
fn answers_by_text(held_out: &HeldOutSets) -> Vec<Vec<usize>> {
    let mut of: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    held_out.texts.iter().enumerate().for_each(|(at, text)| of.entry(*text).or_default().push(at));
    of.into_values().filter(|answers| answers.len() > 1).collect()
}

/// Data of the trial on held-out answers.
struct Trial<'a> {
    masi: &'a ExpectedMasi,
    held_out: &'a HeldOutSets,
    left_out: &'a LeftOutFactors,
    options: usize,
}

impl Trial<'_> {
    /// Reduction of the squared error of a text's distances, mean over pairs, with factors of each person and
    /// with those of the text.
    fn gains(&self, answers: &[usize]) -> Option<[f64; 2]> {
        let answers = &answers[..answers.len().min(MAX_ANSWERS)];
        let factors = self.left_out.of(*answers.first()?)?;
        let row = |at: usize| &self.held_out.probabilities[at * self.options..(at + 1) * self.options];
        let given: Vec<GivenFactors> = answers.iter().map(|at| factors.given_few(row(*at))).collect();
        let (mut gains, mut pairs) = ([0.0; 2], 0.0);
        for i in 0..answers.len() {
            for j in 0..i {
                let observed = masi_distance(self.held_out.sets[answers[i]], self.held_out.sets[answers[j]]);
                let error = |expected: f64| (expected - observed).powi(2);
                let alone = error(self.masi.of(row(answers[i]), row(answers[j])));
                for (gain, of) in gains.iter_mut().zip([FactorsOf::Person, FactorsOf::Text]) {
                    *gain += alone - error(between(self.masi, of, &given[i], &given[j]));
                }
                pairs += 1.0;
            }
        }
        Some(gains.map(|gain| gain / pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::normal;
    use crate::math::random::generator;
    use dissensus_domain::OptionSet;
    use rand::RngExt;
    use std::sync::LazyLock;

    const OPTIONS: usize = 4;
    const LOADINGS: [f64; OPTIONS] = [1.5, 1.2, -1.2, 0.2];

    fn factors() -> OptionFactors {
        OptionFactors::new(OPTIONS, 1, LOADINGS.to_vec()).unwrap()
    }

    /// Over all pairs of sets of two people with factors of their own.
    fn enumerated(p: &[f32], q: &[f32]) -> f64 {
        let (one, other) = (factors().given(p), factors().given(q));
        let sets = || (0..1 << OPTIONS).map(OptionSet::from_bits);
        let chance = |given: &GivenFactors, set| given.log_probability(set).exp();
        sets()
            .flat_map(|a| sets().map(move |b| (a, b)))
            .map(|(a, b)| chance(&one, a) * chance(&other, b) * masi_distance(a, b))
            .sum()
    }

    #[test]
    fn few_nodes_match_full_enumeration() {
        let masi = ExpectedMasi::new(OPTIONS).unwrap();
        let mut rng = generator(3, 1);
        for _ in 0..50 {
            let mut drawn = || -> Vec<f32> { (0..OPTIONS).map(|_| rng.random_range(0.02..0.98)).collect() };
            let (p, q) = (drawn(), drawn());
            let (one, other) = (factors().given(&p), factors().given(&q));
            let expected = enumerated(&p, &q);
            let exact = between(&masi, FactorsOf::Person, &one, &other);
            assert!((exact - expected).abs() < 1e-6, "{exact} for {expected}");
            let few = between(&masi, FactorsOf::Person, &factors().given_few(&p), &factors().given_few(&q));
            assert!((few - expected).abs() < 0.003, "{few} for {expected}");
            let shared = between(&masi, FactorsOf::Text, &one, &other);
            let few = between(&masi, FactorsOf::Text, &factors().given_few(&p), &factors().given_few(&q));
            assert!((few - shared).abs() < 0.01, "{few} for {shared}");
        }
    }

    /// Answers of `people` to each text with factors of their own or of the text.
    fn answered(of: FactorsOf, texts: u32, people: u32, seed: u64) -> HeldOutSets {
        let mut rng = generator(seed, 2);
        let mut drawn = || normal::quantile(rng.random_range(1e-12..1.0 - 1e-12));
        let mut made = HeldOutSets::default();
        for text in 0..texts {
            let p: Vec<f64> = (0..OPTIONS).map(|_| normal::cdf(0.6 * drawn() - 0.3)).collect();
            let shared = drawn();
            for who in 0..people {
                let factor = if of == FactorsOf::Text { shared } else { drawn() };
                let mut bits = 0;
                for (k, (l, p)) in LOADINGS.iter().zip(&p).enumerate() {
                    let threshold = normal::quantile(*p) * (1.0 + l * l).sqrt();
                    bits |= u64::from(threshold + l * factor + drawn() > 0.0) << k;
                }
                made.probabilities.extend(p.iter().map(|p| *p as f32));
                made.sets.push(OptionSet::from_bits(bits));
                made.texts.push(text);
                made.annotators.push(who);
            }
        }
        made
    }

    /// Six answers to each of 500 texts that people of a text have in common, and what is learned from them:
    /// once for all tests, because learning takes seconds.
    static OF_TEXTS: LazyLock<(HeldOutSets, OptionCooccurrence)> = LazyLock::new(|| learned(FactorsOf::Text));

    fn learned(of: FactorsOf) -> (HeldOutSets, OptionCooccurrence) {
        let made = answered(of, 500, 6, 8);
        let found = OptionCooccurrence::learn(OPTIONS, &made, |text| text, 0).unwrap();
        (made, found)
    }

    #[test]
    fn finds_whether_factors_are_of_people_or_of_texts() {
        let of_people = learned(FactorsOf::Person);
        for (of, (made, found)) in [(FactorsOf::Text, &*OF_TEXTS), (FactorsOf::Person, &of_people)] {
            assert_eq!((found.factors_of(), found.texts), (Some(of), 500));
            // Closer to the observed distances, on average, than independent options.
            let pairs = |all: &[usize]| -> Vec<f64> {
                let others = |i: usize| all[..i].iter().map(move |j| (all[i], *j));
                (0..all.len())
                    .flat_map(others)
                    .map(|(i, j)| masi_distance(made.sets[i], made.sets[j]))
                    .collect()
            };
            let texts = answers_by_text(made);
            let observed: f64 = texts.iter().map(|all| pairs(all).iter().sum::<f64>() / 15.0).sum();
            let rows = |all: &[usize]| all[0] * OPTIONS..(all[5] + 1) * OPTIONS;
            let expected = |masi: &dyn Fn(&[f32]) -> Option<f64>| -> f64 {
                texts.iter().filter_map(|all| masi(&made.probabilities[rows(all)])).sum()
            };
            let (with, without) = (expected(&|p| found.mean(p, false)), expected(&|p| found.masi.mean(p)));
            assert!(
                (with - observed).abs() < (without - observed).abs(),
                "{of:?}: {observed} {with} {without}"
            );
            // The answers of a text already determine what its readers have in common.
            let p = &made.probabilities[rows(&texts[0])];
            let as_alone = found.mean(p, true) == found.masi.mean(p);
            assert_eq!(as_alone, of == FactorsOf::Text);
        }
    }

    #[test]
    fn without_two_people_on_a_text_options_are_independent() {
        let made = answered(FactorsOf::Person, 400, 1, 5);
        let found = OptionCooccurrence::learn(OPTIONS, &made, |text| text, 0).unwrap();
        assert!(found.correlations.factors.factors() > 0);
        assert_eq!((found.factors_of(), found.texts), (None, 0));
        let p = [0.3, 0.6, 0.2, 0.5, 0.1, 0.9, 0.4, 0.7];
        assert_eq!(found.mean(&p, false), ExpectedMasi::new(OPTIONS).unwrap().mean(&p));
        // GivenLabel answers are unchanged.
        let (_, found) = &*OF_TEXTS;
        assert!(found.mean(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], false).unwrap().abs() < 1e-12);
        assert!((found.mean(&[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], false).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(found.mean(&p[..4], false), None);
    }
}
