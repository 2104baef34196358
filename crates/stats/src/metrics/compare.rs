//! Tests whether one model is better than another on the same labels.

use super::bootstrap::Cluster;
use super::classes::by_annotator;
use super::interval::{BootstrapOptions, Figure, Interval, resample};
use super::mcnemar::{McNemar, mcnemar};
use super::probability::CLIP;
use super::scored::Scored;
use super::wilcoxon::{Wilcoxon, wilcoxon};
use crate::data::progress::Progress;
use crate::data::{ModelError, Observation};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A metric of two models.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    pub first: f64,
    pub second: f64,
    /// First minus second.
    pub difference: f64,
    /// The resampled unit: whether the interval and p are about other texts or about other annotators.
    pub over: Cluster,
    /// Interval of the difference over resamples, with both models scored on the same ones; absent with fewer
    /// than 20 texts or 5 annotators, and where nothing varies.
    pub interval: Option<Interval>,
    /// Two-sided p of "no difference": `(1 + resamples in which |d* - d| >= |d|) / (1 + resamples)`, d* the
    /// difference of a resample and d that of the data (Efron and Tibshirani 1993, ch. 16, shifting to the
    /// null; the 1s by Davison and Hinkley 1997, ch. 4). Absent with fewer than 20 texts or 5 annotators.
    pub p: Option<f64>,
}

/// Differences of two models over resamples of the same clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Differences {
    /// Mean negative log-likelihood of a label; smaller is better.
    pub log_loss: Difference,
    /// Share of labels predicted exactly.
    pub accuracy: Difference,
    /// Mean over annotators of each one's accuracy; only where annotators are resampled.
    pub annotator_accuracy: Option<Difference>,
}

/// Comparison of two models on the same labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Number of labels that both were scored on.
    pub labels: usize,
    /// Number of texts of these labels.
    pub texts: usize,
    /// Would the difference persist on other texts labelled by the same annotators? Texts are resampled.
    /// Absent without labels.
    pub over_texts: Option<Differences>,
    /// Would the difference persist for other annotators on the same texts? Annotators are resampled. Absent
    /// without labels.
    pub over_annotators: Option<Differences>,
    /// McNemar's test of the predicted levels, treating labels as independent.
    pub mcnemar: McNemar,
    /// Wilcoxon's signed-rank test of annotators' accuracies, first minus second, every annotator one pair,
    /// treated as independent although they share texts. Absent where no annotator's accuracy differs.
    pub annotators: Option<Wilcoxon>,
    pub options: BootstrapOptions,
}

/// Compares two models scored on the same labels in the same order ([`crate::metrics::score`] orders them).
///
/// # Errors
/// The same as [`Scored::check`]; [`ModelError::DifferentLabels`] if the labels differ;
/// [`ModelError::Confidence`], [`ModelError::NoResamples`]; [`ModelError::Cancelled`].
pub fn compare(
    first: &Scored,
    second: &Scored,
    options: &BootstrapOptions,
    progress: &dyn Progress,
) -> Result<Comparison, ModelError> {
    options.check()?;
    first.check()?;
    second.check()?;
    if first.levels != second.levels || first.observations != second.observations {
        let same = first.observations.iter().zip(&second.observations).take_while(|(a, b)| a == b);
        return Err(ModelError::DifferentLabels { at: same.count() });
    }
    let texts = sums(first, second, |o| o.text);
    let annotators = sums(first, second, |o| o.annotator);
    let accuracies = |scored: &Scored| by_annotator(scored, &scored.predicted()).accuracy;
    let gaps: Vec<f64> = accuracies(first).iter().zip(accuracies(second)).map(|(a, b)| a - b).collect();
    Ok(Comparison {
        labels: first.observations.len(),
        texts: texts.len(),
        over_texts: differences(&texts, Cluster::Texts, options, progress)?,
        over_annotators: differences(&annotators, Cluster::Annotators, options, progress)?,
        mcnemar: discordant(first, second),
        annotators: wilcoxon(&gaps),
        options: *options,
    })
}

/// Contribution of the labels of one cluster, for each model.
#[derive(Default)]
struct Sums {
    labels: f64,
    loss: [f64; 2],
    hits: [f64; 2],
}

fn sums(first: &Scored, second: &Scored, cluster: fn(&Observation) -> u32) -> Vec<Sums> {
    let mut clusters: BTreeMap<u32, Sums> = BTreeMap::new();
    for (model, scored) in [first, second].into_iter().enumerate() {
        for (i, (o, p)) in scored.observations.iter().zip(scored.predicted()).enumerate() {
            let sums = clusters.entry(cluster(o)).or_default();
            sums.labels += 0.5; // once for each model
            sums.loss[model] -= f64::from(scored.row(i)[usize::from(o.level)]).max(CLIP).ln();
            sums.hits[model] += f64::from(u8::from(o.level == p));
        }
    }
    clusters.into_values().collect()
}

/// Log loss, accuracy and mean accuracy of a cluster, of one model, where cluster `i` has the weight
/// `weights[i]`.
fn numbers(clusters: &[Sums], weights: &[f64], model: usize) -> [f64; 3] {
    let (mut labels, mut loss, mut hits, mut means, mut all) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (sums, w) in clusters.iter().zip(weights) {
        labels += w * sums.labels;
        loss += w * sums.loss[model];
        hits += w * sums.hits[model];
        means += w * sums.hits[model] / sums.labels; // every cluster has a label
        all += w;
    }
    [loss / labels, hits / labels, means / all]
}

fn differences(
    clusters: &[Sums],
    over: Cluster,
    options: &BootstrapOptions,
    progress: &dyn Progress,
) -> Result<Option<Differences>, ModelError> {
    if clusters.is_empty() {
        return Ok(None);
    }
    let (sizes, once) = (vec![1; clusters.len()], vec![1.0; clusters.len()]);
    let draws = if clusters.len() < over.least() {
        Vec::new()
    } else {
        resample(&sizes, options, "paired bootstrap", progress, |weights| {
            let (a, b) = (numbers(clusters, weights, 0), numbers(clusters, weights, 1));
            [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
        })?
    };
    let (first, second) = (numbers(clusters, &once, 0), numbers(clusters, &once, 1));
    let of = |at: usize| {
        difference((first[at], second[at]), draws.iter().map(|d| d[at]), over, clusters.len(), options)
    };
    let annotator_accuracy = (over == Cluster::Annotators).then(|| of(2));
    Ok(Some(Differences { log_loss: of(0), accuracy: of(1), annotator_accuracy }))
}

fn difference(
    (first, second): (f64, f64),
    draws: impl ExactSizeIterator<Item = f64> + Clone,
    over: Cluster,
    clusters: usize,
    options: &BootstrapOptions,
) -> Difference {
    let difference = first - second;
    let n = draws.len();
    // Differences of one cluster more or less tie with the observed one, up to rounding.
    let as_far = |d: &f64| (d - difference).abs() >= difference.abs() * (1.0 - 1e-12) - 1e-15;
    let beyond = draws.clone().filter(as_far).count();
    let figure = Figure { estimate: difference, clusters, range: (f64::NEG_INFINITY, f64::INFINITY) };
    Difference {
        first,
        second,
        difference,
        over,
        interval: Interval::new(figure, draws.map(Some), options),
        p: (n > 0).then(|| (1 + beyond) as f64 / (1 + n) as f64),
    }
}

fn discordant(first: &Scored, second: &Scored) -> McNemar {
    let (mut only_first, mut only_second) = (0, 0);
    for ((o, p), q) in first.observations.iter().zip(first.predicted()).zip(second.predicted()) {
        only_first += usize::from(o.level == p && o.level != q);
        only_second += usize::from(o.level != p && o.level == q);
    }
    mcnemar(only_first, only_second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Observation;
    use crate::data::progress::Silent;
    use crate::math::random::generator;
    use rand::RngExt;

    /// 200 texts with five labels each; `skill` is what a model adds to the probability of the label.
    fn model(skill: f32, seed: u64) -> Scored {
        let mut rng = generator(seed, 0);
        let mut labels = generator(99, 0);
        let mut scored = Scored { levels: 2, ..Default::default() };
        for text in 0..200 {
            for annotator in 0..5 {
                let level = labels.random_range(0..2u16);
                let p: f32 = (0.5 + skill + 0.3 * (rng.random::<f32>() - 0.5)).clamp(0.01, 0.99);
                scored.observations.push(Observation { text, annotator, level });
                let row = if level == 0 { [p, 1.0 - p] } else { [1.0 - p, p] };
                scored.probabilities.extend(row);
            }
        }
        scored
    }

    #[test]
    fn comparison_detects_the_better_model() {
        let options = BootstrapOptions::default();
        let (good, bad) = (model(0.1, 1), model(0.0, 2));
        let test = compare(&good, &bad, &options, &Silent).unwrap();
        let over_texts = test.over_texts.unwrap();
        let (loss, accuracy) = (over_texts.log_loss, over_texts.accuracy);
        assert!(loss.difference < 0.0 && loss.interval.unwrap().high < 0.0);
        assert!((loss.p.unwrap() - 1.0 / 1001.0).abs() < 1e-12);
        assert!(accuracy.difference > 0.0 && accuracy.p.unwrap() < 0.01);
        assert!(test.mcnemar.exact_p < 0.01 && test.mcnemar.only_first > test.mcnemar.only_second);
        assert_eq!(test.annotators.unwrap().pairs, 5);
        let same = compare(&good, &good, &options, &Silent).unwrap();
        let same_loss = same.over_texts.unwrap().log_loss;
        assert_eq!((same_loss.p, same_loss.interval), (Some(1.0), None));
        assert_eq!((same.mcnemar.exact_p, same.annotators), (1.0, None));
        let back = compare(&bad, &good, &options, &Silent).unwrap();
        assert_eq!(back.over_texts.unwrap().log_loss.p, loss.p);
    }

    /// The second model is better for half of the annotators and worse for the others: strong evidence about
    /// the texts at hand and weak evidence about other annotators.
    #[test]
    fn annotator_comparison_resamples_annotators() {
        let (mut a, mut b) =
            (Scored { levels: 2, ..Default::default() }, Scored { levels: 2, ..Default::default() });
        for text in 0..300u32 {
            for annotator in 0..6u32 {
                a.observations.push(Observation { text, annotator, level: 0 });
                // A little better for four of six.
                let p = if annotator < 4 { 0.62 } else { 0.42 };
                a.probabilities.extend([0.5, 0.5]);
                b.probabilities.extend([p, 1.0 - p]);
            }
        }
        b.observations.clone_from(&a.observations);
        let test = compare(&a, &b, &BootstrapOptions::default(), &Silent).unwrap();
        let (texts, annotators) = (test.over_texts.unwrap(), test.over_annotators.unwrap());
        assert_eq!((texts.log_loss.over, annotators.log_loss.over), (Cluster::Texts, Cluster::Annotators));
        assert!((texts.log_loss.difference - annotators.log_loss.difference).abs() < 1e-12);
        assert!(texts.log_loss.p.unwrap() < 0.01 || texts.log_loss.interval.is_none());
        assert!(annotators.log_loss.p.unwrap() > 0.1);
        let interval = annotators.log_loss.interval.unwrap();
        assert!(interval.low < 0.0 && interval.high > 0.0);
        assert_eq!(texts.annotator_accuracy, None);
        assert!((annotators.annotator_accuracy.unwrap().second - 4.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn p_values_are_uniform_without_a_difference() {
        let options = BootstrapOptions { resamples: 200, ..Default::default() };
        let mut below = 0;
        for seed in 0..60 {
            let test = compare(&model(0.05, 2 * seed), &model(0.05, 2 * seed + 1), &options, &Silent);
            below += usize::from(test.unwrap().over_texts.unwrap().log_loss.p.unwrap() < 0.25);
        }
        assert!((6..=26).contains(&below), "15 of 60 expected below 0.25, found {below}");
    }

    #[test]
    fn refuses_models_with_other_labels() {
        let options = BootstrapOptions::default();
        let (a, mut b) = (model(0.1, 1), model(0.1, 1));
        b.observations[7].level ^= 1;
        let error = compare(&a, &b, &options, &Silent).unwrap_err();
        assert_eq!(error, ModelError::DifferentLabels { at: 7 });
        let none = Scored { levels: 2, ..Default::default() };
        let empty = compare(&none, &none, &options, &Silent).unwrap();
        assert_eq!((empty.over_texts, empty.over_annotators, empty.annotators), (None, None, None));
    }
}
