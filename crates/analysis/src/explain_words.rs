//! The words that carry a text's score: each is left out in turn, and the rest is scored like a new text.

use super::Analysis;
use crate::error::AnalysisError;
use crate::explain;
use dissensus_api::{ExplainQuery, ExplainedOdds, ExplainedWords, WordEffect};
use dissensus_domain::{AnnotatorId, JobKind, QuestionId, TextId};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Follow, Progress, Silent};
use dissensus_stats::data::AnnotatorModel as _;
use dissensus_training::encoding::{EncodedText, EncoderChoice};
use dissensus_training::error::TrainingError;

/// Note for a text with labels.
const LABELLED: &str = "This text has labels: it is scored like a new text, by a model that has also learned from the labels of this one.";

/// The effect of each word of a text of the project on the score of the text, for the odds that
/// [`explain::explain_text`] explains. `reading_as` is the person who labels in this window.
///
/// # Errors
/// Those of [`explain::explain_text`]; [`AnalysisError::Blind`] if the prediction is hidden; the encoder is
/// missing or another one; cancellation; as a job, the one for another text is running.
pub fn explain_text<'a>(
    cx: &Analysis,
    query: &ExplainQuery,
    reading_as: Option<AnnotatorId>,
    show_hidden: bool,
    choice: &EncoderChoice,
    follow: impl Into<Follow<'a>>,
) -> Result<ExplainedWords, ProjectError> {
    let explain =
        |progress: &dyn Progress| leave_out_words(cx, query, reading_as, show_hidden, choice, progress);
    match follow.into() {
        Follow::Caller(progress) => explain(progress),
        // What is cached needs no job.
        Follow::Job if cx.encoding.cached_occlusion(&body(cx, query)?)?.is_some() => explain(&Silent),
        Follow::Job => {
            let _reserved = cx.context.reservations.reserve(Activity::Words)?;
            cx.context.as_job(JobKind::Words, "", |job| explain(job.as_ref()))
        }
    }
}

fn leave_out_words(
    cx: &Analysis,
    query: &ExplainQuery,
    reading_as: Option<AnnotatorId>,
    show_hidden: bool,
    choice: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<ExplainedWords, ProjectError> {
    let explanation = explain::explain_text(cx, query, reading_as, show_hidden)?;
    if let Some(hidden) = explanation.annotators.iter().find(|person| person.hidden) {
        return Err(AnalysisError::Blind { annotator: hidden.name.clone() }.into());
    }
    let odds = explanation.odds.ok_or(ProjectError::NoQuestion)?;
    explain_odds(cx, query.question, Some(query.text), &body(cx, query)?, odds, choice, progress)
}

/// Explains words as [`explain_text`] does, for any text (`known`: its row if it is in the
/// project) and the odds that were explained.
///
/// # Errors
/// The model of the question is not live, the encoder is missing or another one, or cancellation.
pub fn explain_odds(
    cx: &Analysis,
    question: QuestionId,
    known: Option<TextId>,
    text: &str,
    odds: ExplainedOdds,
    choice: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<ExplainedWords, ProjectError> {
    let none = |needs: &str| ExplainedWords {
        odds,
        score: 0.0,
        pieces: Vec::new(),
        together: 1,
        needs: Some(needs.to_owned()),
        remark: None,
    };
    let index = cx.context.index();
    let row = known.and_then(|text| index.text_row(text));
    let live = cx.live.with(index.with_levels(question)?, |fitted| {
        let model = &fitted.model;
        let in_model = row.filter(|row| (*row as usize) < model.texts());
        let labelled = in_model.is_some_and(|row| model.labels_of_text(row).next().is_some());
        (model.text_score(), fitted.basis.version.clone(), labelled)
    })?;
    let (score, version, labelled) =
        live.ok_or_else(|| TrainingError::NotEncoded(cx.context.store.path().to_owned()))?;
    let Some(version) = version else {
        return Ok(none("Texts have no embeddings yet: their words say nothing to the model."));
    };
    let occluded = cx.encoding.occluded(text, choice, progress)?;
    if occluded.version != version {
        return Err(ProjectError::Busy("fitting the model on the encoder in use"));
    }
    if occluded.without.is_empty() {
        return Ok(none("Of this text nothing is left without its only word."));
    }
    let towards = |text: &EncodedText| -> Result<f64, ProjectError> {
        let scores = score.of(text.features())?;
        Ok(odds
            .against
            .map_or(scores[0], |against| scores[usize::from(odds.level)] - scores[usize::from(against)]))
    };
    let whole = towards(&occluded.whole)?;
    let pieces =
        occluded.pieces.iter().zip(&occluded.without).map(|(words, without)| {
            Ok(WordEffect { words: words.clone(), change: whole - towards(without)? })
        });
    Ok(ExplainedWords {
        odds,
        score: whole,
        pieces: pieces.collect::<Result<_, ProjectError>>()?,
        together: occluded.together as u32,
        needs: None,
        remark: labelled.then(|| LABELLED.to_owned()),
    })
}

fn body(cx: &Analysis, query: &ExplainQuery) -> Result<String, ProjectError> {
    let found = cx.context.store.text(query.text)?;
    Ok(found.ok_or_else(|| ProjectError::NoSuchText(query.text.0.to_string()))?.body)
}
