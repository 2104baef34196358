//! Default settings of a training.

use super::Runs;
use crate::saved_runs::choices;
use dissensus_api::{TrainChoices, Tuning};
use dissensus_domain::{Question, QuestionId};
use dissensus_project::error::ProjectError;
use dissensus_stats::data::ModelKind;

/// Default settings of a training of this model on a question, or on all its options: those of the last
/// training, otherwise sensible choices.
///
/// # Errors
/// There is no such question.
pub fn defaults(
    cx: &Runs,
    question: QuestionId,
    kind: ModelKind,
    tuning: Tuning,
) -> Result<TrainChoices, ProjectError> {
    let context = &cx.context;
    let first = first_learned(cx, question)?;
    let last: Option<serde_json::Value> = context.store.setting(&last_key(kind, &tuning))?;
    if let Some(last) = last.and_then(|last| choices::read(last).ok().flatten()) {
        // An older version may have accepted a number that is out of range now.
        return Ok(TrainChoices { question, ..last.into_ranges(|_| true) });
    }
    let question_data = context.question_data(&first)?;
    Ok(choices::defaults(
        question,
        kind,
        &tuning,
        question_data.labelled_texts(),
        question_data.usual_split(),
    ))
}

/// Settings for a script: sensible choices, regardless of the last training. `tuning` is `frozen`,
/// `last-K`, `lora`, `lora-RANK`, `prompt-N` or `full`.
///
/// # Errors
/// There is no such model, question or tuning.
pub fn choices_for(
    cx: &Runs,
    question: QuestionId,
    model: ModelKind,
    tuning: &str,
) -> Result<TrainChoices, ProjectError> {
    let question_data = cx.context.question_data(&first_learned(cx, question)?)?;
    let (texts, split) = (question_data.labelled_texts(), question_data.usual_split());
    let mut named = choices::defaults(question, model, &Tuning::Frozen, texts, split);
    choices::set_tuning(&mut named, tuning)?;
    let fresh = choices::defaults(question, model, &named.tuning, texts, split);
    Ok(TrainChoices { layers: named.layers, rank: named.rank, vectors: named.vectors, ..fresh })
}

/// The learned question: itself, or the first of its options, all of which have its answers.
fn first_learned(cx: &Runs, question: QuestionId) -> Result<Question, ProjectError> {
    let index = cx.context.index();
    let found = index.question(question).ok_or(ProjectError::NoQuestion)?;
    Ok(found.options().into_iter().next().unwrap_or_else(|| found.clone()))
}

/// The setting with the choices of the last training of this kind. Spelled as it is stored in projects:
/// `lastk` since the first version.
pub fn last_key(model: ModelKind, tuning: &Tuning) -> String {
    let tuning = match tuning {
        Tuning::Frozen => "frozen",
        Tuning::LastK => "lastk",
        Tuning::Lora => "lora",
        Tuning::Prompt => "prompt",
        Tuning::Full => "full",
    };
    format!("training_{}_{tuning}", model.name())
}
