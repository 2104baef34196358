//! Choosing the pooling that predicts best.

use super::Analysis;
use super::choosing::CandidateResult;
use super::cross_validation::{Criterion, CrossValidation};
use crate::choosing;
use dissensus_encoder::{Encoder, EncoderOptions, Pooling};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Progress};
use dissensus_selection::evaluation::SplitSpec;
use dissensus_stats::data::ModelKind;
use dissensus_training::encoding::EncoderChoice;
use serde::Serialize;

/// Folds of the training texts by which a pooling is chosen: differences are small, and a single held-out
/// part would be noise.
const POOLING_FOLDS: u8 = 10;

/// Poolings that are tried.
const POOLINGS: [Pooling; 5] = [Pooling::Mean, Pooling::Cls, Pooling::Max, Pooling::Mean2, Pooling::Max2];

/// Poolings that were tried.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PoolingChoice {
    /// The pooling that the project now uses.
    pub chosen: String,
    /// The pooling that the encoder was made with.
    pub own: String,
    /// All of them, best first.
    pub tried: Vec<PoolingLoss>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PoolingLoss {
    pub pooling: String,
    /// Log loss of `shared` on labels of texts that it did not learn from.
    pub log_loss: f64,
}

/// Encodes with every pooling and makes the one whose embeddings predict best the project's: by the log
/// loss of `shared` on ten folds of the training texts. Labels that are scored by this split are not
/// used. The encoder's own pooling stays unless another is better by more than a standard error of the
/// difference (the rule of Breiman et al. 1984, Classification and regression trees, section 3.4.3):
/// differences are small, and the best of five is partly luck.
///
/// # Errors
/// Those of [`dissensus_training::encoding::Encoding::encode`] and
/// [`evaluation::evaluate`](crate::evaluation::evaluate).
pub fn choose(
    cx: &Analysis,
    question: Option<&str>,
    split: Option<SplitSpec>,
    seed: u64,
    choice: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<PoolingChoice, ProjectError> {
    let criterion =
        Criterion { model: ModelKind::Shared, folds: POOLING_FOLDS, purpose: "choosing a pooling" };
    let asked = CrossValidation::new(cx, question, split, seed, criterion)?;
    let _reserved = cx.context.reservations.reserve(Activity::Encoding)?;
    let seen = cx.encoding.active_encoder()?;
    let (_, _, dir) = cx.encoding.open_encoder(choice, seen.current.as_ref(), progress)?;
    let own = Encoder::open(&dir, &EncoderOptions::default())?.version().pooling;
    let with = |pooling: &Pooling| EncoderChoice { pooling: Some(*pooling), ..choice.clone() };
    let choices = POOLINGS.iter().map(|pooling| (pooling.to_string(), with(pooling))).collect();
    let candidates = choosing::candidates(cx, choices, seen.current.as_ref(), progress)?;
    let incumbent = POOLINGS.iter().position(|pooling| *pooling == own);
    let chosen = choosing::choose_candidate(cx, &asked, &candidates, incumbent, &seen, progress)?;
    let loss = |tried: &CandidateResult| PoolingLoss {
        pooling: candidates[tried.at].name.clone(),
        log_loss: tried.log_loss,
    };
    Ok(PoolingChoice {
        chosen: candidates[chosen.at].name.clone(),
        own: own.to_string(),
        tried: chosen.tried.iter().map(loss).collect(),
    })
}
