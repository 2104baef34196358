//! Choosing an encoder by what predicts best.

use super::Analysis;
use super::cross_validation::{CrossValidation, clearly_better, mean};
use crate::encoding::EncoderChoice;
use crate::encoding::encoders::SelectedEncoder;
use crate::error::WorkbenchError;
use crate::jobs::{Activity, Progress};
use dissensus_perspectives::{ModelKind, SplitSpec};
use serde::Serialize;

/// Folds of the training texts by which an encoder is chosen.
const ENCODER_FOLDS: u8 = 5;

/// Encoders that were tried.
#[derive(Clone, Debug, Serialize)]
pub struct EncoderComparison {
    /// The one that the project uses now.
    pub chosen: String,
    /// The one that stays unless another is clearly better: the project's, if it was among them, else the first.
    pub incumbent: String,
    /// All of them, best first.
    pub tried: Vec<EncoderLoss>,
}

/// One encoder.
#[derive(Clone, Debug, Serialize)]
pub struct EncoderLoss {
    /// The name it was asked for by.
    pub encoder: String,
    /// Key of its version.
    pub version: String,
    /// Log loss of `multilevel` on labels of texts that it did not learn from.
    pub log_loss: f64,
}

impl Analysis {
    /// Encodes with each of the encoders `names` and makes that one the project's on whose embeddings `multilevel` predicts best: its log
    /// loss on five folds of the training texts. Labels that are scored by this split are not looked at. The project's encoder stays,
    /// where it is among them (else the first), unless another is better by more than a standard error of the difference. Of `choice` all
    /// but the encoder counts. Embeddings of all of them stay in the project.
    ///
    /// # Errors
    /// As [`crate::Encoding::encode`] and [`Analysis::evaluate`]; fewer than two encoders.
    pub fn choose_encoder(
        &self,
        names: &[String],
        question: Option<&str>,
        split: Option<SplitSpec>,
        seed: u64,
        choice: &EncoderChoice,
        progress: &dyn Progress,
    ) -> Result<EncoderComparison, WorkbenchError> {
        let question = self.question(question)?;
        let question_data = self.context.question_data(&question)?;
        let split = split.unwrap_or_else(|| question_data.usual_split());
        question_data.check_split(split)?;
        let asked = CrossValidation {
            question_data: &question_data,
            split,
            seed,
            model: ModelKind::Multilevel,
            folds: ENCODER_FOLDS,
            purpose: "choosing an encoder",
        };
        let _reserved = self.context.reservations.reserve(Activity::Encoding)?;
        let seen = self.encoding.active_encoder()?;
        let mut opened: Vec<(String, SelectedEncoder)> = Vec::new();
        // All are opened before the first one encodes: a name that is wrong is told at once.
        for name in names {
            let choice = EncoderChoice { encoder: Some(name.clone()), ..choice.clone() };
            let (_, version, _) = self.encoding.open_encoder(&choice, None, progress)?;
            if opened.iter().any(|(_, before)| before.key == version.key) {
                return Err(WorkbenchError::EncoderTwice(name.clone()));
            }
            opened.push((name.clone(), version));
        }
        if opened.len() < 2 {
            return Err(WorkbenchError::OneEncoder);
        }
        let mut tried: Vec<(usize, Vec<f64>)> = Vec::new();
        for (at, (name, ..)) in opened.iter().enumerate() {
            let choice = EncoderChoice { encoder: Some(name.clone()), ..choice.clone() };
            let (encoder, version, dir) = self.encoding.open_encoder(&choice, None, progress)?;
            tried.push((at, self.held_out_losses(&asked, (&encoder, &version, &dir), progress)?));
        }
        let current = seen.current.as_ref().map(|current| &current.key);
        let incumbent =
            opened.iter().position(|(_, version)| Some(&version.key) == current).unwrap_or_default();
        // What trained an encoder is left out of its losses: then they are no longer of the same labels.
        let most = tried.iter().map(|(_, losses)| losses.len()).max().unwrap_or_default();
        if let Some((at, _)) = tried.iter().find(|(_, losses)| losses.len() < most) {
            return Err(WorkbenchError::EncoderLearned(opened[*at].0.clone()));
        }
        let stays = tried[incumbent].1.clone();
        tried.sort_by(|a, b| mean(&a.1).total_cmp(&mean(&b.1)));
        let chosen = match tried.first() {
            Some((best, losses)) if clearly_better(losses, &stays) => *best,
            _ => incumbent,
        };
        if !self.encoding.choose_encoder(&opened[chosen].1, &seen)? {
            return Err(WorkbenchError::EncoderSwitched);
        }
        let loss = |(at, losses): &(usize, Vec<f64>)| EncoderLoss {
            encoder: opened[*at].0.clone(),
            version: opened[*at].1.key.clone(),
            log_loss: mean(losses),
        };
        Ok(EncoderComparison {
            chosen: opened[chosen].0.clone(),
            incumbent: opened[incumbent].0.clone(),
            tried: tried.iter().map(loss).collect(),
        })
    }
}
