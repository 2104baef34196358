//! Krippendorff's alpha over sets of options.

use super::counts::checked;
use super::crossed::{LeftOut, unless_cancelled};
use super::reliability::{Estimate, MIN_DECIDING};
use crate::data::progress::Progress;
use crate::data::{ModelError, Observation, Target};
use crate::metrics::{BootstrapOptions, Cluster, Figure, Interval, resample};
use dissensus_domain::{OptionSet, TargetKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One annotator's answer to one text: a set of options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetAnswer {
    /// Index of the text.
    pub text: u32,
    /// Index of the annotator.
    pub annotator: u32,
    /// The chosen options; the empty set is an answer.
    pub set: OptionSet,
}

/// The MASI distance of two sets, `1 - J M` (Passonneau 2006, Measuring agreement on set-valued items): J is
/// their Jaccard index, and M is 1 for equal sets, 2/3 where one contains the other, 1/3 where they overlap,
/// 0 where they are disjoint. Two empty sets are equal.
///
/// The thirds are those of the paper, as in NLTK 3.10 (its `masi_distance` divides by zero for two empty
/// sets); older versions used .67 and .33.
pub fn masi_distance(a: OptionSet, b: OptionSet) -> f64 {
    let (a, b) = (a.bits(), b.bits());
    let count = |bits: u64| f64::from(bits.count_ones());
    if a == b {
        return 0.0;
    }
    let jaccard = count(a & b) / count(a | b);
    let monotonicity = if a & b == a || a & b == b { 2.0 / 3.0 } else { 1.0 / 3.0 };
    1.0 - jaccard * monotonicity
}

/// Largest number of distinct sets for intervals; the distances of all pairs take eight megabytes.
const MAX_SETS: usize = 1_000;

/// Agreement of all annotators on sets of options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SetReliability {
    /// Number of texts with answers, the resampled units.
    pub texts: usize,
    /// Number of these texts with two answers or more.
    pub pairable: usize,
    /// Krippendorff's alpha under [`masi_distance`].
    pub alpha_masi: Estimate,
}

/// Krippendorff's alpha under [`masi_distance`] of `answers` (any order, some missing) by `annotators`
/// annotators on `texts` texts. Intervals, if requested, are computed as in [`reliability`] and under its
/// conditions; there are none with more than 1,000 distinct sets, because all of their distances would be
/// stored.
///
/// # Errors
/// The same as [`reliability`].
pub fn set_reliability(
    answers: &[SetAnswer],
    texts: usize,
    annotators: usize,
    bootstrap: Option<&BootstrapOptions>,
    progress: &dyn Progress,
) -> Result<SetReliability, ModelError> {
    if let Some(options) = bootstrap {
        options.check()?;
    }
    // The same checks as for labels: indices, and one answer for each text and annotator.
    let rows = answers.iter().map(|a| Observation { text: a.text, annotator: a.annotator, level: 0 });
    checked(&rows.collect::<Vec<_>>(), texts, annotators, BINARY)?;
    let items = Items::new(answers);
    let whole =
        items.alpha(&vec![1.0; items.sizes.len()], |a, b| masi_distance(items.sets[a], items.sets[b]));
    let deciding = items.deciding();
    let (mut interval, mut over_texts) = (None, None);
    if let (Some(options), Some(estimate)) = (bootstrap, whole)
        && items.sizes.len() >= Cluster::Texts.least()
        && deciding >= MIN_DECIDING
        && items.sets.len() <= MAX_SETS
    {
        let once = vec![1; items.sizes.len()];
        let sets = items.sets.len();
        let far: Vec<f64> =
            items.sets.iter().flat_map(|a| items.sets.iter().map(move |b| masi_distance(*a, *b))).collect();
        let alpha = |weights: &[f64]| items.alpha(weights, |a, b| far[a * sets + b]);
        let draws = resample(&once, options, "agreement", progress, alpha)?;
        let figure = Figure { estimate, clusters: deciding, range: (f64::NEG_INFINITY, 1.0) };
        over_texts = Interval::new(figure, draws.into_iter(), options);
        if let Some(narrow) = over_texts {
            let left_out = items.left_out(estimate, &far, progress)?;
            interval = left_out.interval(&figure, &narrow, options);
        }
    }
    Ok(SetReliability {
        texts: items.texts,
        pairable: items.sizes.len(),
        alpha_masi: Estimate { value: whole, interval, over_texts },
    })
}

const BINARY: Target = Target { kind: TargetKind::Binary, levels: 2 };

/// Texts with two answers or more.
struct Items {
    /// Number of texts with any answer.
    texts: usize,
    /// The distinct sets of these texts.
    sets: Vec<OptionSet>,
    /// Number of answers of each text.
    sizes: Vec<f64>,
    /// For each text its distinct sets, by their index, and the number of answers with each.
    counts: Vec<Vec<(usize, f64)>>,
    /// Sum of distances over ordered pairs of answers of the text, over answers - 1.
    observed: Vec<f64>,
    /// Whether at least one annotator chose another set than the most frequent one.
    off: Vec<bool>,
    /// Answers: position of the text, annotator, and index of the set.
    answers: Vec<(usize, u32, usize)>,
}

impl Items {
    fn new(answers: &[SetAnswer]) -> Self {
        let mut by_text: BTreeMap<u32, BTreeMap<OptionSet, u32>> = BTreeMap::new();
        for answer in answers {
            *by_text.entry(answer.text).or_default().entry(answer.set).or_default() += 1;
        }
        let texts = by_text.len();
        by_text.retain(|_, sets| sets.values().sum::<u32>() > 1);
        let mut all: BTreeMap<OptionSet, u32> = BTreeMap::new();
        by_text.values().flatten().for_each(|(set, n)| *all.entry(*set).or_default() += n);
        let frequent = all.iter().max_by_key(|(_, n)| **n).map(|(set, _)| *set);
        let sets: Vec<OptionSet> = all.into_keys().collect();
        let place = |set: &OptionSet| sets.binary_search(set).unwrap_or_default();
        let (mut sizes, mut counts, mut observed, mut off) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for of_text in by_text.values() {
            let size = f64::from(of_text.values().sum::<u32>());
            let pairs = of_text.iter().flat_map(|(a, n)| {
                of_text.iter().map(move |(b, m)| f64::from(*n) * f64::from(*m) * masi_distance(*a, *b))
            });
            observed.push(pairs.sum::<f64>() / (size - 1.0));
            counts.push(of_text.iter().map(|(set, n)| (place(set), f64::from(*n))).collect());
            off.push(of_text.keys().any(|set| Some(*set) != frequent));
            sizes.push(size);
        }
        let rows: BTreeMap<u32, usize> = by_text.keys().copied().zip(0..).collect();
        let answer = |a: &SetAnswer| Some((*rows.get(&a.text)?, a.annotator, place(&a.set)));
        let answers = answers.iter().filter_map(answer).collect();
        Self { texts, sets, sizes, counts, observed, off, answers }
    }

    /// Alpha without each person, and without each answer. `far` holds the distances of all pairs of sets.
    fn left_out(&self, whole: f64, far: &[f64], progress: &dyn Progress) -> Result<LeftOut, ModelError> {
        let sets = self.sets.len();
        let mut of_set = vec![0.0; sets];
        self.counts.iter().flatten().for_each(|(set, n)| of_set[*set] += n);
        // The sum of distances of each set to all answers, whose sum over answers is the expected one.
        let to_all: Vec<f64> =
            far.chunks_exact(sets).map(|row| row.iter().zip(&of_set).map(|(d, n)| d * n).sum()).collect();
        let expected: f64 = to_all.iter().zip(&of_set).map(|(d, n)| d * n).sum();
        let (n, observed) = (self.sizes.iter().sum::<f64>(), self.observed.iter().sum::<f64>());
        // Difference that leaving an answer out makes: to the number of answers, including a remaining one
        // without pairs, and to the observed distances.
        let taken = |(text, _, set): &(usize, u32, usize)| {
            let size = self.sizes[*text];
            let others = || self.counts[*text].iter();
            if size <= 2.0 {
                return (others().map(|(other, n)| (*other, *n)).collect(), self.observed[*text]);
            }
            let own: f64 = others().map(|(other, n)| n * far[set * sets + other]).sum();
            let left = (self.observed[*text] * (size - 1.0) - 2.0 * own) / (size - 2.0);
            (vec![(*set, 1.0)], self.observed[*text] - left)
        };
        let alpha = |gone: &[(usize, f64)], observed_gone: f64| {
            let total: f64 = gone.iter().map(|(_, n)| n).sum();
            let once: f64 = gone.iter().map(|(set, n)| n * to_all[*set]).sum();
            let twice: f64 = gone
                .iter()
                .map(|(a, n)| n * gone.iter().map(|(b, m)| m * far[a * sets + b]).sum::<f64>())
                .sum();
            let expected = expected - 2.0 * once + twice;
            let n = n - total;
            (n > 1.5 && expected > 1e-9).then(|| 1.0 - (n - 1.0) * (observed - observed_gone) / expected)
        };
        let mut found = LeftOut::default();
        let mut people: BTreeMap<u32, (BTreeMap<usize, f64>, f64)> = BTreeMap::new();
        for answer in &self.answers {
            unless_cancelled(progress)?;
            let (gone, observed): (Vec<(usize, f64)>, f64) = taken(answer);
            found.label(whole, alpha(&gone, observed), 1.0);
            let person = people.entry(answer.1).or_default();
            gone.into_iter().for_each(|(set, n)| *person.0.entry(set).or_default() += n);
            person.1 += observed;
        }
        for (gone, observed) in people.into_values() {
            unless_cancelled(progress)?;
            found.person(alpha(&gone.into_iter().collect::<Vec<_>>(), observed));
        }
        Ok(found)
    }

    /// Number of informative texts: those with another set than the most frequent one.
    fn deciding(&self) -> usize {
        self.off.iter().filter(|off| **off).count()
    }

    /// `1 - (n - 1) observed / expected` of texts with these weights; `far` is the distance of two sets by
    /// their indices.
    fn alpha(&self, weights: &[f64], far: impl Fn(usize, usize) -> f64) -> Option<f64> {
        let weighted = |of: &[f64]| of.iter().zip(weights).map(|(x, w)| x * w).sum::<f64>();
        let mut counts = vec![0.0; self.sets.len()];
        for (of_text, weight) in self.counts.iter().zip(weights) {
            of_text.iter().for_each(|(set, n)| counts[*set] += n * weight);
        }
        let held: Vec<(usize, f64)> = counts.into_iter().enumerate().filter(|(_, n)| *n > 0.0).collect();
        let mut expected = 0.0;
        for (at, &(a, n)) in held.iter().enumerate() {
            expected += 2.0 * n * held[..at].iter().map(|&(b, m)| m * far(a, b)).sum::<f64>();
        }
        let n = weighted(&self.sizes);
        (n > 1.5 && expected > 1e-9).then(|| 1.0 - (n - 1.0) * weighted(&self.observed) / expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::reliability;
    use crate::data::progress::Silent;

    fn set(options: &[u8]) -> OptionSet {
        OptionSet::new(options.iter().copied()).unwrap()
    }

    fn answers(rows: &[&[&[u8]]]) -> Vec<SetAnswer> {
        let of = |(text, row): (u32, &&[&[u8]])| -> Vec<SetAnswer> {
            (0..).zip(*row).map(|(annotator, s)| SetAnswer { text, annotator, set: set(s) }).collect()
        };
        (0..).zip(rows).flat_map(of).collect()
    }

    fn alpha(answers: &[SetAnswer]) -> Option<f64> {
        set_reliability(answers, 1000, 10, None, &Silent).unwrap().alpha_masi.value
    }

    #[test]
    fn distances_match_the_paper() {
        let near = |a: &[u8], b: &[u8], d: f64| {
            assert!((masi_distance(set(a), set(b)) - d).abs() < 1e-12, "{a:?} {b:?}");
            assert_eq!(masi_distance(set(a), set(b)), masi_distance(set(b), set(a)));
        };
        near(&[], &[], 0.0);
        near(&[0, 63], &[0, 63], 0.0);
        near(&[], &[1], 1.0);
        near(&[0], &[1, 2], 1.0);
        near(&[0], &[0, 1], 1.0 - 0.5 * 2.0 / 3.0);
        near(&[0, 1], &[1, 2], 1.0 - 1.0 / 9.0);
    }

    #[test]
    fn perfect_agreement_is_one_and_a_single_set_undefined() {
        assert_eq!(alpha(&answers(&[&[&[0], &[0]], &[&[], &[]]])), Some(1.0));
        assert_eq!(alpha(&answers(&[&[&[0], &[0]], &[&[0], &[0]]])), None);
        assert_eq!(alpha(&answers(&[&[&[0]], &[&[1]]])), None);
        assert_eq!(alpha(&[]), None);
    }

    /// With sets of one option each, all differences are equal: alpha is the nominal one.
    #[test]
    fn singleton_sets_equal_levels() {
        let one: Vec<SetAnswer> = (0..90u32)
            .filter(|i| i % 7 != 0)
            .map(|i| SetAnswer { text: i / 3, annotator: i % 3, set: set(&[(i * i % 11 % 4) as u8]) })
            .collect();
        let observations: Vec<Observation> = one
            .iter()
            .map(|a| Observation {
                text: a.text,
                annotator: a.annotator,
                level: a.set.bits().trailing_zeros() as u16,
            })
            .collect();
        let target = Target { kind: TargetKind::Nominal, levels: 4 };
        let options = BootstrapOptions { resamples: 2000, ..Default::default() };
        let nominal = reliability(&observations, 30, 3, target, Some(&options), &Silent).unwrap();
        let found = set_reliability(&one, 30, 3, Some(&options), &Silent).unwrap();
        assert_eq!((found.texts, found.pairable), (nominal.texts, nominal.pairable));
        let (ours, theirs) = (found.alpha_masi, nominal.alpha_nominal);
        assert!((ours.value.unwrap() - theirs.value.unwrap()).abs() < 1e-12);
        // The interval is the same, too, except for how other coefficients compute the expectation in a
        // resample.
        let (ours, theirs) = (ours.over_texts.unwrap(), theirs.over_texts.unwrap());
        let ratio = ours.standard_error / theirs.standard_error;
        assert!((0.99..1.01).contains(&ratio), "{ratio}");
        assert!((ours.low - theirs.low).abs() < 0.002 && (ours.high - theirs.high).abs() < 0.002);
        assert!(ours.low <= found.alpha_masi.value.unwrap() && found.alpha_masi.value.unwrap() <= ours.high);
    }

    #[test]
    fn invalid_answers_are_named() {
        let twice = [SetAnswer { text: 0, annotator: 0, set: set(&[]) }; 2];
        let of = |answers: &[SetAnswer]| set_reliability(answers, 1, 1, None, &Silent).unwrap_err();
        assert!(matches!(of(&twice), ModelError::Repeated { text: 0, annotator: 0 }));
        let far = [SetAnswer { text: 3, annotator: 0, set: set(&[]) }];
        assert!(matches!(of(&far), ModelError::UnknownText { text: 3, .. }));
    }
}
