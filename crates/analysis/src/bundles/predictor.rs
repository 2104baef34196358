//! A question of a bundle with its encoder and its model in memory, for repeated predictions.

use super::open::{Bundle, chosen};
use dissensus_encoder::{DeviceChoice, Encoder};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_training::encoding::{EncodedText, in_order};
use dissensus_training::predicted_texts::PredictedTexts;
use dissensus_training::requested_model::RequestedModel;

/// A question of a bundle with its encoder and model in memory, see [`Bundle::predictor`].
pub struct BundlePredictor {
    nothing_yet: PredictedTexts,
    asked: RequestedModel,
    encoder: Encoder,
}

impl Bundle {
    /// Questions that can be predicted by [`Bundle::predictor`].
    pub fn questions(&self) -> Vec<String> {
        self.manifest.questions.iter().map(|question| question.name.clone()).collect()
    }

    /// External ids of the annotators whose answers to a question are predicted.
    ///
    /// # Errors
    /// No such question.
    pub fn annotators(&self, question: Option<&str>) -> Result<Vec<String>, ProjectError> {
        Ok(self.question(question)?.annotators.iter().map(|annotator| annotator.id.clone()).collect())
    }

    /// Opens the encoder and the model of a question; without names of annotators it predicts all.
    ///
    /// # Errors
    /// No such question or annotator; a file of the bundle that cannot be read.
    pub fn predictor(
        &self,
        question: Option<&str>,
        annotators: &[String],
        device: DeviceChoice,
    ) -> Result<BundlePredictor, ProjectError> {
        let question = self.question(question)?;
        let chosen = chosen(&question.annotators, annotators)?;
        let model = question.model(&self.dir)?;
        let target = model.target();
        let people = chosen.iter().map(|one| one.row).collect();
        Ok(BundlePredictor {
            nothing_yet: PredictedTexts::new(question.name.clone(), question.levels.clone(), target, &chosen),
            asked: RequestedModel::new(model, people, annotators.is_empty()),
            encoder: self.encoder(question.encoder, device)?,
        })
    }
}

impl BundlePredictor {
    /// Predicted answers of all chosen annotators to these texts, in their order.
    ///
    /// # Errors
    /// A text that cannot be encoded, not enough memory, or cancellation.
    pub fn predict(
        &mut self,
        texts: &[String],
        progress: &dyn Progress,
    ) -> Result<PredictedTexts, ProjectError> {
        let Self { nothing_yet, asked, encoder } = self;
        let mut found = nothing_yet.clone();
        found.reserve(texts.len())?;
        in_order(encoder, texts.iter().cloned().map(Ok), progress, |at, embedding| {
            let row = asked.add(&EncodedText::new(&texts[at], embedding)?)?;
            found.push(asked, row);
            Ok(())
        })?;
        Ok(found)
    }
}
