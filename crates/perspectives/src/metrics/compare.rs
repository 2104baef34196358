//! Whether one model is better than another on the same labels.

use super::Scored;
use super::interval::{BootstrapOptions, Interval, resample};
use super::mcnemar::{McNemar, mcnemar};
use super::people::annotator_scores;
use super::probability::CLIP;
use super::wilcoxon::{Wilcoxon, wilcoxon};
use crate::data::PerspectivesError;
use crate::data::progress::Progress;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A number of two models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Of the first model.
    pub first: f64,
    /// Of the second.
    pub second: f64,
    /// First minus second.
    pub difference: f64,
    /// Percentile interval of the difference over resamples of texts, both models scored on the same ones.
    pub interval: Option<Interval>,
    /// Two-sided p of "no difference": `(1 + resamples in which |d* - d| >= |d|) / (1 + resamples)`, d* the difference of
    /// a resample and d that of the data (Efron and Tibshirani 1993, ch. 16, shifting to the null; the 1s by Davison
    /// and Hinkley 1997, ch. 4). Absent with fewer than two texts.
    pub p: Option<f64>,
}

/// Two models on the same labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Labels both were scored on.
    pub labels: usize,
    /// Texts they are on.
    pub texts: usize,
    /// Mean negative log-likelihood; less is better. Absent without labels.
    pub log_loss: Option<Difference>,
    /// Share predicted exactly. Absent without labels.
    pub accuracy: Option<Difference>,
    /// McNemar's test of the predicted levels, labels taken as independent.
    pub mcnemar: McNemar,
    /// Wilcoxon's signed-rank test of annotators' accuracies, first minus second, every annotator one pair. Absent where
    /// no annotator's accuracy differs.
    pub annotators: Option<Wilcoxon>,
    /// How the bootstrap was made.
    pub options: BootstrapOptions,
}

/// Compares two models scored on the same labels in the same order ([`crate::score`] orders them).
///
/// # Errors
/// As [`Scored::check`]; [`PerspectivesError::DifferentLabels`] if the labels differ;
/// [`PerspectivesError::Confidence`], [`PerspectivesError::NoResamples`]; [`PerspectivesError::Cancelled`].
pub fn compare(
    first: &Scored,
    second: &Scored,
    options: &BootstrapOptions,
    progress: &mut dyn Progress,
) -> Result<Comparison, PerspectivesError> {
    options.check()?;
    first.check()?;
    second.check()?;
    if first.levels != second.levels || first.observations != second.observations {
        let same = first.observations.iter().zip(&second.observations).take_while(|(a, b)| a == b);
        return Err(PerspectivesError::DifferentLabels { at: same.count() });
    }
    let texts = by_text(first, second);
    let labels: f64 = texts.iter().map(|t| t.labels).sum();
    let (mut log_loss, mut accuracy) = (None, None);
    if labels > 0.0 {
        let draws = differences(&texts, options, progress)?;
        let total = |of: fn(&Text) -> [f64; 2]| {
            let sum = |model: usize| texts.iter().map(|t| of(t)[model]).sum::<f64>() / labels;
            (sum(0), sum(1))
        };
        log_loss = Some(difference(total(|t| t.loss), draws.iter().map(|d| d.0), options));
        accuracy = Some(difference(total(|t| t.hits), draws.iter().map(|d| d.1), options));
    }
    let (p, q) = (annotator_scores(first), annotator_scores(second));
    let gaps: Vec<f64> = p.iter().zip(&q).map(|(a, b)| a.accuracy - b.accuracy).collect();
    Ok(Comparison {
        labels: first.observations.len(),
        texts: texts.len(),
        log_loss,
        accuracy,
        mcnemar: discordant(first, second),
        annotators: wilcoxon(&gaps),
        options: *options,
    })
}

/// What one text adds, for each model.
#[derive(Default)]
struct Text {
    labels: f64,
    loss: [f64; 2],
    hits: [f64; 2],
}

fn by_text(first: &Scored, second: &Scored) -> Vec<Text> {
    let mut texts: BTreeMap<u32, Text> = BTreeMap::new();
    for (model, scored) in [first, second].into_iter().enumerate() {
        for (i, (o, p)) in scored.observations.iter().zip(scored.predicted()).enumerate() {
            let text = texts.entry(o.text).or_default();
            text.labels += 0.5; // once for each model
            text.loss[model] -= f64::from(scored.row(i)[usize::from(o.level)]).max(CLIP).ln();
            text.hits[model] += f64::from(u8::from(o.level == p));
        }
    }
    texts.into_values().collect()
}

/// (log loss, accuracy) of the first model minus that of the second in every resample of texts; none with one text.
fn differences(
    texts: &[Text],
    options: &BootstrapOptions,
    progress: &mut dyn Progress,
) -> Result<Vec<(f64, f64)>, PerspectivesError> {
    if texts.len() < 2 {
        return Ok(Vec::new());
    }
    resample(texts.len(), options, "paired bootstrap", progress, |drawn| {
        let (mut labels, mut loss, mut hits) = (0.0, 0.0, 0.0);
        for (text, &w) in texts.iter().zip(drawn) {
            let w = f64::from(w);
            labels += w * text.labels;
            loss += w * (text.loss[0] - text.loss[1]);
            hits += w * (text.hits[0] - text.hits[1]);
        }
        (loss / labels, hits / labels) // every text has a label
    })
}

fn difference(
    (first, second): (f64, f64),
    draws: impl ExactSizeIterator<Item = f64> + Clone,
    options: &BootstrapOptions,
) -> Difference {
    let difference = first - second;
    let n = draws.len();
    // Differences of one text more or less tie with the observed one; rounding must not decide for them.
    let as_far = |d: &f64| (d - difference).abs() >= difference.abs() * (1.0 - 1e-12) - 1e-15;
    let beyond = draws.clone().filter(as_far).count();
    Difference {
        first,
        second,
        difference,
        interval: Interval::of(draws.map(Some), options),
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
    fn a_better_model_is_better_and_a_model_equals_itself() {
        let options = BootstrapOptions::default();
        let (good, bad) = (model(0.1, 1), model(0.0, 2));
        let test = compare(&good, &bad, &options, &mut Silent).unwrap();
        let (loss, accuracy) = (test.log_loss.unwrap(), test.accuracy.unwrap());
        assert!(loss.difference < 0.0 && loss.interval.unwrap().high < 0.0);
        assert!((loss.p.unwrap() - 1.0 / 1001.0).abs() < 1e-12);
        assert!(accuracy.difference > 0.0 && accuracy.p.unwrap() < 0.01);
        assert!(test.mcnemar.exact_p < 0.01 && test.mcnemar.only_first > test.mcnemar.only_second);
        assert_eq!(test.annotators.unwrap().pairs, 5);
        let same = compare(&good, &good, &options, &mut Silent).unwrap();
        assert_eq!(same.log_loss.unwrap().p, Some(1.0));
        assert_eq!((same.mcnemar.exact_p, same.annotators), (1.0, None));
        let back = compare(&bad, &good, &options, &mut Silent).unwrap();
        assert_eq!(back.log_loss.unwrap().p, loss.p);
    }

    #[test]
    fn p_is_uniform_where_nothing_differs() {
        let options = BootstrapOptions { resamples: 200, ..Default::default() };
        let mut below = 0;
        for seed in 0..60 {
            let test = compare(&model(0.05, 2 * seed), &model(0.05, 2 * seed + 1), &options, &mut Silent);
            below += usize::from(test.unwrap().log_loss.unwrap().p.unwrap() < 0.25);
        }
        assert!((6..=26).contains(&below), "15 of 60 expected below 0.25, found {below}");
    }

    #[test]
    fn refuses_other_labels() {
        let options = BootstrapOptions::default();
        let (a, mut b) = (model(0.1, 1), model(0.1, 1));
        b.observations[7].level ^= 1;
        let error = compare(&a, &b, &options, &mut Silent).unwrap_err();
        assert_eq!(error, PerspectivesError::DifferentLabels { at: 7 });
        let none = Scored { levels: 2, ..Default::default() };
        let empty = compare(&none, &none, &options, &mut Silent).unwrap();
        assert_eq!((empty.log_loss, empty.accuracy, empty.annotators), (None, None, None));
    }
}
