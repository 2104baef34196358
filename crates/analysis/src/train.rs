//! Fits the project's live model.

use super::Analysis;
use crate::recorded;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::data::{FitOptions, ModelKind};
use dissensus_store::EvaluationKind;
use serde::Serialize;
use serde_json::json;
use std::time::Instant;

/// Summary of a fit.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trained {
    pub model: &'static str,
    pub question: String,
    /// Labels that it is based on.
    pub labels: usize,
    /// Number of annotators that it knows.
    pub annotators: usize,
    /// Encoder version.
    pub encoder: Option<String>,
    /// Duration in seconds.
    pub seconds: f64,
}

/// Fits the project's live model on all labels and stores it.
///
/// # Errors
/// No labels, or cancellation.
pub fn train(
    cx: &Analysis,
    question: Option<&str>,
    progress: &dyn Progress,
) -> Result<Trained, ProjectError> {
    let question = cx.context.index().find_question(question)?.clone();
    let labels = cx.context.store.current_labels(question.id)?.len();
    if labels == 0 {
        return Err(ProjectError::NoLabels(question.name));
    }
    let asked = json!({ "question": question.name, "model": ModelKind::Multilevel.name() });
    recorded::recorded(cx, EvaluationKind::Fit, asked, FitOptions::default().seed, || {
        let started = Instant::now();
        cx.live.refit(question.id, progress)?;
        Ok(Trained {
            model: ModelKind::Multilevel.name(),
            labels,
            annotators: cx.context.index().annotators().len(),
            encoder: cx.encoding.embeddings()?.1.version,
            seconds: started.elapsed().as_secs_f64(),
            question: question.name.clone(),
        })
    })
}
