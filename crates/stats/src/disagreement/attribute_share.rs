//! Share of the differences in severity between people that an attribute explains.

use super::severity_gap::{SeverityPosterior, between_people, posteriors};
use crate::data::Severity;
use crate::math::f_distribution::{f_cdf, most_noncentrality};
use crate::metrics::CONFIDENCE_LEVEL;

/// Share of the differences between people's severities that an attribute explains: an analysis of variance
/// over people, whose severities are known with different precision.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeShare {
    /// People whose labels are informative.
    pub people: usize,
    /// Share of the variance between people that is between the groups, corrected for chance; 0 to 1.
    pub share: f64,
    /// p value of no difference between any of the groups (F test).
    pub p: f64,
    /// The two groups that are furthest apart in units of their uncertainty: the lower one first, as indices
    /// in the list of groups.
    pub furthest: (usize, usize),
    statistic: f64,
    degrees: (f64, f64),
    /// Noncentrality that corresponds to one unit of variance between groups.
    unit: f64,
    within: f64,
}

impl AttributeShare {
    /// Upper 95 % confidence bound of the share, for this many `attributes` together (Bonferroni), from the
    /// distribution of the test.
    pub fn most(&self, attributes: usize) -> f64 {
        let missed = (1.0 - CONFIDENCE_LEVEL) / attributes.max(1) as f64;
        let (d1, d2) = self.degrees;
        self.share_of(most_noncentrality(self.statistic, d1, d2, missed)).max(self.share)
    }

    fn share_of(&self, noncentrality: f64) -> f64 {
        let between = noncentrality / self.unit;
        if between > 0.0 { between / (between + self.within) } else { 0.0 }
    }
}

/// Analyses groups of people by their severities; `prior_sd` is the standard deviation of the severities'
/// prior (mean 0). The shrinkage by the prior is reversed, as in [`severity_gap`](super::severity_gap());
/// people are weighted by the precision of their severity and the variance within groups (the moment estimate
/// of random effects), and the F test uses the noncentral distribution for its power. `None` with fewer than
/// two groups of two people, or where people within groups do not differ at all, so that there is nothing to
/// explain.
pub fn attribute_share(groups: &[Vec<Severity>], prior_sd: f64) -> Option<AttributeShare> {
    let groups: Vec<Vec<SeverityPosterior>> =
        groups.iter().map(|people| posteriors(people, prior_sd)).collect();
    let used: Vec<usize> = (0..groups.len()).filter(|at| groups[*at].len() > 1).collect();
    let people: usize = used.iter().map(|at| groups[*at].len()).sum();
    if used.len() < 2 {
        return None;
    }
    let kept: Vec<&[SeverityPosterior]> = used.iter().map(|at| groups[*at].as_slice()).collect();
    let within = between_people(&kept);
    let weight = |one: &SeverityPosterior| 1.0 / (one.variance + within);
    let mean = |of: &mut dyn Iterator<Item = &SeverityPosterior>| {
        let (mut sum, mut all) = (0.0, 0.0);
        for one in of {
            (sum, all) = (sum + weight(one) * one.mean, all + weight(one));
        }
        (sum / all, all)
    };
    let (centre, unit) = mean(&mut kept.iter().copied().flatten());
    let of_groups: Vec<(f64, f64)> = kept.iter().map(|people| mean(&mut people.iter())).collect();
    let between: f64 = of_groups.iter().map(|(own, all)| all * (own - centre).powi(2)).sum();
    let left: f64 = kept
        .iter()
        .zip(&of_groups)
        .flat_map(|(people, (own, _))| people.iter().map(move |one| weight(one) * (one.mean - own).powi(2)))
        .sum();
    let degrees = ((used.len() - 1) as f64, (people - used.len()) as f64);
    // Not below the uncertainty from the labels themselves.
    let scale = (left / degrees.1).max(1.0);
    let statistic = between / degrees.0 / scale;
    let mut found = AttributeShare {
        people,
        share: 0.0,
        p: (1.0 - f_cdf(statistic, degrees.0, degrees.1, 0.0)).clamp(0.0, 1.0),
        furthest: (0, 0),
        statistic,
        degrees,
        unit: unit / scale,
        within: within * scale,
    };
    if within <= 0.0 && between <= degrees.0 * scale {
        return None;
    }
    found.share = found.share_of((statistic - 1.0) * degrees.0);
    let mut furthest = 0.0;
    for (at, (a, wa)) in of_groups.iter().enumerate() {
        for (other, (b, wb)) in of_groups.iter().enumerate().skip(at + 1) {
            let apart = (b - a).abs() / (1.0 / wa + 1.0 / wb).sqrt();
            if apart >= furthest {
                furthest = apart;
                found.furthest = if a <= b { (used[at], used[other]) } else { (used[other], used[at]) };
            }
        }
    }
    Some(found)
}

/// Two-sided p value of no difference between a person and the average one, from the distance in standard
/// deviations of the uncertainty left by that person's labels; `None` for people whose labels are nearly
/// uninformative.
pub fn severity_p_value(severity: Severity, prior_sd: f64) -> Option<f64> {
    let one = posteriors(std::slice::from_ref(&severity), prior_sd).pop()?;
    Some(libm::erfc(one.mean.abs() / one.variance.sqrt() / std::f64::consts::SQRT_2))
}
