//! Cohen's kappa of every two annotators.

use super::counts::checked;
use crate::data::ModelError;
use crate::data::{Observation, Target};
use crate::metrics::quadratic_kappa;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Agreement of two annotators on the texts that both labelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CohenPair {
    /// The annotator with the smaller index.
    pub first: u32,
    pub second: u32,
    /// Texts both labelled.
    pub texts: usize,
    /// Share of these texts on which both gave the same level.
    pub agreement: f64,
    /// Cohen's kappa, `(p_o - p_e) / (1 - p_e)`, where `p_e` is the probability of agreeing if both answered
    /// independently with their own shares of levels (Cohen 1960). `None` where both gave only one and the
    /// same level.
    pub kappa: Option<f64>,
    /// Kappa with quadratic weights ([`quadratic_kappa`]); ordinal scales only, `None` as `kappa`.
    pub quadratic: Option<f64>,
}

/// Every two annotators with `least` texts in common or more (at least one), by index. Costs one step for
/// every two labels on the same text.
///
/// # Errors
/// Invalid observations or scale.
pub fn cohen_pairs(
    observations: &[Observation],
    texts: usize,
    annotators: usize,
    target: Target,
    least: usize,
) -> Result<Vec<CohenPair>, ModelError> {
    let sorted = checked(observations, texts, annotators, target)?;
    let ordinal = target.kind.has_distances();
    // Position of each label in its text's group, and the labels of every annotator.
    let mut ends = vec![0usize; sorted.len()];
    let mut own: Vec<Vec<usize>> = vec![Vec::new(); annotators];
    let mut from = 0;
    for group in sorted.chunk_by(|a, b| a.text == b.text) {
        let to = from + group.len();
        for at in from..to {
            ends[at] = to;
            own[sorted[at].annotator as usize].push(at);
        }
        from = to;
    }
    let pairs = own.par_iter().enumerate().flat_map_iter(|(first, labels)| {
        // (other, own level, other's level); groups are ordered by annotator, so those after have larger
        // indices.
        let mut shared: Vec<(u32, u16, u16)> = Vec::new();
        for &at in labels {
            let later = &sorted[at + 1..ends[at]];
            shared.extend(later.iter().map(|o| (o.annotator, sorted[at].level, o.level)));
        }
        shared.sort_unstable();
        let enough = |with: &&[(u32, u16, u16)]| with.len() >= least.max(1);
        let with = shared.chunk_by(|a, b| a.0 == b.0).filter(enough);
        with.map(|with| pair(first as u32, with, target.levels, ordinal)).collect::<Vec<_>>()
    });
    Ok(pairs.collect())
}

fn pair(first: u32, with: &[(u32, u16, u16)], levels: usize, ordinal: bool) -> CohenPair {
    let n = with.len();
    let mut counts = vec![(0u64, 0u64); levels];
    for &(_, a, b) in with {
        counts[usize::from(a)].0 += 1;
        counts[usize::from(b)].1 += 1;
    }
    let equal = with.iter().filter(|(_, a, b)| a == b).count();
    // In counts of pairs, to avoid rounding: p_o = equal n / n^2, p_e = chance / n^2.
    let (all, chance) = ((n * n) as u64, counts.iter().map(|(a, b)| a * b).sum::<u64>());
    let observed = (equal * n) as f64;
    let kappa = (chance < all).then(|| (observed - chance as f64) / (all - chance) as f64);
    let side = |of: fn(&(u32, u16, u16)) -> u16| with.iter().map(of).collect::<Vec<u16>>();
    let quadratic = if ordinal { quadratic_kappa(&side(|w| w.1), &side(|w| w.2), levels) } else { None };
    CohenPair { first, second: with[0].0, texts: n, agreement: equal as f64 / n as f64, kappa, quadratic }
}
