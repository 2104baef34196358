//! Predictions of whole sets of options that several people answer to one text.

use super::masi::ExpectedMasi;
use crate::data::ModelError;
use crate::options::{GivenFactors, LikeliestSet, OptionFactors};
use dissensus_domain::OptionSet;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Largest number of pairs of people for a distance, unless each person is in only two of them: more change
/// its mean by less than about 0.01.
const MAX_PAIRS: usize = 1_000;

/// Kind of the factors that the options of an answer share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FactorsOf {
    /// Drawn for each person independently: a person who chooses anger also chooses disgust.
    Person,
    /// Drawn once per text: it is what all its readers have in common, and given it their options are
    /// independent.
    Text,
}

/// Predicts sets of options from the probabilities of each option, with or without correlated options.
#[derive(Clone, Debug)]
pub struct WholeSets {
    masi: ExpectedMasi,
    factors: OptionFactors,
    distances: Option<FactorsOf>,
}

impl WholeSets {
    /// Whole sets with the factors that options of one answer share; `distances` is the kind of factors where
    /// they also apply to distances between people. With `None` people's options are independent in
    /// distances.
    ///
    /// # Errors
    /// [`ModelError::Length`] for more options than a set can hold.
    pub fn new(factors: OptionFactors, distances: Option<FactorsOf>) -> Result<Self, ModelError> {
        Ok(Self { masi: ExpectedMasi::new(factors.options())?, factors, distances })
    }

    pub fn factors(&self) -> &OptionFactors {
        &self.factors
    }

    /// Kind of the factors used in distances.
    pub fn distances(&self) -> Option<FactorsOf> {
        self.distances
    }

    /// The most likely set of each person, and its probability; `probabilities` are people x options,
    /// row-major.
    ///
    /// # Panics
    /// If there is not one probability for each option of each person.
    pub fn of_each(&self, probabilities: &[f32]) -> Vec<(OptionSet, f64)> {
        self.given(probabilities).par_iter().map(GivenFactors::most_likely).collect()
    }

    /// The set that one of these people, drawn at random, is most likely to answer, and its probability:
    /// `max_S mean_a P_a(S)`. Absent without people. Exact unless it takes more than 5 million steps; then
    /// the best set found so far, marked as such.
    ///
    /// # Panics
    /// The same as [`WholeSets::of_each`].
    pub fn of_anybody(&self, probabilities: &[f32]) -> Option<LikeliestSet> {
        Some(GivenFactors::of_anybody(&self.given(probabilities))?.searched())
    }

    /// The expected MASI distance of two different ones of these people, mean over [`pairs_of`] them. Absent
    /// for fewer than two. `answered` is whether the text has answers; then the probabilities already include
    /// what all its readers have in common, so that factors of a text are not applied again.
    ///
    /// # Panics
    /// The same as [`WholeSets::of_each`].
    pub fn masi(&self, probabilities: &[f32], answered: bool) -> Option<f64> {
        let options = self.factors.options();
        assert!(probabilities.len().is_multiple_of(options));
        let pairs = pairs_of(probabilities.len() / options);
        let row = |who: usize| &probabilities[who * options..(who + 1) * options];
        let used = self.distances.filter(|of| *of == FactorsOf::Person || !answered);
        // Summed in a fixed order, so that the result is reproducible.
        let distances: Vec<f64> = match used {
            None => pairs.par_iter().map(|(i, j)| self.masi.of(row(*i), row(*j))).collect(),
            Some(of) => {
                let few: Vec<GivenFactors> =
                    probabilities.par_chunks(options).map(|p| self.factors.given_few(p)).collect();
                pairs.par_iter().map(|(i, j)| between(&self.masi, of, &few[*i], &few[*j])).collect()
            }
        };
        (!distances.is_empty()).then(|| distances.iter().sum::<f64>() / distances.len() as f64)
    }

    fn given(&self, probabilities: &[f32]) -> Vec<GivenFactors> {
        assert!(probabilities.len().is_multiple_of(self.factors.options()));
        probabilities.par_chunks(self.factors.options()).map(|p| self.factors.given(p)).collect()
    }
}

/// The expected distance of two people. Given the factors their options are independent.
pub(super) fn between(masi: &ExpectedMasi, of: FactorsOf, one: &GivenFactors, other: &GivenFactors) -> f64 {
    match of {
        FactorsOf::Text => {
            one.nodes().zip(other.nodes()).map(|((weight, p), (_, q))| weight * masi.between(p, q)).sum()
        }
        FactorsOf::Person => one
            .nodes()
            .map(|(u, p)| u * other.nodes().map(|(v, q)| v * masi.between(p, q)).sum::<f64>())
            .sum(),
    }
}

/// The pairs of this many people for a distance: all of them up to 1,000, otherwise each person with the same
/// number of others, spread evenly over the rows.
pub fn pairs_of(people: usize) -> Vec<(usize, usize)> {
    if people * people.saturating_sub(1) / 2 <= MAX_PAIRS {
        return (0..people).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    }
    // Steps round the circle of people, no two of which give the same pairs.
    let (steps, furthest) = ((MAX_PAIRS / people).max(1), (people - 1) / 2);
    let step = |nth: usize| 1 + furthest * (2 * nth + 1) / (2 * steps);
    (0..steps).flat_map(|nth| (0..people).map(move |i| (i, (i + step(nth)) % people))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const OPTIONS: usize = 4;

    fn made_up(people: usize, seed: usize) -> Vec<f32> {
        let mixed = |at: usize| ((at + 3) * (seed + 5)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (0..people * OPTIONS).map(|at| (mixed(at) % 9_700 + 150) as f32 / 10_000.0 + 3e-5).collect()
    }

    fn together() -> OptionFactors {
        OptionFactors::new(OPTIONS, 1, vec![1.5, 1.2, -1.4, 0.3]).unwrap()
    }

    /// Enumerates all sets, with the probabilities of each person.
    fn enumerated(factors: &OptionFactors, probabilities: &[f32]) -> (OptionSet, f64) {
        let people: Vec<GivenFactors> = probabilities.chunks(OPTIONS).map(|p| factors.given(p)).collect();
        let mean = |set: OptionSet| {
            people.iter().map(|one| one.log_probability(set).exp()).sum::<f64>() / people.len() as f64
        };
        let sets = (0..1 << OPTIONS).map(OptionSet::from_bits).map(|set| (set, mean(set)));
        sets.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
    }

    #[test]
    fn likeliest_set_maximises_the_mean_over_people() {
        for factors in [together(), OptionFactors::independent(OPTIONS).unwrap()] {
            let sets = WholeSets::new(factors.clone(), None).unwrap();
            for seed in 0..40 {
                let p = made_up(7, seed);
                let LikeliestSet { set, probability: chance, is_exact } = sets.of_anybody(&p).unwrap();
                assert!(is_exact);
                let expected = enumerated(&factors, &p);
                assert_eq!(set, expected.0, "{seed}");
                assert!((chance - expected.1).abs() < 1e-9, "{chance} for {}", expected.1);
                let each = sets.of_each(&p);
                assert_eq!(each.len(), 7);
                for (one, p) in each.iter().zip(p.chunks(OPTIONS)) {
                    let expected = enumerated(&factors, p);
                    assert!((one.1 - expected.1).abs() < 1e-9 && one.0 == expected.0);
                }
            }
            assert_eq!(sets.of_anybody(&[]), None);
        }
    }

    /// Two camps that are certain of opposite sets: the set in between is nobody's answer.
    #[test]
    fn likeliest_set_is_likely_for_someone() {
        let sets = WholeSets::new(OptionFactors::independent(2).unwrap(), None).unwrap();
        let p = [0.9, 0.1, 0.9, 0.1, 0.3, 0.95, 0.3, 0.95, 0.3, 0.95];
        let LikeliestSet { set, probability: chance, .. } = sets.of_anybody(&p).unwrap();
        // The mean shares are .54 and .61, which would give both.
        assert_eq!(set.bits(), 0b10);
        assert!((chance - (0.4 * 0.1 * 0.1 + 0.6 * 0.7 * 0.95)).abs() < 1e-6, "{chance}");
    }

    /// 64 options that nobody is certain of, each person leaning elsewhere: 2^64 sets are almost equally
    /// likely.
    #[test]
    fn incomplete_search_is_marked() {
        let sets = WholeSets::new(OptionFactors::independent(64).unwrap(), None).unwrap();
        let p: Vec<f32> = (0..64 * 20).map(|at| 0.4 + 0.2 * ((at * 7_919) % 997) as f32 / 997.0).collect();
        let found = sets.of_anybody(&p).unwrap();
        assert!(!found.is_exact && found.probability > 0.0);
    }

    #[test]
    fn many_people_are_paired_evenly() {
        assert_eq!(pairs_of(0).len() + pairs_of(1).len(), 0);
        assert_eq!(pairs_of(45).len(), 990);
        for people in [46, 47, 100, 262, 300, 1_000, 5_000] {
            let pairs = pairs_of(people);
            let mut times = vec![0; people];
            let mut different = BTreeSet::new();
            for (i, j) in &pairs {
                assert!(i != j);
                times[*i] += 1;
                times[*j] += 1;
                different.insert((*i.min(j), *i.max(j)));
            }
            assert_eq!(different.len(), pairs.len(), "{people}");
            assert!(times.iter().all(|n| *n == times[0] && *n > 0), "{people}");
            assert!(pairs.len() <= MAX_PAIRS.max(people));
        }
    }

    #[test]
    fn sampled_distance_is_close_to_the_full_one() {
        // 1,770 pairs, of which 1,000 are taken.
        let p = made_up(60, 3);
        for distances in [None, Some(FactorsOf::Person), Some(FactorsOf::Text)] {
            let sets = WholeSets::new(together(), distances).unwrap();
            let some = sets.masi(&p, false).unwrap();
            let all: Vec<f64> = (0..60)
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .map(|(i, j)| {
                    let two = [&p[i * OPTIONS..(i + 1) * OPTIONS], &p[j * OPTIONS..(j + 1) * OPTIONS]];
                    sets.masi(&two.concat(), false).unwrap()
                })
                .collect();
            let all = all.iter().sum::<f64>() / all.len() as f64;
            assert!((some - all).abs() < 0.02, "{some} for {all}");
        }
        let of_text = WholeSets::new(together(), Some(FactorsOf::Text)).unwrap();
        let alone = WholeSets::new(together(), None).unwrap();
        assert_eq!(of_text.masi(&p, true), alone.masi(&p, true));
        assert_eq!(alone.masi(&p[..OPTIONS], false), None);
    }
}
