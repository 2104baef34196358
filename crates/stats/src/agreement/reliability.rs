//! Agreement of all annotators by the usual coefficients, with intervals for people like these and for these
//! people.

use super::coefficients::{Shares, TextShares, Weights};
use super::coincidence::Coincidences;
use super::counts::{checked, counts};
use super::crossed::{LeftOut, unless_cancelled};
use crate::data::ModelError;
use crate::data::progress::Progress;
use crate::data::{Observation, Target};
use crate::metrics::{BootstrapOptions, Cluster, Figure, Interval, resample};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A coefficient with its intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// The coefficient; `None` where it is not defined.
    pub value: Option<f64>,
    /// Interval for people and texts like these, which contains the coefficient and `over_texts`; `None`
    /// where `over_texts` is, and with fewer than five people.
    pub interval: Option<Interval>,
    /// Interval for these people on texts like these, over resamples of texts, which contains the
    /// coefficient; `None` without a bootstrap, with fewer than 20 texts with two labels or more (or 10 that
    /// have a label other than the most frequent level), or where nothing varies.
    pub over_texts: Option<Interval>,
}

/// The population that an interval refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalScope {
    /// People and texts like these: both are samples.
    PeopleLikeThese,
    /// These people, on texts like these.
    ThesePeople,
}

impl IntervalScope {
    /// Text to follow "for".
    pub fn words(self) -> &'static str {
        match self {
            Self::PeopleLikeThese => "people like these",
            Self::ThesePeople => "these people",
        }
    }
}

impl Estimate {
    /// The interval to show with the coefficient: the wider one, for people like these, unless there are too
    /// few people for it.
    pub fn shown(&self) -> Option<(Interval, IntervalScope)> {
        let wider = self.interval.map(|interval| (interval, IntervalScope::PeopleLikeThese));
        wider.or(self.over_texts.map(|interval| (interval, IntervalScope::ThesePeople)))
    }
}

/// Agreement of all annotators: 1 is perfect, 0 the agreement expected by chance, which each coefficient
/// defines differently.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reliability {
    /// Number of texts with labels, the resampled units.
    pub texts: usize,
    /// Number of these texts with two labels or more.
    pub pairable: usize,
    /// Krippendorff's alpha, nominal difference (definitions in [`super::Alphas`]).
    pub alpha_nominal: Estimate,
    /// Krippendorff's alpha, ordinal difference; ordinal scales only.
    pub alpha_ordinal: Estimate,
    /// Krippendorff's alpha, interval difference; ordinal scales only.
    pub alpha_interval: Estimate,
    /// Fleiss' kappa (Fleiss 1971). It was designed for the same number of labels on every text; with unequal
    /// numbers this is the usual extension (Gwet 2014, Handbook of inter-rater reliability, 4th ed.): the
    /// share of agreeing pairs is averaged over texts with two labels or more, every text counting the same,
    /// and the share of each level over all texts with labels, every text counting the same. `None` where
    /// only one level is used.
    pub fleiss: Estimate,
    /// Gwet's AC1 (Gwet 2008, Computing inter-rater reliability and its variance in the presence of high
    /// agreement), which stays near the observed agreement where one level is rare. Unequal numbers of labels
    /// as for `fleiss`; the number of levels is that of the scale, also if some were never used.
    pub ac1: Estimate,
    /// Gwet's AC2 with linear weights (Gwet 2014); ordinal scales only.
    pub ac2_linear: Estimate,
    /// Gwet's AC2 with quadratic weights; ordinal scales only.
    pub ac2_quadratic: Estimate,
    /// Options of the intervals.
    pub bootstrap: Option<BootstrapOptions>,
}

impl Reliability {
    /// All coefficients, each with its name as shown to users.
    pub fn coefficients(&self) -> [(&'static str, &Estimate); COEFFICIENTS] {
        [
            ("Krippendorff's alpha, nominal", &self.alpha_nominal),
            ("Krippendorff's alpha, ordinal", &self.alpha_ordinal),
            ("Krippendorff's alpha, interval", &self.alpha_interval),
            ("Fleiss' kappa", &self.fleiss),
            ("Gwet's AC1", &self.ac1),
            ("Gwet's AC2, linear", &self.ac2_linear),
            ("Gwet's AC2, quadratic", &self.ac2_quadratic),
        ]
    }
}

/// Agreement in `observations` (any order) among `annotators` annotators on `texts` texts. Intervals, if
/// requested: for these people by resampling whole texts (as Zapf et al. 2016 recommend in Measuring
/// inter-rater reliability for nominal data; not Krippendorff's own bootstrap, which draws pairs), for people
/// like these by also leaving out each person. No intervals with fewer than 20 texts with two labels.
///
/// # Errors
/// Invalid observations or scale; [`ModelError::Confidence`], [`ModelError::NoResamples`],
/// [`ModelError::Cancelled`].
pub fn reliability(
    observations: &[Observation],
    texts: usize,
    annotators: usize,
    target: Target,
    bootstrap: Option<&BootstrapOptions>,
    progress: &dyn Progress,
) -> Result<Reliability, ModelError> {
    if let Some(options) = bootstrap {
        options.check()?;
    }
    let sorted = checked(observations, texts, annotators, target)?;
    let mut counts = counts(&sorted, texts, target.levels);
    let left_out = match bootstrap {
        Some(_) => left_out(&sorted, &mut counts, annotators, target, progress)?,
        None => std::array::from_fn(|_| LeftOut::default()),
    };
    let ordinal = target.kind.has_distances();
    let patterns = Pattern::all(&counts, target.levels);
    let sizes: Vec<u32> = patterns.iter().map(|p| p.texts).collect();
    let once: Vec<f64> = sizes.iter().map(|n| f64::from(*n)).collect();
    let whole = coefficients(&patterns, &once, target.levels, ordinal);
    let texts: usize = sizes.iter().map(|n| *n as usize).sum();
    let pairable = patterns.iter().filter(|p| p.labels() > 1).map(|p| p.texts as usize).sum();
    let frequent = (0..target.levels).max_by_key(|&l| patterns.iter().map(|p| p.labels_of(l)).sum::<u64>());
    let off = |p: &&Pattern<'_>| p.labels() > 1 && frequent.is_some_and(|l| p.counts[l] < p.labels());
    let deciding = patterns.iter().filter(off).map(|p| p.texts as usize).sum::<usize>();
    let mut intervals = [(None, None); COEFFICIENTS];
    if let Some(options) =
        bootstrap.filter(|_| pairable >= Cluster::Texts.least() && deciding >= MIN_DECIDING)
    {
        let draws = resample(&sizes, options, "agreement", progress, |weights| {
            coefficients(&patterns, weights, target.levels, ordinal)
        })?;
        for (at, interval) in intervals.iter_mut().enumerate() {
            let Some(estimate) = whole[at] else { continue };
            let figure = Figure { estimate, clusters: deciding, range: (f64::NEG_INFINITY, 1.0) };
            let over_texts = Interval::new(figure, draws.iter().map(|d| d[at]), options);
            let wider = over_texts.and_then(|narrow| left_out[at].interval(&figure, &narrow, options));
            *interval = (wider, over_texts);
        }
    }
    let [alpha_nominal, alpha_ordinal, alpha_interval, fleiss, ac1, ac2_linear, ac2_quadratic] =
        std::array::from_fn(|at| Estimate {
            value: whole[at],
            interval: intervals[at].0,
            over_texts: intervals[at].1,
        });
    Ok(Reliability {
        texts,
        pairable,
        alpha_nominal,
        alpha_ordinal,
        alpha_interval,
        fleiss,
        ac1,
        ac2_linear,
        ac2_quadratic,
        bootstrap: bootstrap.copied(),
    })
}

const COEFFICIENTS: usize = 7;

/// Minimum number of texts with another level than the most frequent one: where nearly all labels are one
/// level, these few texts decide, and with fewer their spread is too uncertain.
pub(super) const MIN_DECIDING: usize = 10;

/// Texts that have the same number of labels of each level: identical for every coefficient, so that the cost
/// of a resample depends on the number of patterns, not of texts.
struct Pattern<'a> {
    counts: &'a [u32],
    shares: TextShares,
    texts: u32,
}

impl<'a> Pattern<'a> {
    /// Patterns of all texts with labels, in the order of their counts; `counts` is texts x levels.
    fn all(counts: &'a [u32], levels: usize) -> Vec<Self> {
        let mut texts: BTreeMap<&[u32], u32> = BTreeMap::new();
        counts.chunks_exact(levels).for_each(|counts| *texts.entry(counts).or_default() += 1);
        let pattern =
            |(counts, texts)| TextShares::new(counts).map(|shares| Pattern { counts, shares, texts });
        texts.into_iter().filter_map(pattern).collect()
    }

    /// Number of labels of one of its texts.
    fn labels(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// Number of labels of a level on all of its texts.
    fn labels_of(&self, level: usize) -> u64 {
        u64::from(self.counts[level]) * u64::from(self.texts)
    }
}

/// All coefficients without each person who shares a text, and without each label. `counts` are those of all
/// labels, and are restored at the end.
fn left_out(
    sorted: &[Observation],
    counts: &mut [u32],
    annotators: usize,
    target: Target,
    progress: &dyn Progress,
) -> Result<[LeftOut; COEFFICIENTS], ModelError> {
    let (levels, ordinal) = (target.levels, target.kind.has_distances());
    let mut found: [LeftOut; COEFFICIENTS] = std::array::from_fn(|_| LeftOut::default());
    let mut all = Sums::new(levels);
    let patterns = Pattern::all(counts, levels);
    patterns.iter().for_each(|pattern| all.add(pattern.counts, f64::from(pattern.texts)));
    let whole = all.coefficients(ordinal);
    for pattern in &patterns {
        unless_cancelled(progress)?;
        let mut rest = pattern.counts.to_vec();
        for level in (0..levels).filter(|level| pattern.counts[*level] > 0) {
            rest[level] -= 1;
            let mut without = all.clone();
            without.add(pattern.counts, -1.0);
            without.add(&rest, 1.0);
            rest[level] += 1;
            let labels = f64::from(pattern.texts) * f64::from(pattern.counts[level]);
            for ((left, value), whole) in found.iter_mut().zip(without.coefficients(ordinal)).zip(whole) {
                left.label(whole.unwrap_or(f64::NAN), value, labels);
            }
        }
    }
    drop(patterns);
    let mut own: Vec<Vec<Observation>> = vec![Vec::new(); annotators];
    sorted.iter().for_each(|o| own[o.annotator as usize].push(*o));
    for labels in own {
        unless_cancelled(progress)?;
        let mut without = all.clone();
        let mut shares_a_text = false;
        for o in labels {
            let text = &mut counts[o.text as usize * levels..(o.text as usize + 1) * levels];
            shares_a_text |= text.iter().sum::<u32>() > 1;
            without.add(text, -1.0);
            text[usize::from(o.level)] -= 1;
            without.add(text, 1.0);
            text[usize::from(o.level)] += 1;
        }
        if shares_a_text {
            found.iter_mut().zip(without.coefficients(ordinal)).for_each(|(left, value)| left.person(value));
        }
    }
    Ok(found)
}

/// Sums from which all coefficients are computed.
#[derive(Clone)]
struct Sums {
    coincidences: Coincidences,
    shares: Shares,
}

impl Sums {
    fn new(levels: usize) -> Self {
        Self { coincidences: Coincidences::new(levels), shares: Shares::new(levels) }
    }

    /// Adds this many texts with these counts, or subtracts them if negative.
    fn add(&mut self, counts: &[u32], texts: f64) {
        if let Some(shares) = TextShares::new(counts) {
            self.coincidences.add(counts, texts);
            self.shares.add(&shares, texts);
        }
    }

    fn coefficients(&self, ordinal: bool) -> [Option<f64>; COEFFICIENTS] {
        let alphas = self.coincidences.alphas(ordinal);
        let weighted = |weights| self.shares.gwet(weights).filter(|_| ordinal);
        [
            alphas.nominal,
            alphas.ordinal,
            alphas.interval,
            self.shares.fleiss(),
            self.shares.gwet(Weights::Identity),
            weighted(Weights::Linear),
            weighted(Weights::Quadratic),
        ]
    }
}

/// All coefficients if the texts of pattern `i` have the total weight `weights[i]`.
fn coefficients(
    patterns: &[Pattern<'_>],
    weights: &[f64],
    levels: usize,
    ordinal: bool,
) -> [Option<f64>; COEFFICIENTS] {
    let mut sums = Sums::new(levels);
    for (pattern, &weight) in patterns.iter().zip(weights) {
        sums.coincidences.add(pattern.counts, weight);
        sums.shares.add(&pattern.shares, weight);
    }
    sums.coefficients(ordinal)
}
