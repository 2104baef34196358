//! Self-agreement: how often people give the same answer to the same text again.

use super::Analysis;
use crate::error::AnalysisError;
use dissensus_api::{ReannotationReport, ReannotationsOfAnnotator};
use dissensus_domain::{AnnotatorId, QuestionId};
use dissensus_project::clock::now_ms;
use dissensus_project::context::share;
use dissensus_project::error::ProjectError;
use dissensus_project::words::counted;
use dissensus_stats::agreement::MIN_REPEATS;

/// Self-agreement of a question's annotators: every answer of a later annotation round compared with
/// that of the round before it, the first being the label of that time.
///
/// # Errors
/// No such question, or the file cannot be read.
pub fn report(cx: &Analysis, question: QuestionId) -> Result<ReannotationReport, ProjectError> {
    let context = &cx.context;
    context.question_parts(question)?;
    let counts = context.repeat_counts(question)?;
    let (overall, all) = (counts.overall(), counts.repeats());
    let index = context.index();
    let person = |(id, (same, repeats)): (&AnnotatorId, &(u32, u32))| {
        let row = index.annotator_row(*id)?;
        let annotator = &index.annotators()[row as usize];
        Some(ReannotationsOfAnnotator {
            annotator: *id,
            annotator_id: annotator.external_id.clone(),
            name: annotator.name.clone(),
            repeats: *repeats,
            same: *same,
            agreement: share(*same, *repeats),
        })
    };
    let mut annotators: Vec<ReannotationsOfAnnotator> = counts.annotators.iter().filter_map(person).collect();
    annotators.sort_by(|a, b| b.repeats.cmp(&a.repeats).then_with(|| a.name.cmp(&b.name)));
    Ok(ReannotationReport {
        question,
        needs: overall.is_none().then(|| needs(all)),
        overall,
        repeats: all,
        annotators,
        unpaired: counts.unpaired,
        cannot_say: counts.cannot_say,
        labels_themselves: counts.labels_themselves,
    })
}

/// Retracts the answers to a question of one later annotation round, or of all of them with `None`, for
/// example if a wrong column was imported as the round. They count again when they are imported again.
/// Returns how many counted before.
///
/// # Errors
/// No such question, no answers of this round ([`AnalysisError::NoRepeats`]), or the file cannot be
/// written.
pub fn remove(cx: &Analysis, question: QuestionId, occasion: Option<u16>) -> Result<u32, ProjectError> {
    let context = &cx.context;
    // For an option, the answers of its question: they are one answer.
    let question = question.row();
    let name = context.index().question(question).ok_or(ProjectError::NoQuestion)?.name.clone();
    let removed = context.store.write(move |tx| tx.remove_repeats(question, occasion, now_ms()))?;
    if removed > 0 {
        return Ok(removed);
    }
    let mut there: Vec<u16> = context.store.repeats(question)?.iter().map(|repeat| repeat.occasion).collect();
    there.sort_unstable();
    there.dedup();
    Err(AnalysisError::NoRepeats { question: name, occasion, there }.into())
}

fn needs(repeats: u32) -> String {
    let have = match repeats {
        0 => "Nobody has answered a text again yet".to_owned(),
        n => format!("There are {}", counted(n.into(), "repeated answer")),
    };
    format!(
        "{have}. Let people answer some texts a second time on another day, and import those answers with a column for the \
         annotation round of each (`data import --occasion COLUMN`); from {MIN_REPEATS} on their share is estimated, and twenty people with \
         20 each give it within about 7 points."
    )
}
