//! Uncertainty of a figure that is computed from labels of people on texts, where both people and texts are
//! samples.

use crate::data::ModelError;
use crate::data::progress::Progress;
use crate::math::distributions::{student_quantile, student_tail};
use crate::metrics::CONFIDENCE_LEVEL;

/// One label of a person on a side of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SideLabel {
    /// Index of the person, without gaps, over both sides.
    pub(super) person: u32,
    /// 0 or 1.
    pub(super) side: u8,
    /// Counted from 0.
    pub(super) level: u16,
    /// Weight of the label.
    pub(super) weight: f64,
}

/// Variances of a figure by source.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Variance {
    /// Over the people of either side, with the number of those who affect the figure.
    people: [(f64, usize); 2],
    /// Over texts.
    texts: (f64, usize),
    /// Over single labels, which the other two include.
    labels: f64,
}

/// A 95 % interval and the two-sided p value of 0, both from one distribution (Student's t): the interval
/// excludes 0 exactly where `p` is below 5 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Doubt {
    pub(super) interval: (f64, f64),
    pub(super) p: f64,
    /// Standard error, with its degrees of freedom.
    pub(super) error: (f64, usize),
}

/// Variance below this share of the squared figure is rounding.
const ROUNDING: f64 = 1e-18;

/// The figures that `figures` computes from the sum over `texts` of `sums` of one text's labels, and their
/// variances by the delete-one jackknife: of each person, of each text and of each label in turn (Efron and
/// Stein 1981). The variances over people and over texts both include the contribution of single labels, so
/// that it is subtracted once ([`Variance::total`]). `width` is the number of values that `sums` writes, `N`
/// the number of figures; an undefined figure is NaN. Costs one call of both functions per label, and memory
/// for `width` numbers per person.
///
/// # Errors
/// [`ModelError::Cancelled`].
pub(super) fn jackknife<const N: usize>(
    texts: &[Vec<SideLabel>],
    width: usize,
    sums: impl Fn(&[SideLabel], &mut [f64]),
    figures: impl Fn(&[f64]) -> [f64; N],
    progress: &dyn Progress,
) -> Result<([f64; N], [Variance; N]), ModelError> {
    let mut total = vec![0.0; width];
    let people = texts.iter().flatten().map(|label| label.person as usize + 1).max().unwrap_or(0);
    let mut without = vec![Vec::new(); people];
    let mut side_of = vec![0; people];
    for labels in texts {
        stop(progress)?;
        sums(labels, &mut total);
    }
    let whole = figures(&total);
    let (mut of_text, mut of_label) = ([Spread::default(); N], [Spread::default(); N]);
    let [mut own, mut left, mut rest] = [0, 1, 2].map(|_| vec![0.0; width]);
    let mut others = Vec::new();
    for labels in texts {
        stop(progress)?;
        own.fill(0.0);
        sums(labels, &mut own);
        left.iter_mut().zip(&total).zip(&own).for_each(|((left, total), own)| *left = total - own);
        add(&mut of_text, &figures(&left), &whole);
        for (at, label) in labels.iter().enumerate() {
            others.clear();
            others
                .extend(labels.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, label)| *label));
            rest.fill(0.0);
            sums(&others, &mut rest);
            let person = label.person as usize;
            side_of[person] = usize::from(label.side.min(1));
            without[person].resize(width, 0.0);
            for (((left, total), own), (rest, without)) in
                left.iter_mut().zip(&total).zip(&own).zip(rest.iter().zip(&mut without[person]))
            {
                *left = total - own + rest;
                *without += own - rest;
            }
            add(&mut of_label, &figures(&left), &whole);
        }
    }
    let mut of_people = [[Spread::default(); N]; 2];
    for (without, side) in without.iter().zip(side_of).filter(|(without, _)| !without.is_empty()) {
        stop(progress)?;
        left.iter_mut().zip(&total).zip(without).for_each(|((left, total), out)| *left = total - out);
        add(&mut of_people[side], &figures(&left), &whole);
    }
    let variance = |at: usize| Variance {
        people: [of_people[0][at], of_people[1][at]].map(|spread| (spread.variance(), spread.count)),
        texts: (of_text[at].variance(), of_text[at].count),
        labels: of_label[at].variance(),
    };
    Ok((whole, std::array::from_fn(variance)))
}

fn stop(progress: &dyn Progress) -> Result<(), ModelError> {
    if progress.cancelled() { Err(ModelError::Cancelled) } else { Ok(()) }
}

/// Squared changes of a figure when one unit is left out.
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    squares: f64,
    /// Number of units that affect the figure.
    count: usize,
}

impl Spread {
    fn variance(self) -> f64 {
        let n = self.count.max(1) as f64;
        self.squares * (n - 1.0) / n
    }
}

/// If leaving out a unit makes the figure undefined, its spread is undefined as well.
fn add<const N: usize>(spreads: &mut [Spread; N], left: &[f64; N], whole: &[f64; N]) {
    for ((spread, left), whole) in spreads.iter_mut().zip(left).zip(whole) {
        let moved = (left - whole).powi(2);
        if moved != 0.0 {
            spread.squares += moved;
            spread.count += 1;
        }
    }
}

impl Variance {
    /// Parts of the variance of a figure about people like these, where `unseen` is the share of the target
    /// texts that are not among these (0: these texts; 1: texts like these).
    fn parts(&self, unseen: f64) -> [(f64, usize); 3] {
        let texts = unseen * (self.texts.0 - self.labels).max(0.0);
        [self.people[0], self.people[1], (texts, self.texts.1)]
    }

    /// A 95 % interval around `figure`, limited to `range`, with the degrees of freedom of Welch and
    /// Satterthwaite (rounded down): those of a side are its people minus one. `None` where nothing varies or
    /// something is undefined.
    pub(super) fn doubt(&self, figure: f64, unseen: f64, range: (f64, f64)) -> Option<Doubt> {
        let parts = self.parts(unseen);
        let total: f64 = parts.iter().map(|(variance, _)| variance).sum();
        if !figure.is_finite() || !total.is_finite() || total <= ROUNDING * (1.0 + figure * figure) {
            return None;
        }
        let of = |(variance, count): &(f64, usize)| variance * variance / (count.max(&2) - 1) as f64;
        let df = (total * total / parts.iter().map(of).sum::<f64>()).max(1.0) as usize;
        let reach = student_quantile(0.5 + 0.5 * CONFIDENCE_LEVEL, df) * total.sqrt();
        let (low, high) = ((figure - reach).max(range.0), (figure + reach).min(range.1));
        let p = student_tail(figure / total.sqrt(), df);
        Some(Doubt { interval: (low.min(figure), high.max(figure)), p, error: (total.sqrt(), df) })
    }
}
