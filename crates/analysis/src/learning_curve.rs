//! Learning curves of new annotators.

use super::Analysis;
use super::EvaluateChoices;
use super::evaluation::level_index;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::{ColdStart, LearningCurve, learning_curve};
use dissensus_stats::data::FitOptions;

/// Cold start: a share of the annotators is held out entirely, and each model is trained on so many
/// labels of each of them. `by_text` is the share of texts that is never trained on, if any.
///
/// # Errors
/// No labels, no such level, no annotator with enough labels, or cancellation.
pub fn measure(
    cx: &Analysis,
    choices: &EvaluateChoices,
    labels: &[usize],
    by_text: Option<f64>,
    progress: &dyn Progress,
) -> Result<LearningCurve, ProjectError> {
    let question = cx.question(choices.question.as_deref())?;
    let at_least = choices.at_least.as_deref().map(|name| level_index(&question, name)).transpose()?;
    let question_data = cx.context.question_data(&question)?;
    let (embeddings, version) = cx.encoding.embeddings_for(&question_data)?;
    let asked = ColdStart { labels: labels.to_vec(), by_text_too: by_text, at_least, ..ColdStart::default() };
    let options = FitOptions { seed: u64::from(choices.seed), ..FitOptions::default() };
    let data = question_data.data(&embeddings);
    let seen = cx.encoding.seen_by(version.as_deref(), &cx.context.index())?;
    Ok(learning_curve(&data, &choices.models, &asked, seen.rows(), &options, progress)?)
}
