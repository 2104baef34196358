//! Choosing the encoder that predicts best.

use super::Analysis;
use super::choosing::CandidateResult;
use super::cross_validation::{Criterion, CrossValidation};
use crate::choosing;
use crate::error::AnalysisError;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Progress};
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelKind;
use dissensus_training::encoding::EncoderChoice;
use serde::Serialize;

/// Number of folds of the training texts by which an encoder is chosen.
const ENCODER_FOLDS: u8 = 5;

/// Results of the tried encoders.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EncoderComparison {
    /// The encoder that the project now uses.
    pub chosen: String,
    /// The one that stays unless another is clearly better: the project's, if it was among them, otherwise
    /// the first.
    pub incumbent: String,
    /// All of them, best first.
    pub tried: Vec<EncoderLoss>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EncoderLoss {
    /// The name by which it was requested.
    pub encoder: String,
    /// Key of its version.
    pub version: String,
    /// Log loss of `multilevel` on labels of texts that it did not learn from.
    pub log_loss: f64,
}

/// Encodes with each of the encoders `names` and makes the one on whose embeddings `multilevel` predicts
/// best the project's: by its log loss on five folds of the training texts. Labels that are scored by
/// this split are not used. The project's encoder stays, if it is among them (otherwise the first),
/// unless another is better by more than a standard error of the difference. The options of `choice`,
/// except the encoder, apply to all. Embeddings of all of them stay in the project.
///
/// # Errors
/// Those of [`dissensus_training::encoding::Encoding::encode`] and
/// [`evaluation::evaluate`](crate::evaluation::evaluate); fewer than two encoders.
pub fn choose(
    cx: &Analysis,
    names: &[String],
    question: Option<&str>,
    split: Option<SplitSpec>,
    seed: u64,
    choice: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<EncoderComparison, ProjectError> {
    let criterion =
        Criterion { model: ModelKind::Multilevel, folds: ENCODER_FOLDS, purpose: "choosing an encoder" };
    let asked = CrossValidation::new(cx, question, split, seed, criterion)?;
    let _reserved = cx.context.reservations.reserve(Activity::Encoding)?;
    let seen = cx.encoding.active_encoder()?;
    let with = |name: &String| EncoderChoice { encoder: Some(name.clone()), ..choice.clone() };
    let choices = names.iter().map(|name| (name.clone(), with(name))).collect();
    let candidates = choosing::candidates(cx, choices, seen.current.as_ref(), progress)?;
    if candidates.len() < 2 {
        return Err(AnalysisError::OneEncoder.into());
    }
    let current = seen.current.as_ref().map(|current| &current.key);
    let incumbent = candidates.iter().position(|c| Some(&c.version.key) == current).unwrap_or_default();
    let chosen = choosing::choose_candidate(cx, &asked, &candidates, Some(incumbent), &seen, progress)?;
    let loss = |tried: &CandidateResult| EncoderLoss {
        encoder: candidates[tried.at].name.clone(),
        version: candidates[tried.at].version.key.clone(),
        log_loss: tried.log_loss,
    };
    Ok(EncoderComparison {
        chosen: candidates[chosen.at].name.clone(),
        incumbent: candidates[incumbent].name.clone(),
        tried: chosen.tried.iter().map(loss).collect(),
    })
}
