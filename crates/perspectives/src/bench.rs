//! Speed of the live loop, of predicting everything and of training, mostly measured on made-up worlds.

use crate::data::FitOptions;
use crate::data::PerspectivesError;
use crate::data::progress::Silent;
use crate::data::synthetic::{Simulation, simulate};
use crate::data::{AnnotatorModel, ModelKind};
use crate::data::{Embeddings, Observation, Target, TrainingData};
use crate::disagreement::Measure;
use crate::disagreement::disagreement_of_texts;
use crate::linear::dual::DualRidge;
use crate::live::LiveModel;
use crate::mixed::CrossedEffects;
use crate::mixed::link::Link;
use crate::models::{Multilevel, TextScorer};
use dissensus_domain::ScaleKind;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Clicks on a live model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveTimes {
    /// Texts.
    pub texts: usize,
    /// Annotators.
    pub annotators: usize,
    /// Levels.
    pub levels: usize,
    /// Duration of every click, in milliseconds: record, refit one annotator and one text, all measures up to date.
    pub click_ms: Vec<f64>,
    /// Duration of reading all measures and ranking the texts once, in milliseconds; median of 20.
    pub ranking_ms: f64,
}

/// A live model for timing: a simulation of `levels`, 64-dimensional embeddings and `labels_per_annotator` labels
/// from each annotator, fitted in one round.
///
/// # Errors
/// As [`LiveModel::fit`].
pub fn live_model(
    texts: usize,
    annotators: usize,
    levels: usize,
    labels_per_annotator: usize,
    seed: u64,
) -> Result<LiveModel, PerspectivesError> {
    let sim = simulate(texts, annotators, levels, 64, labels_per_annotator, seed);
    let data = TrainingData {
        embeddings: &sim.embeddings,
        observations: &sim.observations,
        annotators: sim.annotators,
        target: sim.target,
        attributes: &[],
    };
    let options = FitOptions { seed, rounds: 1, slopes: false, ..Default::default() };
    LiveModel::fit(&data, &options, &mut Silent)
}

/// Times `clicks` labels by random annotators on random texts.
///
/// # Errors
/// As [`LiveModel::record`]; [`PerspectivesError::Length`] for a model without texts or annotators.
pub fn live(model: &mut LiveModel, clicks: usize, seed: u64) -> Result<LiveTimes, PerspectivesError> {
    let (texts, annotators, levels) = (model.texts(), model.annotators(), model.levels());
    if texts == 0 || annotators == 0 {
        return Err(PerspectivesError::Length { what: "texts and annotators", expected: 1, found: 0 });
    }
    let mut rng = crate::math::random::generator(seed, 4);
    let mut click_ms = Vec::with_capacity(clicks);
    for _ in 0..clicks {
        let o = Observation {
            text: rng.random_range(0..texts as u32),
            annotator: rng.random_range(0..annotators as u32),
            level: rng.random_range(0..levels as u16),
        };
        let start = Instant::now();
        model.record(o)?;
        click_ms.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let mut rankings: Vec<f64> = (0..20)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(model.ranking(Measure::Pairwise));
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    Ok(LiveTimes { texts, annotators, levels, ranking_ms: percentile(&mut rankings, 0.5), click_ms })
}

/// The value below which a `share` (0..1) of `values` lies (nearest rank); sorts `values`. Zero for none.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (share * values.len() as f64).ceil() as usize;
    values.get(rank.max(1) - 1).copied().unwrap_or(0.0)
}

/// One pass over all predictions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictTime {
    /// Texts in all; see `texts_timed`.
    pub texts: usize,
    /// Annotators.
    pub annotators: usize,
    /// Levels.
    pub levels: usize,
    /// Texts that were timed: all, or the first ones where a limit was given.
    pub texts_timed: usize,
    /// Seconds for those, with all measures.
    pub seconds: f64,
    /// (text, annotator) distributions a second.
    pub distributions_per_second: f64,
    /// Mean of the pairwise measure, so that nothing can be optimised away.
    pub mean_pairwise: f64,
}

/// A `multilevel` model with made-up parameters (no fit), of any size.
pub fn predictor(texts: usize, annotators: usize, levels: usize, seed: u64) -> Box<dyn AnnotatorModel> {
    let kind = if levels == 2 { ScaleKind::Binary } else { ScaleKind::Ordinal };
    let link = Link::new(Target { kind, levels });
    let mut rng = crate::math::random::generator(seed, 5);
    let mut normal = move || -> f64 { StandardNormal.sample(&mut rng) };
    let scores = (0..texts).map(|_| 1.5 * normal()).collect();
    let mut crossed = CrossedEffects::new(link, scores, annotators, &[]);
    for effect in &mut crossed.annotators {
        effect.theta[0] = normal();
    }
    Box::new(Multilevel::from_parts(TextScorer::constant(link), crossed))
}

/// Times the measures of all texts, or of the first `limit` where everything would take too long.
pub fn predict(model: &dyn AnnotatorModel, ordinal: bool, limit: Option<usize>) -> PredictTime {
    let texts_timed = limit.unwrap_or(usize::MAX).min(model.texts());
    let start = Instant::now();
    let all = disagreement_of_texts(model, 0..texts_timed, None, ordinal);
    let seconds = start.elapsed().as_secs_f64();
    let sum: f64 = all.iter().map(|d| f64::from(d.pairwise)).sum();
    PredictTime {
        texts: model.texts(),
        annotators: model.annotators(),
        levels: model.levels(),
        texts_timed,
        seconds,
        distributions_per_second: (texts_timed * model.annotators()) as f64 / seconds.max(1e-9),
        mean_pairwise: sum / texts_timed.max(1) as f64,
    }
}

/// Heads of each annotator, timed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SepHeadsTime {
    /// Seconds for all heads, inner products included.
    pub seconds: f64,
    /// Penalised loss of each annotator's head, `sum of log losses + penalty / 2 |w|^2` with a free intercept; `None` for
    /// annotators without labels of both classes, who have no finite one.
    pub losses: Vec<Option<f64>>,
}

/// Fits one head to each annotator's binary labels on raw embeddings at one ridge penalty: what one
/// scikit-learn `LogisticRegression(C = 1 / penalty)` for each would do (tools/bench/sep_heads.py compares the two).
///
/// # Errors
/// As [`crate::fit`].
pub fn sep_heads(
    embeddings: &Embeddings,
    observations: &[Observation],
    annotators: usize,
    penalty: f64,
) -> Result<SepHeadsTime, PerspectivesError> {
    let target = Target { kind: ScaleKind::Binary, levels: 2 };
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

/// One model trained on a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainTime {
    /// Texts.
    pub texts: usize,
    /// Annotators.
    pub annotators: usize,
    /// Labels.
    pub labels: usize,
    /// Seconds from arrays to a fitted model.
    pub seconds: f64,
    /// Mean log-likelihood of a training label, so that nothing can be optimised away.
    pub fit: f64,
}

/// Trains a model on a simulation.
///
/// # Errors
/// As [`crate::fit`].
pub fn train(
    kind: ModelKind,
    sim: &Simulation,
    options: &FitOptions,
) -> Result<TrainTime, PerspectivesError> {
    let data = TrainingData {
        embeddings: &sim.embeddings,
        observations: &sim.observations,
        annotators: sim.annotators,
        target: sim.target,
        attributes: &[],
    };
    let start = Instant::now();
    let model = crate::fit(kind, &data, options, &mut Silent)?;
    let seconds = start.elapsed().as_secs_f64();
    let mut p = vec![0.0; model.levels()];
    let mut sum = 0.0;
    for o in &sim.observations {
        model.predict(o.text, o.annotator, &mut p);
        sum += f64::from(p[usize::from(o.level)]).ln();
    }
    let labels = sim.observations.len();
    Ok(TrainTime {
        texts: sim.embeddings.texts,
        annotators: sim.annotators,
        labels,
        seconds,
        fit: sum / labels.max(1) as f64,
    })
}
