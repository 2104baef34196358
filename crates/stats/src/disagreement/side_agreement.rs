//! Agreement within and between two groups of people.

use super::crossed_jackknife::{SideLabel, jackknife};
use crate::agreement::{Coincidences, add_coincidences, between_alpha};
use crate::data::ModelError;
use crate::data::progress::Progress;

/// A figure of agreement with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgreementFigure {
    pub value: f64,
    /// Its 95 % interval, for people and texts like these; `None` where nothing varies.
    pub interval: Option<(f64, f64)>,
    /// Two-sided p value of 0 (Student's t); only for [`SideAgreement::beyond`].
    pub p: Option<f64>,
}

/// Agreement among the people of side 0, among those of side 1, and between the sides; each is `None` where
/// no text has such pairs of labels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SideAgreement {
    /// Share of pairs of labels on one text that are equal, with equal weights for all pairs.
    pub equal: [Option<AgreementFigure>; 3],
    /// Within a side Krippendorff's alpha. Between sides the same with pairs of one label of each:
    /// cross-replication reliability (Wong, Paritosh and Aroyo 2021, Cross-replication reliability, equation
    /// 5), with weight `2 n_0 n_1 / (n_0 + n_1)` per text. Ordinal differences on ordinal scales. `None`
    /// above [`SideAgreement::MAX_LEVELS`] levels.
    pub alpha: [Option<AgreementFigure>; 3],
    /// Share of equal pairs between the sides minus the mean of those within.
    pub beyond: Option<AgreementFigure>,
}

impl SideAgreement {
    /// Largest number of levels for alpha: its intervals need memory for a matrix of levels per person, and
    /// time for one per label.
    pub const MAX_LEVELS: usize = 12;
}

/// Number of figures in one jackknife: three shares, three alphas, and the excess of the share between over
/// those within.
const FIGURES: usize = 7;
/// Counts of equal pairs and of all pairs: of either side, and between them.
const PAIRS: usize = 6;

/// Agreement of the sides of `texts`, ignoring the labels' weights, on a scale of `levels`. Intervals by a
/// jackknife over people and texts.
///
/// # Errors
/// [`ModelError::Cancelled`].
pub(super) fn side_agreement(
    texts: &[Vec<SideLabel>],
    levels: usize,
    ordinal: bool,
    progress: &dyn Progress,
) -> Result<SideAgreement, ModelError> {
    let matrices = levels <= SideAgreement::MAX_LEVELS;
    let (values, variances) = jackknife(
        texts,
        PAIRS + if matrices { 3 * levels * levels } else { 0 },
        |labels, sums| {
            let counts = count(labels, levels);
            let (pairs, rest) = sums.split_at_mut(PAIRS);
            add_pairs(&counts, pairs);
            if matrices {
                add_matrices(&counts, rest);
            }
        },
        |sums| figures(sums, levels, ordinal),
        progress,
    )?;
    let tested = |at: usize, least: f64| {
        let value = values[at];
        let doubt = variances[at].doubt(value, 1.0, (least, 1.0));
        let (interval, p) = (doubt.map(|doubt| doubt.interval), doubt.map(|doubt| doubt.p));
        value.is_finite().then_some(AgreementFigure { value, interval, p })
    };
    let figure = |at, least| tested(at, least).map(|figure| AgreementFigure { p: None, ..figure });
    Ok(SideAgreement {
        equal: [0, 1, 2].map(|at| figure(at, 0.0)),
        alpha: [3, 4, 5].map(|at| figure(at, f64::NEG_INFINITY)),
        beyond: tested(6, -1.0),
    })
}

/// Labels of either side by level.
fn count(labels: &[SideLabel], levels: usize) -> [Vec<u32>; 2] {
    let mut counts = [vec![0u32; levels], vec![0u32; levels]];
    labels.iter().for_each(|label| counts[usize::from(label.side.min(1))][usize::from(label.level)] += 1);
    counts
}

/// Adds the number of equal pairs and of all pairs of a text: of side 0, of side 1, and between them.
fn add_pairs(counts: &[Vec<u32>; 2], pairs: &mut [f64]) {
    let [n0, n1] = [0, 1].map(|side| f64::from(counts[side].iter().sum::<u32>()));
    for (side, n) in [n0, n1].into_iter().enumerate() {
        pairs[2 * side] += counts[side].iter().map(|c| f64::from(*c) * (f64::from(*c) - 1.0)).sum::<f64>();
        pairs[2 * side + 1] += n * (n - 1.0);
    }
    pairs[4] += counts[0].iter().zip(&counts[1]).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    pairs[5] += n0 * n1;
}

/// Adds the same pairs to three matrices of levels, with the weights of alpha.
fn add_matrices(counts: &[Vec<u32>; 2], matrices: &mut [f64]) {
    let levels = counts[0].len();
    let (within, between) = matrices.split_at_mut(2 * levels * levels);
    for (counts, matrix) in counts.iter().zip(within.chunks_exact_mut(levels * levels)) {
        add_coincidences(matrix, counts, 1.0);
    }
    let [n0, n1] = [0, 1].map(|side| f64::from(counts[side].iter().sum::<u32>()));
    if n0 > 0.0 && n1 > 0.0 {
        let weight = 2.0 / (n0 + n1);
        for (c, a) in counts[0].iter().enumerate().filter(|(_, n)| **n > 0) {
            for (k, b) in counts[1].iter().enumerate() {
                between[c * levels + k] += weight * f64::from(*a) * f64::from(*b);
            }
        }
    }
}

fn figures(sums: &[f64], levels: usize, ordinal: bool) -> [f64; FIGURES] {
    let (pairs, matrices) = sums.split_at(PAIRS);
    let equal = [0, 1, 2].map(|kind| pairs[2 * kind] / pairs[2 * kind + 1]);
    let beyond = equal[2] - (equal[0] + equal[1]) / 2.0;
    let [mut first, mut second, mut between] = [f64::NAN; 3];
    if !matrices.is_empty() {
        let within = |side: usize| {
            let matrix = matrices[side * levels * levels..][..levels * levels].to_vec();
            let alphas = Coincidences::of_matrix(levels, matrix).alphas(ordinal);
            if ordinal { alphas.ordinal } else { alphas.nominal }.unwrap_or(f64::NAN)
        };
        (first, second) = (within(0), within(1));
        between = between_alpha(&matrices[2 * levels * levels..], levels, ordinal).unwrap_or(f64::NAN);
    }
    [equal[0], equal[1], equal[2], first, second, between, beyond]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::agreement;
    use crate::data::progress::Silent;
    use crate::data::{Observation, Target};
    use dissensus_domain::TargetKind;

    #[test]
    fn agreement_within_a_side_uses_only_that_side() {
        let level =
            |text: u32, person: u32| ((text * 7 + person * (person + text) * 3) % 5 / 2 + text % 2) as u16;
        let all: Vec<Observation> = (0..12)
            .flat_map(|text| {
                (0..8).map(move |annotator| Observation { text, annotator, level: level(text, annotator) })
            })
            .filter(|o| (o.text + o.annotator) % 3 > 0)
            .collect();
        let texts: Vec<Vec<SideLabel>> = (0..12)
            .map(|text| {
                let of = all.iter().filter(|o| o.text == text);
                of.map(|o| SideLabel {
                    person: o.annotator,
                    side: u8::from(o.annotator > 3),
                    level: o.level,
                    weight: 1.0,
                })
                .collect()
            })
            .collect();
        let target = Target { kind: TargetKind::Ordinal, levels: 4 };
        let found = side_agreement(&texts, 4, true, &Silent).unwrap();
        for (side, within) in [(0..4, 0), (4..8, 1)] {
            let own: Vec<Observation> = all.iter().filter(|o| side.contains(&o.annotator)).copied().collect();
            let expected = agreement(&own, 12, 8, target).unwrap();
            assert!((found.alpha[within].unwrap().value - expected.all.ordinal.unwrap()).abs() < 1e-9);
            assert!((found.equal[within].unwrap().value - expected.pairwise.unwrap()).abs() < 1e-9);
        }
        // Between sides: enumeration of pairs.
        let (mut equal, mut pairs) = (0, 0);
        for a in all.iter().filter(|o| o.annotator < 4) {
            for b in all.iter().filter(|o| o.annotator > 3 && o.text == a.text) {
                pairs += 1;
                equal += usize::from(a.level == b.level);
            }
        }
        let share = equal as f64 / pairs as f64;
        assert!((found.equal[2].unwrap().value - share).abs() < 1e-12);
        let within = (found.equal[0].unwrap().value + found.equal[1].unwrap().value) / 2.0;
        let beyond = found.beyond.unwrap();
        assert!((beyond.value - (share - within)).abs() < 1e-12);
        let (low, high) = beyond.interval.unwrap();
        assert!(low < beyond.value && beyond.value < high);
    }

    /// The same labels on a longer scale: shares of pairs and their intervals do not change, and alpha is
    /// left out.
    #[test]
    fn many_levels_have_shares_without_alpha() {
        let texts: Vec<Vec<SideLabel>> = (0..20)
            .map(|text: u32| {
                let label = |person: u32| SideLabel {
                    person,
                    side: u8::from(person > 3),
                    level: ((text * 5 + person * person * 3) % 7 / 2) as u16,
                    weight: 1.0,
                };
                (0..8).filter(|person| !(text + person).is_multiple_of(3)).map(label).collect()
            })
            .collect();
        let [few, many] = [4, 100].map(|levels| side_agreement(&texts, levels, true, &Silent).unwrap());
        assert_eq!((few.equal, few.beyond), (many.equal, many.beyond));
        let beyond = few.beyond.unwrap();
        let (low, high) = beyond.interval.unwrap();
        assert_eq!(beyond.p.unwrap() < 0.1, low > 0.0 || high < 0.0, "{beyond:?}");
        assert!(few.alpha.iter().all(Option::is_some));
        assert_eq!(many.alpha, [None; 3]);
    }

    struct Stop;
    impl Progress for Stop {
        fn report(&self, _: u64, _: Option<u64>, _: &str) {}
        fn cancelled(&self) -> bool {
            true
        }
    }

    #[test]
    fn computation_can_be_cancelled() {
        let label = SideLabel { person: 0, side: 0, level: 1, weight: 1.0 };
        let found = side_agreement(&[vec![label]], 2, false, &Stop);
        assert_eq!(found, Err(ModelError::Cancelled));
    }

    #[test]
    fn no_shared_texts_give_no_agreement() {
        let alone = |person| vec![SideLabel { person, side: u8::from(person > 0), level: 1, weight: 1.0 }];
        let found = side_agreement(&[alone(0), alone(1)], 2, false, &Silent).unwrap();
        assert_eq!(found, SideAgreement::default());
    }
}
