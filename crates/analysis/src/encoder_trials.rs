//! Comparison of encoders for the user to choose from: by the cross-validation by which
//! `encode --choose-encoder` chooses.

use super::Analysis;
use super::cross_validation::{Criterion, CrossValidation, clearly_better, mean};
use crate::choosing;
use crate::error::AnalysisError;
use dissensus_api::{EncoderHere, EncoderTrial, EncoderTrials};
use dissensus_domain::{JobKind, QuestionId};
use dissensus_encoder::{Catalogue, locate};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Follow, Progress};
use dissensus_stats::data::ModelKind;
use dissensus_training::encoding::EncoderChoice;

/// Number of folds of the training texts.
const FOLDS: u8 = 5;

/// The encoders of the catalogue that are on this computer, and the project's.
///
/// # Errors
/// The built-in catalogue is invalid, or the file cannot be read.
pub fn encoders_here(cx: &Analysis) -> Result<Vec<EncoderHere>, ProjectError> {
    let current = cx.encoding.active_encoder()?.current.map(|current| current.encoder);
    let catalogue = Catalogue::embedded()?;
    let models = cx.context.home.models();
    let known = catalogue.encoders.iter().filter(|known| locate(&known.name, models).is_ok());
    let mut here: Vec<EncoderHere> = known
        .map(|known| EncoderHere {
            name: known.name.clone(),
            about: Some(known.about.clone()),
            in_use: current.as_deref() == Some(known.name.as_str()),
        })
        .collect();
    if let Some(name) = current.filter(|name| here.iter().all(|one| one.name != *name)) {
        here.insert(0, EncoderHere { name, about: None, in_use: true });
    }
    Ok(here)
}

/// Encodes with each of the encoders `names` and returns how well `multilevel` predicts on its
/// embeddings: log loss on five folds of the training texts. Nothing is chosen, and the project's
/// encoder stays. Labels that a split scores are not used. Embeddings of all of them stay in the
/// project.
///
/// # Errors
/// Fewer than two encoders, one twice, one that is not available locally or has learned from these
/// labels, too few labels, or cancellation.
pub fn compare<'a>(
    cx: &Analysis,
    question: QuestionId,
    names: &[String],
    follow: impl Into<Follow<'a>>,
) -> Result<EncoderTrials, ProjectError> {
    cx.context
        .run(follow, JobKind::Encoders, &names.join(", "), |progress| try_all(cx, question, names, progress))
}

fn try_all(
    cx: &Analysis,
    question: QuestionId,
    names: &[String],
    progress: &dyn Progress,
) -> Result<EncoderTrials, ProjectError> {
    // The embeddings of each encoder are stored.
    cx.context.store.must_write()?;
    let name = cx.context.question_parts(question)?.0;
    let criterion = Criterion { model: ModelKind::Multilevel, folds: FOLDS, purpose: "comparing encoders" };
    let asked = CrossValidation::new(cx, Some(&name), None, 0, criterion)?;
    let _reserved = cx.context.reservations.reserve(Activity::Encoding)?;
    let current = cx.encoding.active_encoder()?.current;
    let choice = |name: &String| EncoderChoice { encoder: Some(name.clone()), ..EncoderChoice::default() };
    let choices = names.iter().map(|name| (name.clone(), choice(name))).collect();
    let mut candidates = choosing::candidates(cx, choices, current.as_ref(), progress)?;
    candidates.iter_mut().for_each(|one| one.name.clone_from(&one.version.encoder));
    if candidates.len() < 2 {
        return Err(AnalysisError::OneEncoder.into());
    }
    let losses = choosing::held_out_losses(cx, &asked, &candidates, current.as_ref(), progress)?;
    let labels = losses.first().map_or(0, Vec::len);
    let in_use =
        |at: usize| current.as_ref().is_some_and(|current| current.key == candidates[at].version.key);
    let against = (0..candidates.len()).find(|at| in_use(*at)).unwrap_or_default();
    let trial = |at: usize| {
        let differences: Vec<f64> = losses[at].iter().zip(&losses[against]).map(|(a, b)| a - b).collect();
        EncoderTrial {
            name: candidates[at].name.clone(),
            log_loss: mean(&losses[at]),
            standard_error: standard_error(&losses[at]),
            difference: mean(&differences),
            difference_error: standard_error(&differences),
            clearly_better: at != against && clearly_better(&losses[at], &losses[against]),
            in_use: in_use(at),
        }
    };
    let mut trials: Vec<EncoderTrial> = (0..candidates.len()).map(trial).collect();
    trials.sort_by(|a, b| a.log_loss.total_cmp(&b.log_loss));
    Ok(EncoderTrials { question, labels: labels as u32, against: candidates[against].name.clone(), trials })
}

/// The standard error of a mean.
fn standard_error(values: &[f64]) -> f64 {
    let (n, centre) = (values.len() as f64, mean(values));
    let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
    (squares / (n - 1.0).max(1.0) / n.max(1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: variance 5/3 of 1, 2, 3, 4, over four.
    #[test]
    fn standard_error_is_the_deviation_over_the_root() {
        assert!((standard_error(&[1.0, 2.0, 3.0, 4.0]) - (5.0f64 / 12.0).sqrt()).abs() < 1e-12);
        assert_eq!((standard_error(&[]), standard_error(&[3.0])), (0.0, 0.0));
    }
}
