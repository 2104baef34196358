//! Comparison of one annotator with the others: agreement, and unusual patterns.

use super::counts::{checked, counts};
use crate::data::{ModelError, Observation, Target};
use crate::math::distributions::{student_quantile, student_tail};
use crate::metrics::CONFIDENCE_LEVEL;

/// Comparison of one annotator with all others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgreementWithOthers {
    /// Number of texts that this annotator shares with others.
    pub texts: usize,
    /// Share of equal pairs of this annotator's label and another one's on the same text; `None` without
    /// shared texts.
    pub equal: Option<f64>,
    /// Its 95 % interval over texts like these; `None` with fewer than
    /// [`AgreementWithOthers::MIN_TEXTS`] shared texts, or where nothing varies.
    pub interval: Option<(f64, f64)>,
    /// Unusual patterns. Among people who judge as the others do, each flag is raised for at most 1 %.
    pub flags: Vec<AnnotatorFlag>,
}

/// An unusual pattern of an annotator, with the underlying numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnnotatorFlag {
    /// Every label is one level.
    OneLevel {
        /// The level, counted from 0.
        level: u16,
        /// Number of labels.
        labels: usize,
        /// Probability that an annotator whose use of this level varies like the others' gives it every time.
        chance: f64,
    },
    /// The labels are negatively correlated with those of the others.
    Reversed {
        /// Pearson's correlation with the others' mean level on the same text.
        r: f64,
        /// Number of shared texts.
        texts: usize,
        /// One-sided p value of no correlation.
        p: f64,
    },
}

impl AgreementWithOthers {
    /// Minimum number of shared texts for an interval.
    pub const MIN_TEXTS: usize = 20;
}

/// Largest share of people with usual judgements for whom a flag is raised.
const FALSE_ALARMS: f64 = 0.01;
/// Minimum number of other annotators to estimate how people use a level.
const MIN_OTHERS: usize = 5;
/// Minimum number of shared texts for a correlation.
const MIN_CORRELATED: usize = 10;

/// Compares every annotator with all others. Ordered levels are correlated. Costs a few steps for each label.
///
/// # Errors
/// Invalid observations or scale.
pub fn compare_with_others(
    observations: &[Observation],
    texts: usize,
    annotators: usize,
    target: Target,
) -> Result<Vec<AgreementWithOthers>, ModelError> {
    let levels = target.levels;
    let sorted = checked(observations, texts, annotators, target)?;
    let counts = counts(&sorted, texts, levels);
    let mut own: Vec<Vec<Observation>> = vec![Vec::new(); annotators];
    sorted.iter().for_each(|o| own[o.annotator as usize].push(*o));
    let used: Vec<Vec<u32>> = own.iter().map(|labels| used(labels, levels)).collect();
    let everyone = Use::new(&used, levels);
    let one = |(labels, used): (&Vec<Observation>, &Vec<u32>)| {
        let shared = shared(labels, &counts, levels);
        let (equal, interval) = agreement(&shared);
        let one_level = one_level(used, &everyone);
        let reversed = if target.kind.is_ordered() { reversed(&shared) } else { None };
        AgreementWithOthers {
            texts: shared.len(),
            equal,
            interval,
            flags: one_level.into_iter().chain(reversed).collect(),
        }
    };
    Ok(own.iter().zip(&used).map(one).collect())
}

/// A label of an annotator on a text that others labelled, too.
struct SharedLabel {
    level: f64,
    /// Mean level of the others, and the number of them who agree.
    others: f64,
    equal: f64,
    pairs: f64,
}

fn shared(labels: &[Observation], counts: &[u32], levels: usize) -> Vec<SharedLabel> {
    let of = |o: &Observation| {
        let text = &counts[o.text as usize * levels..(o.text as usize + 1) * levels];
        let level = usize::from(o.level);
        let pairs = f64::from(text.iter().sum::<u32>() - 1);
        let sum: f64 = text.iter().enumerate().map(|(c, n)| c as f64 * f64::from(*n)).sum();
        let others = (sum - level as f64) / pairs;
        (pairs > 0.0).then(|| SharedLabel {
            level: level as f64,
            others,
            equal: f64::from(text[level] - 1),
            pairs,
        })
    };
    labels.iter().filter_map(of).collect()
}

/// Number of labels of each level.
fn used(labels: &[Observation], levels: usize) -> Vec<u32> {
    let mut used = vec![0; levels];
    labels.iter().for_each(|o| used[usize::from(o.level)] += 1);
    used
}

/// The share of equal pairs, with an interval of Student's t by the jackknife over texts.
fn agreement(shared: &[SharedLabel]) -> (Option<f64>, Option<(f64, f64)>) {
    let sum = |of: fn(&SharedLabel) -> f64| shared.iter().map(of).sum::<f64>();
    let (equal, pairs) = (sum(|s| s.equal), sum(|s| s.pairs));
    if shared.is_empty() {
        return (None, None);
    }
    let share = equal / pairs;
    if shared.len() < AgreementWithOthers::MIN_TEXTS {
        return (Some(share), None);
    }
    let n = shared.len() as f64;
    let left = |s: &SharedLabel| ((equal - s.equal) / (pairs - s.pairs) - share).powi(2);
    let variance = (n - 1.0) / n * shared.iter().map(left).sum::<f64>();
    let reach = student_quantile(0.5 + 0.5 * CONFIDENCE_LEVEL, shared.len() - 1) * variance.sqrt();
    let interval = (reach > 0.0).then(|| ((share - reach).max(0.0), (share + reach).min(1.0)));
    (Some(share), interval)
}

/// Flags labels that are all on one level, where that is improbable: others' shares of the level are treated
/// as draws from a beta distribution, so that the probability of `n` such labels is that of the beta-binomial
/// distribution. The false alarms are divided among the levels.
fn one_level(own: &[u32], everyone: &[Use]) -> Option<AnnotatorFlag> {
    let labels: u32 = own.iter().sum();
    let level = own.iter().position(|n| *n == labels).filter(|_| labels > 0)?;
    let n = f64::from(labels);
    let others = everyone[level].without(n, n);
    if others.people < MIN_OTHERS as f64 {
        return None;
    }
    let (a, b) = others.beta()?;
    let log = libm::lgamma(a + n) - libm::lgamma(a) + libm::lgamma(a + b) - libm::lgamma(a + b + n);
    let chance = log.exp();
    (chance < FALSE_ALARMS / own.len() as f64).then_some(AnnotatorFlag::OneLevel {
        level: level as u16,
        labels: labels as usize,
        chance,
    })
}

/// Use of one level by all people, as sums from which one person can be subtracted.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    people: f64,
    labels: f64,
    /// Labels of each person, squared.
    squares: f64,
    hits: f64,
    /// Hits of each person, squared and divided by that person's labels.
    shares: f64,
}

impl Use {
    /// For each level; people without labels are ignored.
    fn new(used: &[Vec<u32>], levels: usize) -> Vec<Self> {
        let mut all = vec![Self::default(); levels];
        for used in used {
            let n = f64::from(used.iter().sum::<u32>());
            for (all, hits) in all.iter_mut().zip(used).filter(|_| n > 0.0) {
                *all = all.with(f64::from(*hits), n, 1.0);
            }
        }
        all
    }

    fn with(self, hits: f64, n: f64, sign: f64) -> Self {
        Self {
            people: self.people + sign,
            labels: self.labels + sign * n,
            squares: self.squares + sign * n * n,
            hits: self.hits + sign * hits,
            shares: self.shares + sign * hits * hits / n,
        }
    }

    fn without(self, hits: f64, n: f64) -> Self {
        self.with(hits, n, -1.0)
    }

    /// The beta distribution of people's shares (Kleinman 1973: mean and correlation of two labels of a
    /// person by weighted moments). Half a hit and half a miss are added to the mean, so that nothing is
    /// impossible.
    fn beta(self) -> Option<(f64, f64)> {
        let Self { people, labels, squares, hits, shares } = self;
        let p = (hits + 0.5) / (labels + 1.0);
        let spread = shares - 2.0 * p * hits + p * p * labels;
        // Expected: p (1 - p) ((k - 1) + r (N - sum of n^2 / N - (k - 1))).
        let r = (spread / (p * (1.0 - p)) - (people - 1.0)) / (labels - squares / labels - (people - 1.0));
        if !r.is_finite() {
            return None;
        }
        let size = 1.0 / r.clamp(1e-4, 0.99) - 1.0;
        Some((p * size, (1.0 - p) * size))
    }
}

/// Flags a correlation with the others' mean that is significantly below 0.
fn reversed(shared: &[SharedLabel]) -> Option<AnnotatorFlag> {
    let n = shared.len() as f64;
    if shared.len() < MIN_CORRELATED {
        return None;
    }
    let mean = |of: fn(&SharedLabel) -> f64| shared.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|s| s.level), mean(|s| s.others));
    let sum = |of: &dyn Fn(&SharedLabel) -> f64| shared.iter().map(of).sum::<f64>();
    let (xx, yy) = (sum(&|s| (s.level - x).powi(2)), sum(&|s| (s.others - y).powi(2)));
    let r = sum(&|s| (s.level - x) * (s.others - y)) / (xx * yy).sqrt();
    if !r.is_finite() || r >= 0.0 {
        return None;
    }
    let df = shared.len() - 2;
    let t = r * (df as f64 / (1.0 - r * r).max(1e-12)).sqrt();
    let p = student_tail(t, df) / 2.0;
    (p < FALSE_ALARMS).then_some(AnnotatorFlag::Reversed { r, texts: shared.len(), p })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synthetic::simulate;
    use dissensus_domain::TargetKind;

    /// People who judge according to the model, on projects with many texts and few, five levels and two:
    /// each flag for at most 1 % of them.
    #[test]
    fn model_consistent_people_are_rarely_flagged() {
        for (texts, people, levels, each) in
            [(200, 40, 5, 30), (150, 40, 2, 15), (300, 30, 2, 60), (80, 40, 5, 10)]
        {
            let (mut one_level, mut reversed, mut all) = (0, 0, 0);
            for seed in 0..40 {
                let world = simulate(texts, people, levels, 4, each, 700 + seed);
                let found = compare_with_others(&world.observations, texts, people, world.target).unwrap();
                all += found.len();
                for flag in found.iter().flat_map(|person| &person.flags) {
                    match flag {
                        AnnotatorFlag::OneLevel { .. } => one_level += 1,
                        AnnotatorFlag::Reversed { .. } => reversed += 1,
                    }
                }
            }
            assert!(
                100 * one_level <= all,
                "one level: {one_level} of {all}, {levels} levels, {each} labels"
            );
            assert!(100 * reversed <= all, "reversed: {reversed} of {all}, {levels} levels, {each} labels");
        }
    }

    /// In each of twenty projects one person answers from the opposite end of the scale, and one always gives
    /// the middle.
    #[test]
    fn reversed_and_constant_annotators_are_found() {
        let (mut turned, mut still) = (0, 0);
        for seed in 0..20 {
            let mut world = simulate(200, 30, 5, 4, 60, 40 + seed);
            for o in &mut world.observations {
                match o.annotator {
                    0 => o.level = 4 - o.level,
                    1 => o.level = 2,
                    _ => {}
                }
            }
            let found = compare_with_others(&world.observations, 200, 30, world.target).unwrap();
            let has =
                |who: usize, is: fn(&AnnotatorFlag) -> bool| usize::from(found[who].flags.iter().any(is));
            turned += has(0, |flag| matches!(flag, AnnotatorFlag::Reversed { r, .. } if *r < 0.0));
            still += has(1, |flag| matches!(flag, AnnotatorFlag::OneLevel { level: 2, labels: 60, .. }));
        }
        assert!(turned >= 15, "{turned} of 20");
        assert_eq!(still, 20);
    }

    /// Two texts, by hand: person 0 agrees with one of two and with none of one.
    #[test]
    fn agreement_with_others_counts_pairs() {
        let o = |text, annotator, level| Observation { text, annotator, level };
        let all = [o(0, 0, 1), o(0, 1, 1), o(0, 2, 0), o(1, 0, 0), o(1, 1, 1), o(2, 0, 1)];
        let target = Target { kind: TargetKind::Binary, levels: 2 };
        let found = compare_with_others(&all, 3, 4, target).unwrap();
        assert_eq!((found[0].texts, found[0].interval), (2, None));
        assert!((found[0].equal.unwrap() - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(found[3], AgreementWithOthers::default());
    }

    /// The interval of a share of texts is close to that of the mean of as many independent draws.
    #[test]
    fn interval_over_texts_covers() {
        let mut held = 0;
        for seed in 0..300u64 {
            // Agreement with one other annotator with probability 0.7, in 40 texts.
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678;
            let mut shared = Vec::new();
            for _ in 0..40 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let equal = f64::from(u8::from(((state >> 33) % 1000) < 700));
                shared.push(SharedLabel { level: 0.0, others: 0.0, equal, pairs: 1.0 });
            }
            let (share, interval) = agreement(&shared);
            let (low, high) = interval.unwrap();
            assert!(low <= share.unwrap() && share.unwrap() <= high);
            held += usize::from(low <= 0.7 && 0.7 <= high);
        }
        assert!((255..=285).contains(&held), "{held} of 300");
    }
}
