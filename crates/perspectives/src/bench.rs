//! Speed of the live loop and of predicting everything, measured on made-up worlds.

use crate::data::{Observation, Target, TrainingData};
use crate::disagreement::disagreement_of_texts;
use crate::effects::Crossed;
use crate::link::Link;
use crate::live::LiveModel;
use crate::models::{AnnotatorModel, EncoderToScore, Multilevel};
use crate::options::FitOptions;
use crate::progress::Silent;
use crate::synthetic::world;
use crate::{Measure, PerspectivesError};
use dissensus_domain::ScaleKind;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
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

/// A live model for timing: a made-up world of `levels`, 64-dimensional embeddings and `labels_per_annotator` labels
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
    let world = world(texts, annotators, levels, 64, labels_per_annotator, seed);
    let data = TrainingData {
        embeddings: &world.embeddings,
        observations: &world.observations,
        annotators: world.annotators,
        target: world.target,
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
    let mut rng = crate::folds::generator(seed, 4);
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
    let mut rng = crate::folds::generator(seed, 5);
    let mut normal = move || -> f64 { StandardNormal.sample(&mut rng) };
    let scores = (0..texts).map(|_| 1.5 * normal()).collect();
    let mut crossed = Crossed::new(link, scores, annotators, &[]);
    for person in &mut crossed.people {
        person.theta[0] = normal();
    }
    Box::new(Multilevel::from_parts(EncoderToScore::constant(link), crossed))
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
