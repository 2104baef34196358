//! Difference in severity between two groups of people, on the model's own scale.

use crate::data::Severity;
use crate::math::distributions::student_quantile;
use crate::metrics::CONFIDENCE_LEVEL;

/// The difference of the sides' mean severities, side 1 minus side 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeverityGap {
    /// On the logit scale; above 0: side 1 gives higher levels.
    pub difference: f64,
    /// Its 95 % interval, for people like these.
    pub interval: (f64, f64),
}

/// One person's severity estimated only from that person's labels: the posterior without its prior.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeverityPosterior {
    pub(super) mean: f64,
    pub(super) variance: f64,
}

/// The difference of the means of two populations of severities; `people` has the posteriors of a sample and
/// `prior_sd` the standard deviation of their prior (mean 0). The shrinkage by the prior is reversed; then
/// each side is a random-effects meta-analysis, with the variance between people by DerSimonian and Laird
/// (1986), and the interval by Hartung and Knapp (2001) with Welch's degrees of freedom. `None` with fewer
/// than two people with informative labels on a side, or without a spread of severities.
pub fn severity_gap(people: [&[Severity]; 2], prior_sd: f64) -> Option<SeverityGap> {
    let [a, b] = people.map(|side| pooled(side, prior_sd));
    let (a, b) = (a?, b?);
    let total = a.variance + b.variance;
    let of = |side: Pooled| side.variance * side.variance / (side.people - 1) as f64;
    let df = (total * total / (of(a) + of(b))).max(1.0);
    if !total.is_finite() || total <= 0.0 || !df.is_finite() {
        return None;
    }
    let difference = b.mean - a.mean;
    let reach = student_quantile(0.5 + 0.5 * CONFIDENCE_LEVEL, df as usize) * total.sqrt();
    Some(SeverityGap { difference, interval: (difference - reach, difference + reach) })
}

/// A side's mean severity, with its variance.
#[derive(Clone, Copy, Debug)]
struct Pooled {
    mean: f64,
    variance: f64,
    people: usize,
}

/// Estimates of people's severities from their labels, without people whose labels are nearly uninformative.
pub(super) fn posteriors(severities: &[Severity], prior_sd: f64) -> Vec<SeverityPosterior> {
    let prior = prior_sd * prior_sd;
    // Labels are uninformative if they carry less than a thousandth of the information in the prior.
    let of = |s: &Severity| {
        let left = 1.0 - s.sd * s.sd / prior;
        (left > 1e-3).then(|| SeverityPosterior { mean: s.mean / left, variance: s.sd * s.sd / left })
    };
    severities.iter().filter_map(of).collect()
}

/// The variance of severities between people of the same group (DerSimonian and Laird 1986), 0 or more.
pub(super) fn between_people(groups: &[&[SeverityPosterior]]) -> f64 {
    let (mut q, mut people, mut reported) = (0.0, 0.0, 0.0);
    for group in groups {
        let total: f64 = group.iter().map(|s| 1.0 / s.variance).sum();
        let centre = group.iter().map(|s| s.mean / s.variance).sum::<f64>() / total;
        q += group.iter().map(|s| (s.mean - centre).powi(2) / s.variance).sum::<f64>();
        people += group.len() as f64 - 1.0;
        reported += total - group.iter().map(|s| s.variance.powi(-2)).sum::<f64>() / total;
    }
    ((q - people) / reported).max(0.0)
}

fn pooled(severities: &[Severity], prior_sd: f64) -> Option<Pooled> {
    let people = posteriors(severities, prior_sd);
    if people.len() < 2 {
        return None;
    }
    let weight = |extra: f64| people.iter().map(|s| 1.0 / (s.variance + extra)).sum::<f64>();
    let mean = |extra: f64| people.iter().map(|s| s.mean / (s.variance + extra)).sum::<f64>() / weight(extra);
    let between = between_people(&[&people]);
    let centre = mean(between);
    let spread: f64 = people.iter().map(|s| (s.mean - centre).powi(2) / (s.variance + between)).sum();
    // Not below the uncertainty from the labels themselves.
    let variance = (spread / (people.len() - 1) as f64).max(1.0) / weight(between);
    Some(Pooled { mean: centre, variance, people: people.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two people per side, known exactly: Welch's interval of means 0 and 3 with variances 2 and 2.
    #[test]
    fn exact_severities_are_compared_by_welch() {
        let known = |mean| Severity { mean, sd: 1e-6 };
        let found = severity_gap([&[known(-1.0), known(1.0)], &[known(2.0), known(4.0)]], 2.0).unwrap();
        assert!((found.difference - 3.0).abs() < 1e-6);
        // Standard error sqrt(2 / 2 + 2 / 2), two degrees of freedom: t = 4.30265273.
        assert!((found.interval.1 - 3.0 - 4.302_652_73 * 2.0f64.sqrt()).abs() < 1e-4, "{found:?}");
    }

    /// Half of the information comes from the prior, which shrinks severities half of the way to 0.
    #[test]
    fn shrinkage_is_undone() {
        let half = |mean| Severity { mean, sd: 0.5f64.sqrt() };
        let found = severity_gap([&[half(-0.5), half(-0.4)], &[half(0.5), half(0.4)]], 1.0).unwrap();
        assert!((found.difference - 1.8).abs() < 1e-9, "{found:?}");
        // Labels of variance 1 each: the interval is no narrower than their uncertainty.
        assert!((found.interval.1 - found.difference - 4.302_652_73).abs() < 1e-6, "{found:?}");
        let unknown = Severity { mean: 0.0, sd: 1.0 };
        assert_eq!(severity_gap([&[half(0.1), unknown], &[half(0.2), half(0.3)]], 1.0), None);
    }
}
