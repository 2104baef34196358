//! Results of a training run.

use super::history::EpochRecord;
use super::word_question::WordHead;
use crate::encoder_error::encoder_error;
use crate::networks::{Network, NetworkModel};
use dissensus_encoder::{Encoder, Trainable};
use dissensus_models::batch::{Multilevel, Prepared};
use dissensus_stats::data::FitOptions;
use dissensus_stats::data::ModelError;
use dissensus_stats::data::progress::Silent;
use dissensus_stats::data::{AnnotatorModel, ModelKind};
use dissensus_stats::data::{Embeddings, TrainingData};
use std::path::Path;
use std::sync::Arc;

/// Why a training stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// All steps are done.
    AllSteps,
    /// The scores on the validation labels did not improve for as many evaluations as patience allows.
    EarlyStopping,
}

/// A finished training, with the weights of its best evaluation.
pub struct Trained {
    /// The network of each own question.
    pub(super) networks: Vec<Network>,
    /// Heads of the words of each question with words, in their order.
    pub word_heads: Vec<WordHead>,
    pub(super) encoder: Option<Trainable>,
    /// All evaluations.
    pub history: Vec<EpochRecord>,
    /// Why it stopped.
    pub ended: StopReason,
    pub seconds: f64,
    pub device: &'static str,
}

impl Trained {
    /// Returns the tuned encoder, for embeddings of any text; `None` where it was frozen.
    ///
    /// # Errors
    /// Its source folder no longer exists.
    pub fn encoder(&self) -> Result<Option<Encoder>, ModelError> {
        self.encoder.as_ref().map(Trainable::encoder).transpose().map_err(encoder_error)
    }

    /// Note for the user where texts were cut earlier than requested, to make room for a soft prompt.
    pub fn cut_for_prompt(&self) -> Option<String> {
        self.encoder.as_ref().and_then(Trainable::cut_for_prompt)
    }

    /// Writes the tuned encoder, with tokenizer and configuration, into the new folder `dir`. Returns false
    /// where none was tuned.
    ///
    /// # Errors
    /// `dir` exists, or an I/O error.
    pub fn save_encoder(&self, dir: &Path) -> Result<bool, ModelError> {
        match &self.encoder {
            None => Ok(false),
            Some(encoder) => encoder.save(dir).map(|()| true).map_err(encoder_error),
        }
    }

    /// The learned heads of each own question, in their order.
    pub fn into_heads(self) -> Vec<Head> {
        self.networks.into_iter().map(|network| Head { network }).collect()
    }
}

impl Trained {
    /// Calls [`Head::model`] for the first own question.
    pub fn model(
        self,
        data: &TrainingData<'_>,
        options: &FitOptions,
    ) -> Result<Box<dyn AnnotatorModel>, ModelError> {
        self.first().model(data, options)
    }

    /// Calls [`Head::network_model`] for the first own question.
    pub fn network_model(self, x: Arc<Embeddings>) -> Result<NetworkModel, ModelError> {
        self.first().network_model(x)
    }

    fn first(mut self) -> Head {
        Head { network: self.networks.swap_remove(0) }
    }
}

/// The learned head of one question: the network on the embeddings.
pub struct Head {
    network: Network,
}

impl Head {
    /// Returns the predicting model over the embeddings of `data`: those it was trained on, or those of the
    /// tuned encoder. `multilevel` is fitted to the labels of `data` on them.
    ///
    /// # Errors
    /// Those of `dissensus_selection::fit`; [`ModelError::EmbeddingLength`].
    pub fn model(
        self,
        data: &TrainingData<'_>,
        options: &FitOptions,
    ) -> Result<Box<dyn AnnotatorModel>, ModelError> {
        if self.network.spec.model == ModelKind::Multilevel {
            let prepared = Prepared::new(data, options)?;
            return Ok(Box::new(Multilevel::fit(&prepared, options, &Silent)?));
        }
        Ok(Box::new(self.network_model(Arc::new(data.embeddings.clone()))?))
    }

    /// Returns the network over these embeddings, for models other than `multilevel`.
    ///
    /// # Errors
    /// [`ModelError::EmbeddingLength`].
    pub fn network_model(self, x: Arc<Embeddings>) -> Result<NetworkModel, ModelError> {
        NetworkModel::new(self.network, Arc::clone(&x)).over(x)
    }
}
