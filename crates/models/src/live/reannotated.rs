//! Analysis of re-annotations: which part of the model's unexplained variation recurs when the same people
//! answer again.

use super::model::LiveModel;
use crate::mixed::left_out::TextWithoutLabels;
use dissensus_stats::math::clustered::total_and_two_way_error;
use dissensus_stats::math::distributions::student_quantile;
use dissensus_stats::metrics::CONFIDENCE_LEVEL;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Minimum number of re-annotations for a result.
pub const MIN_STABLE_REPEATS: usize = 30;
/// Minimum number of people, and texts, to estimate differences between them.
const MIN_CLUSTERS: usize = 3;
/// Minimum number of expected differences: with fewer there is hardly anything to explain.
const MIN_DIFFERENCES: f64 = 10.0;

/// An answer with a re-annotation by the same annotator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReannotatedAnswer {
    /// Row of the text.
    pub text: u32,
    /// Index of the annotator.
    pub annotator: u32,
    /// The first answer.
    pub first: u16,
    /// The answer of the next annotation round.
    pub second: u16,
}

/// Share of the model's unexplained variation that is stable within people.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StableShare {
    /// Number of compared re-annotations.
    pub repeats: usize,
    /// Share of them with the same answer.
    pub same: f64,
    /// The share that the model expects if a second answer is drawn independently of the first: text and
    /// annotator known as well as they are, without any effect specific to this annotator and text.
    pub expected: f64,
    /// `(same - expected) / (1 - expected)`: 0 where everything the model does not explain is chance, 1 where
    /// people always repeat themselves. Below 0 where people repeat themselves less often than expected.
    pub share: f64,
    /// Its 95 % interval, over annotators and texts together.
    pub interval: (f64, f64),
}

impl LiveModel {
    /// Share of the model's unexplained variation that recurs when the same people answer the same texts
    /// again: stable differences between people (contested), as opposed to answers that would be different
    /// another day (ambiguous). Only re-annotations can distinguish them. `None` with fewer than
    /// [`MIN_STABLE_REPEATS`] re-annotations of texts that their annotators have labelled, fewer than
    /// three people or texts among them, or fewer than ten expected to differ by the model.
    ///
    /// The expected share is `E p(first)^2 / E p(first)` for each re-annotation, over the uncertainty of the
    /// text and the annotator without this label. Remembered answers raise the share; a change of mind or of
    /// the guideline lowers it.
    ///
    /// # Panics
    /// If there is no such text.
    pub fn stable_share(&self, repeats: &[ReannotatedAnswer]) -> Option<StableShare> {
        let crossed = &self.model.crossed;
        let mut by_annotator: BTreeMap<u32, Vec<(u32, f64)>> = BTreeMap::new();
        let mut left_out: BTreeMap<u32, TextWithoutLabels<'_>> = BTreeMap::new();
        let (mut n, mut same, mut expected, mut variance) = (0usize, 0.0, 0.0, 0.0);
        for repeat in repeats {
            let labels = &crossed.labels[repeat.text as usize];
            let Ok(at) = labels.binary_search_by_key(&repeat.annotator, |label| label.annotator) else {
                continue;
            };
            let text =
                left_out.entry(repeat.text).or_insert_with(|| crossed.leave_out_labels(repeat.text as usize));
            let chance = text.repeat_chance(at, repeat.first);
            let is_same = f64::from(u8::from(repeat.first == repeat.second));
            (n, same, expected) = (n + 1, same + is_same, expected + chance);
            variance += chance * (1.0 - chance);
            by_annotator.entry(repeat.annotator).or_default().push((repeat.text, is_same - chance));
        }
        let texts: BTreeSet<u32> = by_annotator.values().flatten().map(|(text, _)| *text).collect();
        let clusters = by_annotator.len().min(texts.len());
        let differences = n as f64 - expected;
        if n < MIN_STABLE_REPEATS || clusters < MIN_CLUSTERS || differences < MIN_DIFFERENCES {
            return None;
        }
        let beyond: Vec<Vec<(u32, f64)>> = by_annotator.into_values().collect();
        let (total, error) = total_and_two_way_error(&beyond, crossed.texts());
        // If all re-annotations agree, the variance between them is 0, which is not certainty: the error is
        // at least that of the model's own probabilities.
        let error = error.max(variance.sqrt());
        let count = n as f64;
        let t = student_quantile(0.5 + 0.5 * CONFIDENCE_LEVEL, clusters - 1);
        let (share, half) = (total / differences, t * error / differences);
        Some(StableShare {
            repeats: n,
            same: same / count,
            expected: expected / count,
            share,
            interval: (share - half, (share + half).min(1.0).max(share)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dissensus_domain::TargetKind;
    use dissensus_stats::data::progress::Silent;
    use dissensus_stats::data::{Embeddings, FitOptions, Observation, Target, TrainingData};
    use dissensus_stats::math::random::generator;
    use dissensus_stats::math::sigmoid;
    use rand::RngExt;
    use rand_distr::{Distribution, StandardNormal};

    const LEVELS: usize = 5;

    /// 250 texts x 40 people x 8 labels per text, a stable preference of `own` logits for each person and
    /// text, a share of the labels asked again; and the true share over a very large sample of the same
    /// process.
    fn asked_again(own: f64, share: f64, seed: u64) -> (LiveModel, Vec<ReannotatedAnswer>, f64) {
        let mut rng = generator(seed, 1);
        let mut noise = generator(seed, 2);
        let mut normal = |sd: f64| -> f64 {
            let z: f64 = StandardNormal.sample(&mut noise);
            sd * z
        };
        let severity: Vec<f64> = (0..40).map(|_| normal(1.0)).collect();
        let above = |x: f64, j: usize| sigmoid(x + 1.5 * (2.5 - j as f64));
        let chances = |x: f64| -> Vec<f64> {
            let at = |j: usize| {
                if j == 0 {
                    1.0
                } else if j == LEVELS {
                    0.0
                } else {
                    above(x, j)
                }
            };
            (0..LEVELS).map(|j| at(j) - at(j + 1)).collect()
        };
        let (mut observations, mut repeats) = (Vec::new(), Vec::new());
        let (mut same, mut free, mut n) = (0.0, 0.0, 0.0);
        for text in 0..250u32 {
            let score = normal(1.0);
            let first = rng.random_range(0..40);
            for i in 0..8u32 {
                let annotator = (first + i * 5) % 40;
                let base = score + severity[annotator as usize];
                let x = base + normal(own);
                let answer = |r: f64| (1..LEVELS).filter(|j| r < above(x, *j)).count() as u16;
                let (one, two) = (answer(rng.random()), answer(rng.random()));
                observations.push(Observation { text, annotator, level: one });
                if rng.random::<f64>() < share {
                    repeats.push(ReannotatedAnswer { text, annotator, first: one, second: two });
                }
                same += chances(x).iter().map(|p| p * p).sum::<f64>();
                let mean: Vec<f64> = (0..200).fold(vec![0.0; LEVELS], |mut sum, _| {
                    chances(base + normal(own)).iter().zip(&mut sum).for_each(|(p, s)| *s += p / 200.0);
                    sum
                });
                free += mean.iter().map(|p| p * p).sum::<f64>();
                n += 1.0;
            }
        }
        observations.sort_by_key(|o| (o.text, o.annotator));
        let embeddings = Embeddings::none(250);
        let target = Target { kind: TargetKind::Ordinal, levels: LEVELS };
        let data = TrainingData {
            embeddings: &embeddings,
            observations: &observations,
            annotators: 40,
            target,
            attributes: &[],
        };
        let model = LiveModel::fit(&data, &FitOptions::default(), &Silent).unwrap();
        (model, repeats, (same - free) / (n - free))
    }

    /// With 5 and 20 % of the labels asked again; without re-annotations there is no result.
    #[test]
    fn reannotations_separate_stable_opinion_from_chance() {
        for own in [0.0, 1.5] {
            for (share, most) in [(0.05, 0.25), (0.2, 0.13)] {
                let mut covered = 0;
                for seed in 0..6 {
                    let (model, repeats, truth) = asked_again(own, share, seed);
                    let found = model.stable_share(&repeats).unwrap();
                    let (low, high) = found.interval;
                    assert!(low < found.share && found.share <= high, "{found:?}");
                    assert!(
                        (found.share - truth).abs() < most,
                        "own {own}, {share}, seed {seed}: {found:?} for {truth}"
                    );
                    covered += usize::from(low - 0.03 <= truth && truth <= high + 0.03);
                    if own > 0.0 && share > 0.1 {
                        assert!(low > 0.0, "{found:?} for {truth}");
                    }
                }
                assert!(covered >= 4, "own {own}, {share}: {covered} of 6");
            }
            let (model, repeats, _) = asked_again(own, 0.0, 1);
            assert_eq!(model.stable_share(&repeats), None);
        }
    }

    #[test]
    fn retracted_labels_are_not_compared() {
        let (mut model, repeats, _) = asked_again(0.0, 0.2, 3);
        let before = model.stable_share(&repeats).unwrap().repeats;
        model.retract(repeats[0].text, repeats[0].annotator).unwrap();
        assert_eq!(model.stable_share(&repeats).unwrap().repeats, before - 1);
    }

    /// One person, or answers that hardly ever differ: the re-annotations agree, and there is no information
    /// about what would make them differ.
    #[test]
    fn too_little_data_gives_no_stable_share() {
        let (model, repeats, _) = asked_again(0.0, 0.2, 5);
        let one: Vec<ReannotatedAnswer> = (0..40).map(|_| repeats[0]).collect();
        assert_eq!(model.stable_share(&one), None);
        let observations: Vec<Observation> =
            (0..400).map(|i| Observation { text: i / 8, annotator: i % 8, level: 2 }).collect();
        let embeddings = Embeddings::none(50);
        let target = Target { kind: TargetKind::Ordinal, levels: LEVELS };
        let data = TrainingData {
            embeddings: &embeddings,
            observations: &observations,
            annotators: 8,
            target,
            attributes: &[],
        };
        let model = LiveModel::fit(&data, &FitOptions::default(), &Silent).unwrap();
        let again =
            |o: &Observation| ReannotatedAnswer { text: o.text, annotator: o.annotator, first: 2, second: 2 };
        let all: Vec<ReannotatedAnswer> = observations.iter().take(60).map(again).collect();
        assert_eq!(model.stable_share(&all), None, "everybody gives one level");
    }
}
