//! Evaluation of models on held-out texts, one use case for every question: each of its targets is divided
//! and
//! predicted in the same way ([`targets`]) and models are compared in the same way ([`compared`]); what is
//! scored is decided by the form of its answers ([`levels`], [`options`], [`spans`]).

mod choices;
mod compared;
mod levels;
mod options;
mod spans;
mod targets;

pub use choices::EvaluateChoices;
pub(crate) use choices::level_index;
pub use compared::{ModelDifference, ModelDifferences};
pub use levels::{Evaluation, ModelCalibration, WithoutCopies};
pub use options::{OptionEvaluation, SetsWithoutCopies};
pub use spans::{SpanEvaluationReport, SpansWithoutCopies, TypeOfSpans};
pub use targets::SplitReport;

use crate::Analysis;
use crate::error::AnalysisError;
use crate::recorded;
use dissensus_domain::{AnswerForm, Question};
use dissensus_project::context::QuestionData;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_selection::evaluation::SplitSpec;
use dissensus_store::EvaluationKind;
use serde::Serialize;
use serde_json::json;

/// Scores of models on the held-out answers to a question.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum QuestionEvaluation {
    Levels(Box<Evaluation>),
    Options(Box<OptionEvaluation>),
    Spans(Box<SpanEvaluationReport>),
}

/// Trains every model on one part of the texts and scores it on the other: on levels, on whole sets of
/// options, or on marked words. Stored as an evaluation of the project if it is writable; with a tuned
/// encoder, as runs.
///
/// # Errors
/// No labels, no such split or level, one side of the split empty, or cancellation. For a question whose
/// answers are sets or spans also: a choice that exists only for one option or type, a split that divides
/// options differently.
pub fn evaluate(
    cx: &Analysis,
    choices: &EvaluateChoices,
    progress: &dyn Progress,
) -> Result<QuestionEvaluation, ProjectError> {
    let question = cx.context.index().find_question(choices.question.as_deref())?.clone();
    if question.scale.form().has_parts() {
        check_whole(cx, &question, choices)?;
    }
    let work = || evaluate_form(cx, &question, choices, progress);
    if choices.tuning != "frozen" {
        return work();
    }
    let asked = json!({
        "question": question.name,
        "newest_event": cx.context.store.newest_of(question.id)?,
        "models": choices.models.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
        "split": choices.split.name(),
        "at_least": choices.at_least,
        "without_slips": choices.without_slips,
    });
    recorded::recorded(cx, EvaluationKind::Evaluation, asked, u64::from(choices.seed), work)
}

fn evaluate_form(
    cx: &Analysis,
    question: &Question,
    choices: &EvaluateChoices,
    progress: &dyn Progress,
) -> Result<QuestionEvaluation, ProjectError> {
    Ok(match question.scale.form() {
        AnswerForm::Level => {
            QuestionEvaluation::Levels(Box::new(levels::evaluate(cx, question, choices, progress)?))
        }
        AnswerForm::Options => {
            QuestionEvaluation::Options(Box::new(options::evaluate(cx, question, choices, progress)?))
        }
        AnswerForm::Spans => {
            QuestionEvaluation::Spans(Box::new(spans::evaluate(cx, question, choices, progress)?))
        }
    })
}

/// Refuses what exists only for a single option or type.
fn check_whole(cx: &Analysis, question: &Question, choices: &EvaluateChoices) -> Result<(), ProjectError> {
    if choices.tuning != "frozen" || choices.prediction_sets || choices.at_least.is_some() {
        cx.context.index().with_levels(question.id)?;
    }
    match choices.split {
        SplitSpec::Stratified(_) => Err(AnalysisError::StratifiedOptions(question.name.clone()).into()),
        _ => Ok(()),
    }
}

/// The default split: the official one if texts are assigned, otherwise 70 % of the texts are training
/// texts.
///
/// # Errors
/// No such question, or no labels.
pub fn usual_split(cx: &Analysis, question: Option<&str>) -> Result<SplitSpec, ProjectError> {
    let question = cx.context.index().find_question(question)?.clone();
    let data = cx.context.learned_data(&question)?;
    data.first().map(QuestionData::usual_split).ok_or(ProjectError::NoQuestion)
}
