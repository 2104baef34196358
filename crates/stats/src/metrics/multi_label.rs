//! Metrics of answers that are sets of options, where each option is a separate decision.
//!
//! F1 is undefined for options that are neither chosen nor predicted: they are left out of the macro mean
//! (scikit-learn's `f1_score(average="macro", zero_division=nan)`; with its default they would count 0). Two
//! empty sets are the same answer, so that their Jaccard index is 1
//! (`jaccard_score(average="samples", zero_division=1)`).

use super::classes::{ClassScores, class_scores};
use super::probability::CLIP;
use crate::data::ModelError;
use dissensus_domain::OptionSet;
use serde::{Deserialize, Serialize};

/// The threshold of an option that was not tuned.
const HALF: f32 = 0.5;

/// Scores of predicted sets against the answered ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MultiLabelScores {
    /// Number of scored answers.
    pub answers: usize,
    /// `2 TP / (2 TP + FP + FN)` over all options of all answers; absent where no option is chosen or
    /// predicted.
    pub micro_f1: Option<f64>,
    /// Mean F1 of the options that are chosen or predicted at least once; absent without such an option.
    pub macro_f1: Option<f64>,
    /// Mean over answers of `|A and B| / |A or B|`, two empty sets counting 1 ("accuracy" of SemEval-2018
    /// task 1, E-c); absent without answers.
    pub jaccard: Option<f64>,
    /// Share of answers predicted without any mistake.
    pub subset_accuracy: Option<f64>,
    /// Share of all options of all answers that are wrong, either way.
    pub hamming_loss: Option<f64>,
    /// Scores of every option, in order: `level` is its index.
    pub options: Vec<ClassScores>,
}

impl MultiLabelScores {
    /// Scores of `predicted` against `truth`, on a question with `options` options.
    ///
    /// # Errors
    /// [`ModelError::Length`] where the lists differ in length, [`ModelError::UnknownLevel`] for an option
    /// that the question does not have.
    pub fn new(truth: &[OptionSet], predicted: &[OptionSet], options: usize) -> Result<Self, ModelError> {
        check_options(options)?;
        if predicted.len() != truth.len() {
            let (what, expected, found) = ("the list of predicted sets", truth.len(), predicted.len());
            return Err(ModelError::Length { what, expected, found });
        }
        check_sets(truth, options)?;
        check_sets(predicted, options)?;
        let scores: Vec<ClassScores> =
            (0..options).map(|option| option_scores(truth, predicted, option)).collect();
        let pairs = || truth.iter().zip(predicted).map(|(t, p)| (t.bits(), p.bits()));
        let count = |bits: u64| f64::from(bits.count_ones());
        let mean = |sum: f64| (!truth.is_empty()).then(|| sum / truth.len() as f64);
        let hits: f64 = pairs().map(|(t, p)| count(t & p)).sum();
        let sizes: f64 = pairs().map(|(t, p)| count(t) + count(p)).sum();
        let each: Vec<f64> = scores.iter().filter_map(|s| s.f1).collect();
        let index = |(t, p): (u64, u64)| if t | p == 0 { 1.0 } else { count(t & p) / count(t | p) };
        Ok(Self {
            answers: truth.len(),
            micro_f1: (sizes > 0.0).then(|| 2.0 * hits / sizes),
            macro_f1: (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64),
            jaccard: mean(pairs().map(index).sum()),
            subset_accuracy: mean(pairs().map(|(t, p)| f64::from(u8::from(t == p))).sum()),
            hamming_loss: mean(pairs().map(|(t, p)| count(t ^ p)).sum::<f64>() / options as f64),
            options: scores,
        })
    }
}

/// Whether one option is chosen, in `truth` and in `predicted`.
fn option_scores(truth: &[OptionSet], predicted: &[OptionSet], option: usize) -> ClassScores {
    let has = |set: &OptionSet| (set.bits() >> option & 1) as usize;
    let mut confusion = vec![vec![0; 2]; 2];
    truth.iter().zip(predicted).for_each(|(t, p)| confusion[has(t)][has(p)] += 1);
    ClassScores { level: option, ..class_scores(&confusion)[1] }
}

/// Mean `-ln p` of the decision about an option: p where it was chosen, 1 - p where it was not, at least
/// 1e-9.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BinaryLogLoss {
    /// Over all options of all answers; absent without answers.
    pub all: Option<f64>,
    /// For each option over all answers; empty without answers.
    pub options: Vec<f64>,
}

impl BinaryLogLoss {
    /// Log loss of `probabilities` (answers x options, row-major) that an answer has an option.
    ///
    /// # Errors
    /// [`ModelError::Length`], [`ModelError::UnknownLevel`], [`ModelError::NotProbability`].
    pub fn new(truth: &[OptionSet], probabilities: &[f32], options: usize) -> Result<Self, ModelError> {
        check(truth, probabilities, options)?;
        if truth.is_empty() {
            return Ok(Self::default());
        }
        let mut sums = vec![0.0; options];
        for (set, row) in truth.iter().zip(probabilities.chunks_exact(options)) {
            for (option, (sum, &p)) in sums.iter_mut().zip(row).enumerate() {
                let p = f64::from(p);
                *sum -= if set.contains(option as u8) { p } else { 1.0 - p }.max(CLIP).ln();
            }
        }
        let each: Vec<f64> = sums.iter().map(|sum| sum / truth.len() as f64).collect();
        Ok(Self { all: Some(each.iter().sum::<f64>() / options as f64), options: each })
    }
}

/// Thresholds of options: an option is predicted if its probability exceeds its threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thresholds(Vec<f32>);

impl Thresholds {
    /// One half for every option.
    pub fn half(options: usize) -> Self {
        Self(vec![HALF; options])
    }

    /// For each option the threshold with the largest F1 on these answers, half way between two occurring
    /// probabilities; in case of ties the one nearest to one half. The threshold of an option that was never
    /// chosen here stays one half. Choose thresholds on training labels: on the labels to be scored they
    /// would be optimistic.
    ///
    /// # Errors
    /// [`ModelError::Length`], [`ModelError::UnknownLevel`], [`ModelError::NotProbability`].
    pub fn tuned_for_f1(
        truth: &[OptionSet],
        probabilities: &[f32],
        options: usize,
    ) -> Result<Self, ModelError> {
        check(truth, probabilities, options)?;
        let of = |option: usize| {
            let rows = truth.iter().zip(probabilities.chunks_exact(options));
            best_threshold(rows.map(|(set, row)| (row[option], set.contains(option as u8))).collect())
        };
        Ok(Self((0..options).map(of).collect()))
    }

    pub fn values(&self) -> &[f32] {
        &self.0
    }

    /// The predicted set of each row of `probabilities` (answers x options).
    pub fn answers(&self, probabilities: &[f32]) -> Vec<OptionSet> {
        let chosen = |row: &[f32]| {
            let bits = row.iter().zip(&self.0).enumerate().filter(|(_, (p, t))| p > t);
            OptionSet::from_bits(bits.fold(0, |bits, (option, _)| bits | 1 << option))
        };
        probabilities.chunks_exact(self.0.len().max(1)).map(chosen).collect()
    }
}

/// The threshold with the largest F1 of rows of (probability, chosen).
fn best_threshold(mut rows: Vec<(f32, bool)>) -> f32 {
    let positives = rows.iter().filter(|(_, chosen)| *chosen).count();
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut best, mut hits) = ((0.0, HALF), 0);
    for (i, &(p, chosen)) in rows.iter().enumerate() {
        hits += usize::from(chosen);
        let below = rows.get(i + 1).map_or(0.0, |row| row.0);
        if below >= p {
            continue; // nothing lies between the two
        }
        let f1 = 2.0 * hits as f64 / (i + 1 + positives) as f64;
        let middle = f32::midpoint(below, p);
        let threshold = if middle < p { middle } else { below };
        let nearer = (threshold - HALF).abs() < (best.1 - HALF).abs();
        if f1 > best.0 || f1 == best.0 && f1 > 0.0 && nearer {
            best = (f1, threshold);
        }
    }
    best.1
}

fn check(truth: &[OptionSet], probabilities: &[f32], options: usize) -> Result<(), ModelError> {
    check_options(options)?;
    let (what, expected, found) = ("the list of probabilities", truth.len() * options, probabilities.len());
    if expected != found {
        return Err(ModelError::Length { what, expected, found });
    }
    check_sets(truth, options)?;
    match probabilities.iter().position(|p| !(0.0..=1.0).contains(p)) {
        None => Ok(()),
        Some(at) => Err(ModelError::NotProbability {
            observation: at / options,
            level: at % options,
            found: probabilities[at],
        }),
    }
}

fn check_options(options: usize) -> Result<(), ModelError> {
    let most = usize::from(OptionSet::MAX);
    if (1..=most).contains(&options) {
        return Ok(());
    }
    Err(ModelError::Length { what: "a set of options", expected: most, found: options })
}

fn check_sets(sets: &[OptionSet], options: usize) -> Result<(), ModelError> {
    let known = u64::MAX >> (usize::from(OptionSet::MAX) - options);
    match sets.iter().position(|set| set.bits() & !known != 0) {
        None => Ok(()),
        Some(observation) => {
            let level = (sets[observation].bits() & !known).trailing_zeros() as u16;
            Err(ModelError::UnknownLevel { observation, level, levels: options })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(options: &[u8]) -> OptionSet {
        OptionSet::new(options.iter().copied()).unwrap()
    }

    #[test]
    fn unused_unpredicted_option_is_excluded() {
        let scores = MultiLabelScores::new(&[set(&[0]), set(&[])], &[set(&[0, 1]), set(&[])], 3).unwrap();
        assert_eq!(scores.options.iter().map(|o| o.f1).collect::<Vec<_>>(), [Some(1.0), Some(0.0), None]);
        assert_eq!(scores.macro_f1, Some(0.5));
        assert_eq!(scores.micro_f1, Some(2.0 / 3.0));
        // Half of the first answer, and two empty sets.
        assert_eq!(scores.jaccard, Some(0.75));
        assert_eq!((scores.subset_accuracy, scores.hamming_loss), (Some(0.5), Some(1.0 / 6.0)));
        let nothing = MultiLabelScores::new(&[set(&[])], &[set(&[])], 64).unwrap();
        assert_eq!((nothing.micro_f1, nothing.macro_f1, nothing.jaccard), (None, None, Some(1.0)));
        assert_eq!(MultiLabelScores::new(&[], &[], 2).unwrap().jaccard, None);
    }

    #[test]
    fn thresholds_find_the_best_f1() {
        let truth = [set(&[0, 2]), set(&[0]), set(&[2]), set(&[])];
        #[rustfmt::skip]
        let p = [
            0.4, 0.9, 0.0,
            0.3, 0.1, 0.7,
            0.2, 0.2, 0.6,
            0.1, 0.3, 0.5,
        ];
        let found = Thresholds::tuned_for_f1(&truth, &p, 3).unwrap();
        assert!((found.values()[0] - 0.25).abs() < 1e-6, "{found:?}");
        assert_eq!(found.values()[1], 0.5); // nobody chose it
        // An option with probability 0 is never predicted: two of three predicted ones are right, and one is
        // missed.
        assert!((found.values()[2] - 0.55).abs() < 1e-6, "{found:?}");
        assert_eq!(found.answers(&p), [set(&[0, 1]), set(&[0, 2]), set(&[2]), set(&[])]);
        assert_eq!(Thresholds::half(3).answers(&p), [set(&[1]), set(&[2]), set(&[2]), set(&[])]);
    }

    /// Tries every cut between two probabilities: none is better than the chosen one.
    #[test]
    fn no_other_threshold_is_better() {
        let p: Vec<f32> = (0..40u32).map(|i| (i * 37 % 41) as f32 / 41.0).collect();
        let truth: Vec<OptionSet> =
            (0..40u32).map(|i| if i * i % 7 < 3 { set(&[0]) } else { set(&[]) }).collect();
        let f1 = |thresholds: &Thresholds| {
            MultiLabelScores::new(&truth, &thresholds.answers(&p), 1).unwrap().micro_f1.unwrap()
        };
        let best = f1(&Thresholds::tuned_for_f1(&truth, &p, 1).unwrap());
        for cut in 0..82 {
            assert!(f1(&Thresholds(vec![cut as f32 / 82.0])) <= best, "{cut}");
        }
    }

    #[test]
    fn loss_is_finite_at_extreme_probabilities() {
        let loss = BinaryLogLoss::new(&[set(&[0]), set(&[])], &[0.0, 0.5, 0.0, 0.5], 2).unwrap();
        assert!((loss.options[0] + CLIP.ln() / 2.0).abs() < 1e-9);
        assert!((loss.options[1] - 2f64.ln()).abs() < 1e-12);
        assert_eq!(BinaryLogLoss::new(&[], &[], 2).unwrap(), BinaryLogLoss::default());
    }

    #[test]
    fn invalid_input_is_refused() {
        let sets = [set(&[1])];
        let loss = |p: &[f32], options| BinaryLogLoss::new(&sets, p, options).unwrap_err();
        assert!(matches!(loss(&[0.5], 2), ModelError::Length { expected: 2, found: 1, .. }));
        assert!(matches!(loss(&[0.5], 1), ModelError::UnknownLevel { level: 1, levels: 1, .. }));
        for wrong in [f32::NAN, 1.5, -0.1] {
            assert!(matches!(loss(&[0.5, wrong], 2), ModelError::NotProbability { level: 1, .. }));
        }
        assert!(MultiLabelScores::new(&sets, &[], 2).is_err());
        assert!(matches!(loss(&[], 0), ModelError::Length { found: 0, .. }));
        assert!(matches!(loss(&[0.5; 65], 65), ModelError::Length { found: 65, .. }));
    }
}
