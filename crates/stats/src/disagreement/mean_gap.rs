//! Mean difference between the answers of two groups of people, over all texts that both labelled.

use super::crossed_jackknife::{SideLabel, jackknife};
use crate::data::ModelError;
use crate::data::progress::Progress;
use crate::math::distributions::student_quantile;
use crate::metrics::CONFIDENCE_LEVEL;

/// The gap of two sides in levels, side 1 minus side 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanGap {
    /// The mean over texts of the difference of the sides' mean levels.
    pub gap: f64,
    /// Its 95 % interval, for people like these on all texts; `None` where labels do not vary.
    pub interval: Option<(f64, f64)>,
    /// Two-sided p value of no gap (Student's t).
    pub p: Option<f64>,
    /// Its standard error, with the degrees of freedom; `None` where labels do not vary.
    pub error: Option<(f64, usize)>,
}

impl MeanGap {
    /// Its interval as one of this many gaps with a joint coverage of 95 % (Bonferroni), so that any of them
    /// may be selected.
    pub fn interval_among(&self, gaps: usize) -> Option<(f64, f64)> {
        let (error, df) = self.error?;
        let missed = (1.0 - CONFIDENCE_LEVEL) / gaps.max(1) as f64;
        let reach = student_quantile(1.0 - missed / 2.0, df) * error;
        Some((self.gap - reach, self.gap + reach))
    }

    /// Its p value with the same correction: below 5 % exactly where that interval excludes 0.
    pub fn p_among(&self, gaps: usize) -> Option<f64> {
        Some((self.p? * gaps.max(1) as f64).min(1.0))
    }
}

/// The coefficient of the side in a regression of levels on texts (a constant each) and side: the mean over
/// texts of the difference between the sides' weighted means, with weight `w_0 w_1 / (w_0 + w_1)` per text,
/// where `w` is the weight of a side's labels there. A label of a person with `n` labels has the weight
/// `1 / (1 + (n - 1) r)`, where `r` is the share of the variance between people of a side (by moments),
/// because labels of one person are correlated. The interval is that of a jackknife over people and, for the
/// `unseen` share of all texts, over texts. `None` where no text has labels of both sides. `texts` are their
/// labels; their weights are ignored.
///
/// # Errors
/// [`ModelError::Cancelled`].
pub(super) fn mean_gap(
    mut texts: Vec<Vec<SideLabel>>,
    unseen: f64,
    progress: &dyn Progress,
) -> Result<Option<MeanGap>, ModelError> {
    texts.retain(|labels| [0, 1].iter().all(|side| labels.iter().any(|label| label.side == *side)));
    if texts.is_empty() {
        return Ok(None);
    }
    texts.iter_mut().flatten().for_each(|label| label.weight = 1.0);
    let repeats = between_people(&texts, gap_of(&texts));
    let mut counts = vec![0u32; people(&texts)];
    texts.iter().flatten().for_each(|label| counts[label.person as usize] += 1);
    let weight = |label: &SideLabel| (1.0 + f64::from(counts[label.person as usize] - 1) * repeats).recip();
    texts.iter_mut().flatten().for_each(|label| label.weight = weight(label));
    let ([gap], [variance]) = jackknife(&texts, 2, add_text, |sums| [sums[0] / sums[1]], progress)?;
    let doubt = variance.doubt(gap, unseen, (f64::NEG_INFINITY, f64::INFINITY));
    Ok(Some(MeanGap {
        gap,
        interval: doubt.map(|doubt| doubt.interval),
        p: doubt.map(|doubt| doubt.p),
        error: doubt.map(|doubt| doubt.error),
    }))
}

fn people(texts: &[Vec<SideLabel>]) -> usize {
    texts.iter().flatten().map(|label| label.person as usize + 1).max().unwrap_or(0)
}

/// Weight and weighted mean level of each side.
fn sides(labels: &[SideLabel]) -> [(f64, f64); 2] {
    let mut sums = [(0.0, 0.0); 2];
    for label in labels {
        let (weight, level) = &mut sums[usize::from(label.side.min(1))];
        *weight += label.weight;
        *level += label.weight * f64::from(label.level);
    }
    sums.map(|(weight, level)| (weight, level / weight))
}

fn add_text(labels: &[SideLabel], sums: &mut [f64]) {
    let [(w0, mean0), (w1, mean1)] = sides(labels);
    if w0 > 0.0 && w1 > 0.0 {
        let weight = w0 * w1 / (w0 + w1);
        sums[0] += weight * (mean1 - mean0);
        sums[1] += weight;
    }
}

fn gap_of(texts: &[Vec<SideLabel>]) -> f64 {
    let mut sums = [0.0; 2];
    texts.iter().for_each(|labels| add_text(labels, &mut sums));
    sums[0] / sums[1]
}

/// The share of the variance about texts and sides that is between people, 0 to 1: the intraclass correlation
/// of one-way analysis of variance with unequal numbers (Searle, Casella and McCulloch 1992, section 3.6).
fn between_people(texts: &[Vec<SideLabel>], gap: f64) -> f64 {
    let mut of_people = vec![(0.0, 0.0, 0.0); people(texts)];
    for labels in texts {
        let level = |label: &SideLabel| f64::from(label.level) - gap * f64::from(label.side);
        let centre = labels.iter().map(level).sum::<f64>() / labels.len() as f64;
        for label in labels {
            let residual = level(label) - centre;
            let (n, sum, squares) = &mut of_people[label.person as usize];
            *n += 1.0;
            *sum += residual;
            *squares += residual * residual;
        }
    }
    of_people.retain(|(n, ..)| *n > 0.0);
    let all: f64 = of_people.iter().map(|(n, ..)| n).sum();
    let k = of_people.len() as f64;
    if k < 2.0 || all <= k {
        return 0.0;
    }
    let mean = of_people.iter().map(|(_, sum, _)| sum).sum::<f64>() / all;
    let between: f64 =
        of_people.iter().map(|(n, sum, _)| n * (sum / n - mean).powi(2)).sum::<f64>() / (k - 1.0);
    let within: f64 =
        of_people.iter().map(|(n, sum, squares)| squares - sum * sum / n).sum::<f64>() / (all - k);
    let size = (all - of_people.iter().map(|(n, ..)| n * n).sum::<f64>() / all) / (k - 1.0);
    let variance = ((between - within) / size).max(0.0);
    let share = variance / (variance + within.max(0.0));
    if share.is_finite() { share } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::progress::Silent;
    use nalgebra::{DMatrix, DVector};

    /// Texts that people of both sides label with different diligence; one text only has labels of side 0.
    fn texts() -> Vec<Vec<SideLabel>> {
        let text = |of: &[(u32, u16)]| {
            let label =
                |&(person, level)| SideLabel { person, side: u8::from(person > 2), level, weight: 1.0 };
            of.iter().map(label).collect()
        };
        vec![
            text(&[(0, 1), (1, 2), (3, 4), (4, 3)]),
            text(&[(0, 0), (2, 1), (4, 1)]),
            text(&[(0, 2), (1, 2)]),
            text(&[(1, 3), (2, 4), (3, 4), (4, 4), (5, 2)]),
            text(&[(0, 0), (3, 1), (5, 0)]),
        ]
    }

    /// Regression of levels on a constant for each text and the side, by the normal equations.
    fn regression(texts: &[Vec<SideLabel>], weight: impl Fn(&SideLabel) -> f64) -> f64 {
        let n = texts.len() + 1;
        let (mut gram, mut moments) = (DMatrix::zeros(n, n), DVector::zeros(n));
        for (at, label) in
            texts.iter().enumerate().flat_map(|(at, labels)| labels.iter().map(move |l| (at, l)))
        {
            let mut row = DVector::zeros(n);
            row[at] = 1.0;
            row[n - 1] = f64::from(label.side);
            gram.ger(weight(label), &row, &row, 1.0);
            moments.axpy(weight(label) * f64::from(label.level), &row, 1.0);
        }
        gram.svd(true, true).solve(&moments, 1e-9).unwrap()[n - 1]
    }

    #[test]
    fn mean_gap_equals_the_fixed_effects_coefficient() {
        let texts = texts();
        assert!((gap_of(&texts) - regression(&texts, |_| 1.0)).abs() < 1e-9);
        let shared: Vec<_> = texts.iter().filter(|t| t.iter().any(|l| l.side == 1)).cloned().collect();
        let repeats = between_people(&shared, gap_of(&shared));
        assert!(repeats > 0.0 && repeats < 1.0, "{repeats}");
        let count = |person| shared.iter().flatten().filter(|l| l.person == person).count() as f64;
        let weight = |label: &SideLabel| 1.0 / (1.0 + (count(label.person) - 1.0) * repeats);
        let found = mean_gap(texts, 0.0, &Silent).unwrap().unwrap();
        assert!((found.gap - regression(&shared, weight)).abs() < 1e-9, "{found:?}");
        let (one, ten) = (found.interval_among(1).unwrap(), found.interval_among(10).unwrap());
        assert_eq!(Some(one), found.interval);
        assert!(ten.0 < one.0 && one.1 < ten.1, "{ten:?} {one:?}");
    }

    /// The jackknife against one that recomputes everything for each unit left out.
    #[test]
    fn variance_is_the_jackknife() {
        let shared: Vec<_> = texts().into_iter().filter(|t| t.iter().any(|l| l.side == 1)).collect();
        let (_, [variance]) = jackknife(&shared, 2, add_text, |sums| [sums[0] / sums[1]], &Silent).unwrap();
        let without = |leave: &dyn Fn(usize, &SideLabel) -> bool| {
            let left: Vec<Vec<SideLabel>> = shared
                .iter()
                .enumerate()
                .map(|(at, labels)| labels.iter().filter(|label| !leave(at, label)).copied().collect())
                .collect();
            (gap_of(&left) - gap_of(&shared)).powi(2)
        };
        let of_side = |people: [u32; 3]| -> f64 {
            people.iter().map(|person| without(&|_, label| label.person == *person)).sum::<f64>() * 2.0 / 3.0
        };
        let texts: f64 = (0..4).map(|text| without(&|at, _| at == text)).sum::<f64>() * 3.0 / 4.0;
        let moves: Vec<f64> = shared
            .iter()
            .enumerate()
            .flat_map(|(at, labels)| labels.iter().map(move |label| (at, label.person)))
            .map(|(text, person)| without(&|at, label| at == text && label.person == person))
            .filter(|moved| *moved > 0.0)
            .collect();
        let labels = moves.iter().sum::<f64>() * (moves.len() - 1) as f64 / moves.len() as f64;
        let (texts, counted) = (0.5 * (texts - labels).max(0.0), 4.0);
        let (first, second) = (of_side([0, 1, 2]), of_side([3, 4, 5]));
        let total = first + second + texts;
        let df =
            total * total / (first * first / 2.0 + second * second / 2.0 + texts * texts / (counted - 1.0));
        let doubt = variance.doubt(0.0, 0.5, (-9.0, 9.0)).unwrap();
        let reach = student_quantile(0.975, df as usize) * total.sqrt();
        assert!((doubt.interval.1 - reach).abs() < 1e-9, "{doubt:?} {reach}");
        assert_eq!(doubt.p, 1.0);
    }

    #[test]
    fn constant_labels_have_no_interval() {
        let mut texts = texts();
        texts.iter_mut().flatten().for_each(|label| label.level = 2);
        let found = mean_gap(texts, 0.0, &Silent).unwrap().unwrap();
        assert_eq!((found.gap, found.interval, found.p), (0.0, None, None));
        assert_eq!(mean_gap(Vec::new(), 0.0, &Silent), Ok(None));
    }
}
