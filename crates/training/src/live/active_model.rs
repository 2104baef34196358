//! Description of the model that predicts for a question.

use super::LiveModels;
use super::fitted::MODEL;
use dissensus_api::ActiveModel;
use dissensus_domain::QuestionId;
use dissensus_project::error::ProjectError;

impl LiveModels {
    /// The model that predicts for a question: its encoder, kind and training labels.
    ///
    /// # Errors
    /// No such question, or the file cannot be read.
    pub fn active_model(&self, question: QuestionId) -> Result<ActiveModel, ProjectError> {
        let context = &self.context;
        context.index().question(question).ok_or(ProjectError::NoQuestion)?;
        let active = self.encoding.active_encoder()?;
        let learned = context.index().learned(question);
        let of_one = |one: &QuestionId| {
            self.models.with(*one, |fitted| {
                (fitted.labels, fitted.learned, fitted.fitted_at_ms, fitted.basis.version.clone())
            })
        };
        // The options of a multi-label question learn from the same labels: the first one represents all,
        // once all have a model.
        let all: Option<Vec<_>> = learned.iter().map(of_one).collect();
        let fitted = all.and_then(|all| all.into_iter().next());
        // A model on earlier embeddings is about to be fitted again, and must not be reported.
        let fitted = fitted.filter(|(.., version)| version.as_deref() == active.key());
        let current = active.current.as_ref();
        Ok(ActiveModel {
            question,
            encoder: active.key().map(str::to_owned),
            pooling: current.map(|encoder| encoder.pooling.to_string()),
            precision: current.map(|encoder| encoder.precision.to_string()),
            run: active.run,
            tuned: active.is_tuned(),
            model: MODEL.to_owned(),
            fitted_on: fitted.as_ref().map(|(labels, ..)| *labels as u32),
            learned_since: fitted.as_ref().map_or(0, |(_, learned, ..)| *learned),
            fitted_at: fitted.as_ref().map(|(.., at, _)| *at as f64),
            labels: context.store.current_labels(question)?.len() as u32,
        })
    }
}
