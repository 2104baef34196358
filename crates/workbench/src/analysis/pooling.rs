//! Choosing a pooling by what predicts best.

use super::Analysis;
use crate::encoding::{EncoderChoice, first_texts};
use crate::error::WorkbenchError;
use crate::jobs::{Activity, Progress};
use dissensus_encoder::{Encoder, EncoderOptions, Pooling};
use dissensus_perspectives::{
    FitOptions, ModelKind, Observation, SeenByEncoder, SplitColumns, SplitSpec, TrainingData, fit,
};
use serde::Serialize;
use std::sync::Arc;

/// Folds of the training texts by which a pooling is chosen: differences are small, and one part kept back would be noise.
const POOLING_FOLDS: u8 = 10;

/// Poolings that were tried.
#[derive(Clone, Debug, Serialize)]
pub struct PoolingChoice {
    /// The one that the project uses now.
    pub chosen: String,
    /// The one that the encoder was made with.
    pub own: String,
    /// All of them, best first.
    pub tried: Vec<PoolingLoss>,
}

/// One pooling.
#[derive(Clone, Debug, Serialize)]
pub struct PoolingLoss {
    /// Its name.
    pub pooling: String,
    /// Log loss of `shared` on labels of texts that it did not learn from.
    pub log_loss: f64,
}

impl Analysis {
    /// Encodes with every pooling and makes that one the project's whose embeddings predict best: log loss of `shared` on ten folds
    /// of the training texts. Labels that are scored by this split are not looked at. The encoder's own pooling stays
    /// unless another is better by more than a standard error of the difference (the rule of Breiman et al. 1984,
    /// Classification and regression trees, section 3.4.3): differences are small, and the best of five is lucky.
    ///
    /// # Errors
    /// As [`crate::Encoding::encode`] and [`Analysis::evaluate`].
    pub fn choose_pooling(
        &self,
        question: Option<&str>,
        split: Option<SplitSpec>,
        seed: u64,
        choice: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<PoolingChoice, WorkbenchError> {
        let question = self.question(question)?;
        let question_data = self.context.question_data(&question)?;
        let split = split.unwrap_or_else(|| question_data.usual_split());
        question_data.check_split(split)?;
        let context = &self.context;
        let _reserved = context.reservations.reserve(Activity::Encoding)?;
        let seen = self.encoding.active_encoder()?;
        let open = |pooling: Option<Pooling>| {
            let choice = EncoderChoice { pooling, ..choice.clone() };
            self.encoding.open_encoder(&choice, seen.current.as_ref(), progress)
        };
        let (_, _, dir) = open(choice.pooling)?;
        let own = Encoder::open(&dir, &EncoderOptions::default())?.version().pooling;
        let mut tried: Vec<(Pooling, Vec<f64>)> = Vec::new();
        for pooling in [Pooling::Mean, Pooling::Cls, Pooling::Max, Pooling::Mean2, Pooling::Max2] {
            // The project's encoder stays as it is until all have been tried.
            let (encoder, version, dir) = open(Some(pooling))?;
            self.encoding.add_version(&encoder, &dir)?;
            self.encoding.encode_version(&encoder, &version.key, progress)?;
            let embeddings = self.encoding.embeddings_of(&version.key)?;
            let embeddings = first_texts(&Arc::new(embeddings), question_data.texts.len())?;
            let data = question_data.data(&embeddings);
            let train = split.divide(&data, question_data.columns(), seed, 0.0)?.train;
            let data = TrainingData { observations: &train, ..data };
            let seen = self.encoding.seen_by(Some(&version.key), &context.index())?;
            tried.push((pooling, cross_validated(&data, seen.rows(), seed, progress)?));
        }
        tried.sort_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)));
        let losses = |pooling: Pooling| tried.iter().find(|(p, _)| *p == pooling).map(|(_, losses)| losses);
        let best = tried.first().map_or(own, |(pooling, _)| *pooling);
        let kept = match (losses(own), losses(best)) {
            (Some(ours), Some(theirs)) if !clearly_better(theirs, ours) => own,
            _ => best,
        };
        let (_, version, _) = open(Some(kept))?;
        if !self.encoding.choose_encoder(&version, &seen)? {
            return Err(WorkbenchError::EncoderSwitched);
        }
        let tried = tried
            .iter()
            .map(|(pooling, losses)| PoolingLoss { pooling: pooling.to_string(), log_loss: mean(losses) });
        Ok(PoolingChoice { chosen: kept.to_string(), own: own.to_string(), tried: tried.collect() })
    }
}

/// Losses of `shared` on every label, of texts that it did not learn from: ten folds of the texts.
fn cross_validated(
    data: &TrainingData<'_>,
    seen: SeenByEncoder<'_>,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Vec<f64>, WorkbenchError> {
    let mut losses = Vec::with_capacity(data.observations.len());
    let mut unseen = 0;
    for split in (SplitSpec::KFold { folds: POOLING_FOLDS, fold: None }).each() {
        let mut division = split.divide(data, SplitColumns { seen, ..SplitColumns::default() }, seed, 0.0)?;
        unseen += division.test.texts();
        if division.test.labels() == 0 {
            continue;
        }
        let options = FitOptions { seed, ..FitOptions::default() };
        let train = TrainingData { observations: &division.train, ..*data };
        let model = fit(ModelKind::Shared, &train, &options, progress)?;
        let scored = division.test.score("shared", model.as_ref())?;
        let of =
            |(i, o): (usize, &Observation)| -f64::from(scored.row(i)[usize::from(o.level)]).max(1e-9).ln();
        losses.extend(scored.observations.iter().enumerate().map(of));
    }
    seen.check("choosing a pooling", unseen)?;
    Ok(losses)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Whether losses are lower by more than a standard error of the paired difference.
fn clearly_better(losses: &[f64], than: &[f64]) -> bool {
    let differences: Vec<f64> = than.iter().zip(losses).map(|(b, a)| b - a).collect();
    let gain = mean(&differences);
    let square = differences.iter().map(|d| (d - gain).powi(2)).sum::<f64>();
    let n = differences.len() as f64;
    gain > (square / (n - 1.0).max(1.0) / n.max(1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_by_luck_is_not_better() {
        let than = [1.0, 0.4, 0.9, 0.5, 0.7, 0.6];
        let lower = |by: [f64; 6]| -> Vec<f64> { than.iter().zip(by).map(|(l, by)| l - by).collect() };
        assert!(clearly_better(&lower([0.1, 0.12, 0.09, 0.1, 0.11, 0.1]), &than));
        assert!(!clearly_better(&lower([0.4, -0.3, 0.2, -0.3, 0.3, -0.1]), &than));
        assert!(!clearly_better(&than, &than));
    }
}
