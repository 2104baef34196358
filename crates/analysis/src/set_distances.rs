//! Correlations between the options of a question, for the distances of whole answers.

use super::Analysis;
use super::multi_label::MAX_PAIRED;
use dissensus_domain::Question;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::scored_by_folds;
use dissensus_stats::data::{FitOptions, ModelKind};
use dissensus_stats::disagreement::OptionCooccurrence;
use dissensus_stats::metrics::Scored;
use dissensus_stats::options::HeldOutSets;

/// Learns the correlations between the options of a question, on labels predicted by `multilevel` models
/// that had not learned from their texts, and whether they improve the predicted distances of people's
/// answers. Nothing with more than 300 annotators, whose pairs are too many for distances.
///
/// # Errors
/// The question has no options or no labels, its data cannot be read, or cancellation.
pub fn measure(
    cx: &Analysis,
    question: &Question,
    progress: &dyn Progress,
) -> Result<Option<OptionCooccurrence>, ProjectError> {
    if cx.context.index().annotators().len() > MAX_PAIRED {
        return Ok(None);
    }
    options_together(cx, question, progress).map(Some)
}

/// Learns the correlations as [`measure`] does, with any number of annotators.
pub(crate) fn options_together(
    cx: &Analysis,
    question: &Question,
    progress: &dyn Progress,
) -> Result<OptionCooccurrence, ProjectError> {
    let options = cx.context.learned_data(question)?;
    let first = options.first().ok_or(ProjectError::NoQuestion)?;
    let (embeddings, encoder) = cx.encoding.embeddings_for(first)?;
    let seen = cx.encoding.seen_by(encoder.as_deref(), &cx.context.index())?;
    let fit = FitOptions::default();
    let held_out = |option: &dissensus_project::context::QuestionData| {
        scored_by_folds(ModelKind::Multilevel, &option.data(&embeddings), seen.rows(), &fit, progress)
    };
    let held_out: Vec<Scored> = options.iter().map(held_out).collect::<Result<_, _>>()?;
    let held_out = HeldOutSets::of_options(&held_out.iter().collect::<Vec<_>>(), |text| text)?;
    Ok(OptionCooccurrence::learn(options.len(), &held_out, |text| first.unit(text), fit.seed)?)
}
