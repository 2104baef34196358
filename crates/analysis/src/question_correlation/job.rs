//! Correlation of questions as a job, and its last result.

use super::{is_held_out, rows};
use crate::Analysis;
use crate::correlated_scores::CorrelationResult;
use crate::question_correlation;
use dissensus_api::{CorrelationChoice, CorrelationPoints, QuestionCorrelation};
use dissensus_domain::JobKind;
use dissensus_project::error::ProjectError;
use dissensus_project::sync::lock;
use std::sync::Arc;

/// Kind of the job in the project.
const KIND: JobKind = JobKind::Correlate;
/// Maximum number of drawn points.
const MAX_POINTS: usize = 3000;

fn last_found(cx: &Analysis, choice: &CorrelationChoice) -> Option<Arc<CorrelationResult>> {
    let generation = cx.live.models.generation();
    let last = lock(&cx.correlations.last);
    let (_, found) =
        last.as_ref().filter(|(of, found)| *of == generation && found.shown.choice == *choice)?;
    Some(Arc::clone(found))
}

/// The last result of [`start`], if it was of this choice, as long as
/// texts and people are the same, with a flag whether labels have changed since.
pub fn last_result(cx: &Analysis, choice: &CorrelationChoice) -> Option<QuestionCorrelation> {
    let found = last_found(cx, choice)?;
    let changed = |question| cx.live.models.labels_changed(question) > found.shown.revision;
    let stale = found.texts.scored.iter().any(|scored| scored.run.is_none() && changed(scored.question.id));
    Some(QuestionCorrelation { stale, ..found.shown.clone() })
}

/// Scores `a` and `b` (indices in the list of the last correlation of this choice) of every text that
/// both have; of very many texts, evenly picked ones. `None` if that correlation is not available any
/// more, or has no such scores.
pub fn points(cx: &Analysis, choice: &CorrelationChoice, a: u32, b: u32) -> Option<CorrelationPoints> {
    let found = last_found(cx, choice)?;
    let (x, y) = (found.columns.get(a as usize)?, found.columns.get(b as usize)?);
    let held_out: Vec<usize> =
        rows(&found.texts).into_iter().filter(|row| is_held_out(&found.texts, (x, y), *row)).collect();
    let every = held_out.len().div_ceil(MAX_POINTS).max(1);
    let drawn: Vec<usize> = held_out.iter().copied().step_by(every).collect();
    let learned = |row: &usize| {
        let of = |of: usize| u8::from(found.texts.scored[of].learned[*row]);
        of(x.of) + 2 * of(y.of)
    };
    Some(CorrelationPoints {
        texts: drawn.iter().map(|row| found.ids[*row]).collect(),
        x: drawn.iter().map(|row| x.held_out[*row]).collect(),
        y: drawn.iter().map(|row| y.held_out[*row]).collect(),
        learned: drawn.iter().map(learned).collect(),
        all: held_out.len() as u32,
    })
}

/// Correlates questions as a job in the background; [`last_result`] has the result
/// when it has ended. Returns the job's id, or that of a running job for the same choice; a job that
/// correlates something else is cancelled.
///
/// # Errors
/// A choice that cannot be correlated, or the job cannot begin.
pub fn start(cx: &Analysis, choice: CorrelationChoice) -> Result<u32, ProjectError> {
    if choice.runs.is_empty() {
        question_correlation::questions_to_correlate(cx, &choice)?;
    }
    let generation = cx.live.models.generation();
    let mut at_work = lock(&cx.correlations.at_work);
    if let Some((_, id, _)) = at_work.as_ref().filter(|(of, _, g)| *of == choice && *g == generation) {
        return Ok(*id);
    }
    if let Some((_, other, _)) = at_work.as_ref() {
        cx.context.jobs.cancel(*other);
    }
    let job = cx.context.begin_job(KIND, "questions")?;
    let id = job.info().id;
    *at_work = Some((choice.clone(), id, generation));
    drop(at_work);
    let (analysis, working) = (cx.clone(), Arc::clone(&job));
    let spawned = cx.context.threads.spawn(KIND.name(), move || {
        let correlated = analysis.context.finish_job(KIND, &working, |job| {
            let result = question_correlation::correlated(&analysis, &choice, job.as_ref());
            if let Ok(found) = result {
                *lock(&analysis.correlations.last) = Some((generation, Arc::new(found)));
                // Before the end is announced, because a listener may request the next job.
                analysis.correlations.job_ended(id);
                return Ok(());
            }
            analysis.correlations.job_ended(id);
            result.map(|_| ())
        });
        // Also after a panic.
        analysis.correlations.job_ended(id);
        // Its error is reported by the job.
        drop(correlated);
    });
    if let Err(error) = spawned {
        cx.correlations.job_ended(id);
        let ended: Result<(), _> = Err(error);
        cx.context.end_job(&job, &ended);
        ended?;
    }
    Ok(id)
}
