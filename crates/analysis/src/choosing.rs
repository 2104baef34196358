//! Tries several encoders or poolings, and makes the one whose embeddings predict best the project's.

use super::Analysis;
use super::cross_validation::{CrossValidation, clearly_better, mean, of_other_labels};
use crate::cross_validation;
use crate::error::AnalysisError;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_training::encoding::ActiveEncoder;
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::encoding::encoders::SelectedEncoder;

/// An encoder with its options.
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) choice: EncoderChoice,
    pub(super) version: SelectedEncoder,
}

/// The result of one of the candidates.
pub(super) struct CandidateResult {
    /// Its index among them.
    pub(super) at: usize,
    /// Mean log loss of labels of texts that the model did not learn from.
    pub(super) log_loss: f64,
}

/// The result of a choice.
pub(super) struct ChoiceResult {
    pub(super) at: usize,
    /// All candidates, best first.
    pub(super) tried: Vec<CandidateResult>,
}

/// Opens all encoders of `choices` before the first one encodes, so that a wrong name is reported at
/// once. Unset options of a choice are taken as with `chosen`.
pub(super) fn candidates(
    cx: &Analysis,
    choices: Vec<(String, EncoderChoice)>,
    chosen: Option<&SelectedEncoder>,
    progress: &dyn Progress,
) -> Result<Vec<Candidate>, ProjectError> {
    let mut opened: Vec<Candidate> = Vec::with_capacity(choices.len());
    for (name, mut choice) in choices {
        let (_, version, _) = cx.encoding.open_encoder(&choice, chosen, progress)?;
        // The encoder of another project can change while the first ones encode.
        choice.encoder = choice.encoder.map(|_| version.encoder.clone());
        if opened.iter().any(|before| before.version.key == version.key) {
            return Err(AnalysisError::EncoderTwice(name).into());
        }
        opened.push(Candidate { name, choice, version });
    }
    Ok(opened)
}

/// Encodes with every candidate; the losses of each, of the same labels. Embeddings of all of them stay in
/// the
/// project.
pub(super) fn held_out_losses(
    cx: &Analysis,
    asked: &CrossValidation,
    candidates: &[Candidate],
    chosen: Option<&SelectedEncoder>,
    progress: &dyn Progress,
) -> Result<Vec<Vec<f64>>, ProjectError> {
    let mut losses = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        // Only one at a time is in memory. The project's encoder is unchanged until all have been tried.
        let (encoder, version, dir) = cx.encoding.open_encoder(&candidate.choice, chosen, progress)?;
        losses.push(cross_validation::held_out_losses(cx, asked, (&encoder, &version, &dir), progress)?);
    }
    // Labels that trained an encoder are left out of its losses.
    if let Some(at) = of_other_labels(&losses) {
        return Err(AnalysisError::EncoderLearned(candidates[at].name.clone()).into());
    }
    Ok(losses.into_iter().map(|of| of.values).collect())
}

/// Encodes with every candidate and makes the one whose embeddings predict best the project's, if the
/// project's encoder is still the one in `seen`. The `incumbent` stays unless another is clearly better.
/// Embeddings of all of them stay in the project.
pub(super) fn choose_candidate(
    cx: &Analysis,
    asked: &CrossValidation,
    candidates: &[Candidate],
    incumbent: Option<usize>,
    seen: &ActiveEncoder,
    progress: &dyn Progress,
) -> Result<ChoiceResult, ProjectError> {
    let losses = held_out_losses(cx, asked, candidates, seen.current.as_ref(), progress)?;
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by(|a, b| mean(&losses[*a]).total_cmp(&mean(&losses[*b])));
    let best = order.first().copied().unwrap_or_default();
    let at = incumbent.filter(|stays| !clearly_better(&losses[best], &losses[*stays])).unwrap_or(best);
    if !cx.encoding.choose_encoder(&candidates[at].version, seen)? {
        return Err(AnalysisError::EncoderSwitched.into());
    }
    let tried = order.into_iter().map(|at| CandidateResult { at, log_loss: mean(&losses[at]) });
    Ok(ChoiceResult { at, tried: tried.collect() })
}
