//! Scores by the models of runs: held out if a run has learned nothing about a text.

use super::scores::{clusters_of, with_copies};
use crate::Analysis;
use crate::correlated_scores::{QuestionScores, ScoredTexts};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_training::error::TrainingError;
use dissensus_training::runs;

/// Scores by finished runs, of different questions.
pub(super) fn run_scores(
    cx: &Analysis,
    runs: &[u32],
    progress: &dyn Progress,
) -> Result<ScoredTexts, ProjectError> {
    let mut scored: Vec<QuestionScores> = Vec::new();
    let (mut annotators, mut data) = (0, None);
    for run in runs {
        let found = runs::scores_of_texts(&cx.runs, *run, progress)?;
        if let Some(known) = scored.iter().find(|known| known.question.id == found.question.id) {
            return Err(TrainingError::NotCorrelated(format!(
                "runs {} and {run} are both of \"{}\": name one run of each question",
                known.run.unwrap_or_default(),
                found.question.name
            ))
            .into());
        }
        let data = match &mut data {
            Some(data) => data,
            none => none.insert(cx.context.question_data(&found.question)?),
        };
        if found.learned.len() != data.texts.len() {
            return Err(ProjectError::Busy("import"));
        }
        let levels = found.question.scale.len();
        let learned = with_copies(&found.learned, &data.copies);
        let mut held_out = found.mean.clone();
        for (row, _) in learned.iter().enumerate().filter(|(_, learned)| **learned) {
            held_out[row * levels..(row + 1) * levels].fill(f64::NAN);
        }
        annotators = annotators.max(found.annotators);
        let (question, as_learned) = (found.question, found.mean);
        scored.push(QuestionScores { question, run: Some(*run), as_learned, held_out, learned });
    }
    let data = data.ok_or(ProjectError::NoQuestion)?;
    if scored.len() < 2 && scored[0].question.scale.target().is_ordered() {
        return Err(TrainingError::NotCorrelated("it takes runs of two questions".to_owned()).into());
    }
    let texts = data.texts.len();
    Ok(ScoredTexts {
        scored,
        strata: vec![0; texts],
        clusters: clusters_of(&data),
        first_with_body: data.copies,
        taught_encoder: vec![false; texts],
        annotators,
        folds: None,
    })
}
