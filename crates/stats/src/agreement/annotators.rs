//! Agreement of all annotators, and of all except one.

use super::alphas::Alphas;
use super::coincidence::Coincidences;
use super::counts::{checked, counts};
use crate::data::{ModelError, Observation, Target};
use serde::{Deserialize, Serialize};

/// One annotator against the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AnnotatorAgreement {
    /// Labels given.
    pub labels: usize,
    /// Alpha of all other annotators; larger than the alpha of all if agreement is better without this
    /// annotator.
    pub without: Alphas,
    /// Share of (this annotator's label, another annotator's label of the same text) pairs that are equal.
    pub pairwise: Option<f64>,
}

/// Agreement in a set of labels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Over all annotators.
    pub all: Alphas,
    /// Share of pairs of labels of one text that are equal, with equal weights for all pairs of all texts.
    pub pairwise: Option<f64>,
    /// Texts with two labels or more.
    pub texts: usize,
    /// Labels on those texts.
    pub labels: usize,
    /// One entry per annotator.
    pub annotators: Vec<AnnotatorAgreement>,
}

/// Agreement of `observations` (any order) among `annotators` annotators on `texts` texts. Leaving one
/// annotator out costs as much as that annotator's labels, not a pass over the data.
///
/// # Errors
/// Invalid observations or scale.
pub fn agreement(
    observations: &[Observation],
    texts: usize,
    annotators: usize,
    target: Target,
) -> Result<Agreement, ModelError> {
    let sorted = checked(observations, texts, annotators, target)?;
    let mut counts = counts(&sorted, texts, target.levels);
    let mut all = Coincidences::new(target.levels);
    for text in counts.chunks_exact(target.levels) {
        all.add(text, 1.0);
    }
    let ordinal = target.kind.has_distances();
    let mut own: Vec<Vec<Observation>> = vec![Vec::new(); annotators];
    sorted.iter().for_each(|o| own[o.annotator as usize].push(*o));
    let each =
        own.iter().map(|labels| one_annotator(&all, &mut counts, labels, target.levels, ordinal)).collect();
    let many = |text: &[u32]| text.iter().sum::<u32>() as usize;
    let pairable: Vec<usize> = counts.chunks_exact(target.levels).map(many).filter(|&n| n > 1).collect();
    Ok(Agreement {
        all: all.alphas(ordinal),
        pairwise: pairs(&counts, target.levels),
        texts: pairable.len(),
        labels: pairable.iter().sum(),
        annotators: each,
    })
}

fn one_annotator(
    all: &Coincidences,
    counts: &mut [u32],
    labels: &[Observation],
    levels: usize,
    ordinal: bool,
) -> AnnotatorAgreement {
    let mut rest = all.clone();
    let (mut equal, mut pairs) = (0u64, 0u64);
    for o in labels {
        let text = &mut counts[o.text as usize * levels..(o.text as usize + 1) * levels];
        rest.add(text, -1.0);
        text[usize::from(o.level)] -= 1;
        rest.add(text, 1.0);
        equal += u64::from(text[usize::from(o.level)]);
        pairs += text.iter().map(|&n| u64::from(n)).sum::<u64>();
        text[usize::from(o.level)] += 1;
    }
    AnnotatorAgreement {
        labels: labels.len(),
        without: rest.alphas(ordinal),
        pairwise: (pairs > 0).then(|| equal as f64 / pairs as f64),
    }
}

fn pairs(counts: &[u32], levels: usize) -> Option<f64> {
    let (mut equal, mut pairs) = (0u64, 0u64);
    for text in counts.chunks_exact(levels) {
        let n: u64 = text.iter().map(|&n| u64::from(n)).sum();
        pairs += n * n.saturating_sub(1);
        equal += text.iter().map(|&c| u64::from(c) * u64::from(c).saturating_sub(1)).sum::<u64>();
    }
    (pairs > 0).then(|| equal as f64 / pairs as f64)
}
