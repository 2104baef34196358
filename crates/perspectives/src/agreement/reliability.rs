//! Agreement of everybody by the coefficients in use, with bootstrap intervals over texts.

use super::coefficients::{Shares, TextShares, Weights};
use super::coincidence::Coincidences;
use super::{checked, counts};
use crate::data::PerspectivesError;
use crate::data::progress::Progress;
use crate::data::{Observation, Target};
use crate::metrics::{BootstrapOptions, Interval, resample};
use dissensus_domain::ScaleKind;
use serde::{Deserialize, Serialize};

/// A coefficient and how sure it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The coefficient; `None` where it is not defined.
    pub value: Option<f64>,
    /// Percentile interval over resamples of texts; `None` without a bootstrap or where fewer than half of the resamples
    /// define the coefficient.
    pub interval: Option<Interval>,
}

/// Agreement of everybody: 1 is perfect, 0 what chance would give, each coefficient with its own idea of chance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reliability {
    /// Texts with labels: what is resampled.
    pub texts: usize,
    /// Of these, texts with two labels or more.
    pub pairable: usize,
    /// Krippendorff's alpha, all differences alike ([`super::Alphas`] has the definitions).
    pub alpha_nominal: Estimate,
    /// Krippendorff's alpha, ordinal difference; ordinal scales only.
    pub alpha_ordinal: Estimate,
    /// Krippendorff's alpha, interval difference; ordinal scales only.
    pub alpha_interval: Estimate,
    /// Fleiss' kappa (Fleiss 1971). It was made for the same number of labels on every text; with unequal numbers this is
    /// the usual extension (Gwet 2014, Handbook of inter-rater reliability, 4th ed.): the share of agreeing pairs
    /// is averaged over texts with two labels or more, every text counting the same, and the share of each level over all
    /// texts with labels, every text counting the same. `None` where one level only is used.
    pub fleiss: Estimate,
    /// Gwet's AC1 (Gwet 2008, Computing inter-rater reliability and its variance in the presence of high
    /// agreement), which stays near the observed agreement where one level is rare. Unequal numbers of labels as for `fleiss`;
    /// the number of levels is that of the scale, also if some were never used.
    pub ac1: Estimate,
    /// Gwet's AC2 with linear weights (Gwet 2014); ordinal scales only.
    pub ac2_linear: Estimate,
    /// Gwet's AC2 with quadratic weights; ordinal scales only.
    pub ac2_quadratic: Estimate,
    /// How the intervals were made.
    pub bootstrap: Option<BootstrapOptions>,
}

/// Agreement in `observations` (any order) among `annotators` people on `texts` texts; intervals, if asked for, by drawing
/// whole texts with replacement (as Zapf et al. 2016 recommend in Measuring inter-rater reliability for nominal data; not
/// Krippendorff's own bootstrap, which draws pairs). No intervals with fewer than two texts with labels.
///
/// # Errors
/// What an observation or the scale can have wrong; [`PerspectivesError::Confidence`],
/// [`PerspectivesError::NoResamples`], [`PerspectivesError::Cancelled`].
pub fn reliability(
    observations: &[Observation],
    texts: usize,
    annotators: usize,
    target: Target,
    bootstrap: Option<&BootstrapOptions>,
    progress: &mut dyn Progress,
) -> Result<Reliability, PerspectivesError> {
    if let Some(options) = bootstrap {
        options.check()?;
    }
    let sorted = checked(observations, texts, annotators, target)?;
    let counts = counts(&sorted, texts, target.levels);
    let ordinal = target.kind == ScaleKind::Ordinal;
    let texts: Vec<(&[u32], TextShares)> = counts
        .chunks_exact(target.levels)
        .filter_map(|counts| TextShares::of(counts).map(|shares| (counts, shares)))
        .collect();
    let whole = coefficients(&texts, &vec![1; texts.len()], target.levels, ordinal);
    let mut intervals = [None; COEFFICIENTS];
    if let Some(options) = bootstrap.filter(|_| texts.len() > 1) {
        let draws = resample(texts.len(), options, "agreement", progress, |drawn| {
            coefficients(&texts, drawn, target.levels, ordinal)
        })?;
        for (at, interval) in intervals.iter_mut().enumerate().filter(|(at, _)| whole[*at].is_some()) {
            *interval = Interval::of(draws.iter().map(|d| d[at]), options);
        }
    }
    let [alpha_nominal, alpha_ordinal, alpha_interval, fleiss, ac1, ac2_linear, ac2_quadratic] =
        std::array::from_fn(|at| Estimate { value: whole[at], interval: intervals[at] });
    Ok(Reliability {
        texts: texts.len(),
        pairable: texts.iter().filter(|(counts, _)| counts.iter().sum::<u32>() > 1).count(),
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

/// All coefficients where text `t` stands `drawn[t]` times.
fn coefficients(
    texts: &[(&[u32], TextShares)],
    drawn: &[u32],
    levels: usize,
    ordinal: bool,
) -> [Option<f64>; COEFFICIENTS] {
    let mut coincidences = Coincidences::new(levels);
    let mut shares = Shares::new(levels);
    for ((counts, text), &times) in texts.iter().zip(drawn).filter(|(_, times)| **times > 0) {
        coincidences.add(counts, f64::from(times));
        shares.add(text, f64::from(times));
    }
    let alphas = coincidences.alphas(ordinal);
    let weighted = |weights| shares.gwet(weights).filter(|_| ordinal);
    [
        alphas.nominal,
        alphas.ordinal,
        alphas.interval,
        shares.fleiss(),
        shares.gwet(Weights::Identity),
        weighted(Weights::Linear),
        weighted(Weights::Quadratic),
    ]
}
