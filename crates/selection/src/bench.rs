//! Internals for benchmarks: a model without a fit, and a single kind of head. Needs the feature `bench`.

use dissensus_domain::TargetKind;
use dissensus_models::batch::{Multilevel, TextScorer};
use dissensus_models::linear::dual::DualRidge;
use dissensus_models::link::Link;
use dissensus_models::mixed::CrossedEffects;
use dissensus_stats::data::{AnnotatorModel, Embeddings, ModelError, Observation, Target, TrainingData};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use std::time::Instant;

/// Creates a `multilevel` model of any size with simulated parameters (no fit).
pub fn predictor(texts: usize, annotators: usize, levels: usize, seed: u64) -> Box<dyn AnnotatorModel> {
    let kind = if levels == 2 { TargetKind::Binary } else { TargetKind::Ordinal };
    let link = Link::new(Target { kind, levels });
    let mut rng = dissensus_stats::math::random::generator(seed, 5);
    let mut normal = move || -> f64 { StandardNormal.sample(&mut rng) };
    let scores = (0..texts).map(|_| 1.5 * normal()).collect();
    let mut crossed = CrossedEffects::new(link, scores, annotators, &[]);
    for effect in &mut crossed.annotators {
        effect.theta[0] = normal();
    }
    Box::new(Multilevel::from_parts(TextScorer::constant(link), crossed))
}

/// Fitted heads of each annotator, with the time.
#[derive(Clone, Debug, PartialEq)]
pub struct SepHeadsTime {
    /// Seconds for all heads, including inner products.
    pub seconds: f64,
    /// Penalised loss of each annotator's head, `sum of log losses + penalty / 2 |w|^2` with a free
    /// intercept; `None` for annotators without labels of both classes, for whom it is not finite.
    pub losses: Vec<Option<f64>>,
}

/// Fits one head to each annotator's binary labels on raw embeddings at one ridge penalty: what one
/// scikit-learn `LogisticRegression(C = 1 / penalty)` for each would do (tools/bench/sep_heads.py compares
/// the two).
pub fn sep_heads(
    embeddings: &Embeddings,
    observations: &[Observation],
    annotators: usize,
    penalty: f64,
) -> Result<SepHeadsTime, ModelError> {
    let target = Target { kind: TargetKind::Binary, levels: 2 };
    let observations =
        TrainingData { embeddings, observations, annotators, target, attributes: &[] }.sorted()?;
    let start = Instant::now();
    let link = Link::new(target);
    let mut own: Vec<Vec<Observation>> = vec![Vec::new(); annotators];
    observations.iter().for_each(|o| own[o.annotator as usize].push(*o));
    let rows: Vec<f64> = embeddings.rows.iter().map(|&v| f64::from(v)).collect();
    let dim = embeddings.dim;
    let losses = own
        .par_iter()
        .map(|labels| {
            let first = labels.first()?.level;
            labels.iter().any(|o| o.level != first).then(|| {
                let texts: Vec<&[f64]> = labels
                    .iter()
                    .map(|o| &rows[o.text as usize * dim..(o.text as usize + 1) * dim])
                    .collect();
                let head = DualRidge::new(link, &texts, labels.iter().map(|o| o.level).collect(), 0.0);
                let mut solution = head.start();
                head.fit(penalty, &mut solution, &(0..labels.len()).collect::<Vec<_>>())
            })
        })
        .collect();
    Ok(SepHeadsTime { seconds: start.elapsed().as_secs_f64(), losses })
}
