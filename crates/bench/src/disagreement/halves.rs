//! Splits labels into those that the model learns from and those that it is scored on.

use super::Quality;
use dissensus_stats::data::{Observation, Target};
use dissensus_stats::disagreement::two_camps;
use dissensus_stats::metrics::{auroc, spearman};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// Texts with fewer labels are not split into halves, because one half would be a single annotator.
const MIN_TO_HALVE: usize = 4;
/// Share of the texts that lose all of their labels.
const UNLABELLED: f64 = 0.3;

/// What is held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Division {
    /// Exactly half of each text's annotators.
    Halves,
    /// All labels of some texts.
    Texts,
}

/// Held-out labels of one text.
struct Out {
    text: u32,
    /// Mean squared distance between two of its labels.
    distance: f64,
    /// Whether any two labels are two or more levels apart.
    far: bool,
    /// Whether the labels form two camps.
    camps: bool,
}

/// Labels split into training labels and held-out ones.
pub(super) struct HeldOut {
    pub(super) train: Vec<Observation>,
    texts: Vec<Out>,
}

impl HeldOut {
    pub(super) fn divide(all: &[Observation], division: Division, seed: u64, target: Target) -> Self {
        let mut of_text: BTreeMap<u32, Vec<Observation>> = BTreeMap::new();
        all.iter().for_each(|o| of_text.entry(o.text).or_default().push(*o));
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut order: Vec<u32> = of_text.keys().copied().collect();
        order.shuffle(&mut rng);
        order.truncate((UNLABELLED * of_text.len() as f64).round() as usize);
        order.sort_unstable();
        let (mut train, mut texts) = (Vec::new(), Vec::new());
        for (text, mut labels) in of_text {
            let kept = match division {
                Division::Texts if order.binary_search(&text).is_ok() => 0,
                Division::Halves if labels.len() >= MIN_TO_HALVE => labels.len() / 2,
                _ => labels.len(),
            };
            labels.shuffle(&mut rng);
            let out = labels.split_off(kept);
            train.extend(labels);
            let levels: Vec<u16> = out.iter().map(|o| o.level).collect();
            if let Some((distance, far)) = distance(&levels, target) {
                let mut counts = vec![0; target.levels];
                levels.iter().for_each(|level| counts[usize::from(*level)] += 1);
                let camps = target.kind.has_distances() && two_camps(&counts, 1);
                texts.push(Out { text, distance, far, camps });
            }
        }
        Self { train, texts }
    }

    /// Share of the scored texts whose held-out labels form two camps.
    pub(super) fn share_of_camps(&self) -> f64 {
        self.texts.iter().filter(|out| out.camps).count() as f64 / self.texts.len().max(1) as f64
    }

    /// How well `values`, one per text, order the scored texts.
    pub(super) fn quality(&self, values: &[f32], first: usize) -> Quality {
        let value = |text: &u32| {
            let value = values.get(*text as usize).copied().unwrap_or(f32::NAN);
            if value.is_nan() { f64::MIN } else { f64::from(value) }
        };
        let predicted: Vec<f64> = self.texts.iter().map(|out| value(&out.text)).collect();
        let observed: Vec<f64> = self.texts.iter().map(|out| out.distance).collect();
        let far: Vec<bool> = self.texts.iter().map(|out| out.far).collect();
        let mut order: Vec<usize> = (0..predicted.len()).collect();
        order.sort_by(|&a, &b| predicted[b].total_cmp(&predicted[a]));
        let mean = |of: &[usize]| of.iter().map(|i| observed[*i]).sum::<f64>() / of.len().max(1) as f64;
        let all = mean(&order);
        let first = &order[..first.min(order.len())];
        let camps = first.iter().filter(|i| self.texts[**i].camps).count();
        Quality {
            camps: camps as f64 / first.len().max(1) as f64,
            texts: order.len() as f64,
            spearman: spearman(&predicted, &observed).unwrap_or(0.0),
            lift: if all > 0.0 { mean(first) / all } else { 0.0 },
            auroc: auroc(&predicted, &far).unwrap_or(0.5),
        }
    }
}

/// Mean squared distance between two labels (without an order of the levels: the share of differing pairs),
/// and whether any two are two or more levels apart (without an order: differ); `None` for fewer than two
/// labels.
fn distance(levels: &[u16], target: Target) -> Option<(f64, bool)> {
    let ordinal = target.kind.has_distances();
    let (mut total, mut pairs, mut far) = (0.0, 0.0, false);
    for (i, a) in levels.iter().enumerate() {
        for b in &levels[..i] {
            let apart = a.abs_diff(*b);
            total += if ordinal { f64::from(apart).powi(2) } else { f64::from(u8::from(apart > 0)) };
            pairs += 1.0;
            far |= apart >= if ordinal && target.levels > 2 { 2 } else { 1 };
        }
    }
    (pairs > 0.0).then(|| (total / pairs, far))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Target = Target { kind: dissensus_domain::TargetKind::Ordinal, levels: 5 };

    fn labels() -> Vec<Observation> {
        (0..20u32)
            .flat_map(|text| {
                (0..3 + text % 7).map(move |annotator| Observation {
                    text,
                    annotator,
                    level: ((text + annotator) % 5) as u16,
                })
            })
            .collect()
    }

    #[test]
    fn halves_are_exact_and_disjoint() {
        let all = labels();
        let held = HeldOut::divide(&all, Division::Halves, 1, TARGET);
        for text in 0..20 {
            let (n, kept) = (
                all.iter().filter(|o| o.text == text).count(),
                held.train.iter().filter(|o| o.text == text).count(),
            );
            assert_eq!(kept, if n < MIN_TO_HALVE { n } else { n / 2 });
        }
        assert!(held.texts.iter().all(|out| (3 + out.text % 7) as usize >= MIN_TO_HALVE));
        let again = HeldOut::divide(&all, Division::Halves, 1, TARGET);
        assert_eq!(held.train, again.train);
    }

    #[test]
    fn held_out_texts_have_no_training_label() {
        let held = HeldOut::divide(&labels(), Division::Texts, 1, TARGET);
        assert_eq!(held.texts.len(), 6);
        assert!(held.texts.iter().all(|out| held.train.iter().all(|o| o.text != out.text)));
    }

    #[test]
    fn distances_are_computed_and_ordered() {
        assert_eq!(distance(&[0, 2, 2], TARGET), Some((8.0 / 3.0, true)));
        assert_eq!(distance(&[0, 1], TARGET), Some((1.0, false)));
        assert_eq!(distance(&[1], TARGET), None);
        let held = HeldOut {
            train: Vec::new(),
            texts: [(0, 4.0, true), (1, 1.0, false), (2, 1.0, false), (3, 2.0, true)]
                .map(|(text, distance, far)| Out { text, distance, far, camps: far })
                .into(),
        };
        assert_eq!(held.share_of_camps(), 0.5);
        let quality = held.quality(&[0.9, 0.1, 0.2, 0.3], 1);
        assert_eq!((quality.lift, quality.auroc, quality.camps), (2.0, 1.0, 1.0));
        assert!(quality.spearman > 0.9);
    }
}
