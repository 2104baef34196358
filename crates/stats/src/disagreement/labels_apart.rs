//! Texts on which the labels of two groups are further apart than those of groups drawn at random from the
//! same people.

use super::significance::independent_discoveries;
use crate::math::random::generator;
use rand::seq::SliceRandom;
use rayon::prelude::*;

/// Minimum number of labels of either side on a text: one person is not a group.
const MIN_ON_A_SIDE: usize = 2;
/// Permutations of the people of each pair, and the minimum where many labels would make them take seconds.
const PERMUTATIONS: usize = 100;
const MIN_PERMUTATIONS: usize = 20;
/// Largest number of labels processed for each pair.
const MAX_LABELS: usize = 20_000_000;
/// Values closer than this are equal.
const TIE: f64 = 1e-9;
const STREAM: u64 = 0x6170_6172;

/// The side of an annotator of a pair.
pub(super) type Side = Option<bool>;

/// Smallest significant statistic of a text, for each pair.
///
/// The statistic of a text is the difference of the two sides' mean labels times `sqrt(n m / (n + m))` for n
/// and m labels. Its distribution where the groups are unrelated to the answers comes from the data: the
/// people of both sides are randomly reassigned to them, which preserves how severe each person is, how each
/// answers each text and how far the labels of a text are spread. The p value of a text is the share of such
/// statistics, over all texts and permutations, that are as large (Tusher et al. 2001), and those of all
/// texts and pairs are corrected by Benjamini and Hochberg (1995).
#[derive(Clone, Debug, Default)]
pub(super) struct LabelsApart {
    least: Vec<f64>,
}

impl LabelsApart {
    /// Estimates the thresholds from the labels of each text (annotator and level) and the sides of each
    /// pair, by annotator. `rate` is the false discovery rate among the significant texts and pairs.
    pub(super) fn estimate(labels: &[Vec<(u32, u16)>], pairs: &[Vec<Side>], rate: f64) -> Self {
        let found: Vec<(usize, f64, f64)> = pairs
            .par_iter()
            .enumerate()
            .flat_map_iter(|(pair, sides)| p_values(labels, sides, pair))
            .collect();
        let p: Vec<f64> = found.iter().map(|(_, _, p)| *p).collect();
        let discovered = independent_discoveries(&p, rate);
        let mut least = vec![f64::INFINITY; pairs.len()];
        for ((pair, size, _), _) in found.iter().zip(discovered).filter(|(_, is_discovered)| *is_discovered) {
            least[*pair] = least[*pair].min(*size);
        }
        Self { least }
    }

    /// The higher side if these labels of a pair, by side, differ significantly.
    pub(super) fn higher(&self, pair: usize, labels: impl Iterator<Item = (bool, u16)>) -> Side {
        let apart = statistic(labels)?;
        (apart.abs() >= self.least[pair] - TIE).then_some(apart > 0.0)
    }
}

/// Pair, size of the statistic and p value of each text with enough labels of both sides.
fn p_values(labels: &[Vec<(u32, u16)>], sides: &[Side], pair: usize) -> Vec<(usize, f64, f64)> {
    let mut has_labels = vec![false; sides.len()];
    labels.iter().flatten().for_each(|(person, _)| has_labels[*person as usize] = true);
    // Who gave no label takes no part in the draws.
    let takes_part = |person: &usize| sides[*person].is_some() && has_labels[*person];
    let people: Vec<usize> = (0..sides.len()).filter(takes_part).collect();
    let of_pair: Vec<Vec<(u32, u16)>> = labels
        .iter()
        .map(|labels| {
            labels.iter().copied().filter(|(person, _)| sides[*person as usize].is_some()).collect()
        })
        .filter(|labels: &Vec<_>| labels.len() >= 2 * MIN_ON_A_SIDE)
        .collect();
    let all: usize = of_pair.iter().map(Vec::len).sum();
    let permutations = (MAX_LABELS / all.max(1)).clamp(MIN_PERMUTATIONS, PERMUTATIONS);
    let sizes = |sides: &[Side]| -> Vec<f64> {
        let of_text = |labels: &Vec<(u32, u16)>| {
            statistic(labels.iter().filter_map(|(person, level)| Some((sides[*person as usize]?, *level))))
        };
        of_pair.iter().filter_map(of_text).map(f64::abs).collect()
    };
    let mut rng = generator(pair as u64, STREAM);
    let mut dealt: Vec<Side> = people.iter().map(|person| sides[*person]).collect();
    let mut at_random = sides.to_vec();
    let mut by_chance = Vec::with_capacity(permutations * of_pair.len());
    for _ in 0..permutations {
        dealt.shuffle(&mut rng);
        people.iter().zip(&dealt).for_each(|(person, side)| at_random[*person] = *side);
        by_chance.extend(sizes(&at_random));
    }
    by_chance.sort_unstable_by(f64::total_cmp);
    let p = |size: f64| {
        let as_far = by_chance.len() - by_chance.partition_point(|other| *other < size - TIE);
        (1 + as_far) as f64 / (1 + by_chance.len()) as f64
    };
    sizes(sides).into_iter().map(|size| (pair, size, p(size))).collect()
}

/// The statistic: how much higher the second side (`true`) answers; `None` with too few labels of either.
fn statistic(labels: impl Iterator<Item = (bool, u16)>) -> Option<f64> {
    let (mut n, mut sums) = ([0usize; 2], [0.0; 2]);
    for (side, level) in labels {
        n[usize::from(side)] += 1;
        sums[usize::from(side)] += f64::from(level);
    }
    let [a, b] = n.map(|n| n as f64);
    (n[0].min(n[1]) >= MIN_ON_A_SIDE).then(|| (sums[1] / b - sums[0] / a) * (a * b / (a + b)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: means 0 and 4 of two and three labels, times sqrt(2 x 3 / 5).
    #[test]
    fn difference_is_weighted_by_labels() {
        let labels = [(false, 0), (false, 0), (true, 4), (true, 3), (true, 5)];
        assert!((statistic(labels.into_iter()).unwrap() - 4.0 * 1.2f64.sqrt()).abs() < 1e-12);
        assert_eq!(statistic(labels[1..].iter().copied()), None, "one label is no group");
    }

    /// Of 40 texts that all people label, ten divide women from men; the others divide people at random. Only
    /// these ten are significant, with the right side higher.
    #[test]
    fn dividing_texts_are_found() {
        let people = 12u32;
        let woman = |person: u32| person.is_multiple_of(2);
        let labels: Vec<Vec<(u32, u16)>> = (0..40u32)
            .map(|text| {
                let level = |person: u32| match (text < 10, woman(person)) {
                    (true, true) => 0,
                    (true, false) => 4,
                    (false, _) => ((text * 5 + person * 7 + text * person % 3) % 5) as u16,
                };
                (0..people).map(|person| (person, level(person))).collect()
            })
            .collect();
        let sides: Vec<Side> = (0..people).map(|person| Some(woman(person))).collect();
        let apart = LabelsApart::estimate(&labels, std::slice::from_ref(&sides), 0.05);
        // People without labels on either side change nothing.
        let more = [sides.clone(), vec![Some(true); 9], vec![Some(false); 4]].concat();
        assert_eq!(LabelsApart::estimate(&labels, &[more], 0.05).least, apart.least);
        for (text, labels) in labels.iter().enumerate() {
            let of_sides = labels.iter().map(|(person, level)| (woman(*person), *level));
            let expected = (text < 10).then_some(false);
            assert_eq!(apart.higher(0, of_sides), expected, "{text}");
        }
    }
}
