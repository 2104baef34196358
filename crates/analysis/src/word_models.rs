//! Models of words that follow labels: marks in a text, and predicted marks.

use super::Analysis;
use super::caches::FittedWords;
use super::changed_answers::changed_since;
use super::word_fit::WordFit;
use crate::cached_words;
use crate::chosen;
use crate::error::AnalysisError;
use crate::word_fit;
use dissensus_api::{
    DisagreementQuery, FittedOn, WordFigure, WordHeat, WordModelReport, WordNeeds, WordTypeReport,
};
use dissensus_domain::{
    AnnotatorId, Answer, CurrentLabel, JobKind, LevelId, Question, QuestionId, SpanSet, TextId,
};
use dissensus_models::spans::{ExpectedMarks, SpanAnswer};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::{Activity, Follow, Progress};
use dissensus_project::sync::lock;
use dissensus_project::text_words::{columns, marked_words, marks, words};
use dissensus_training::encoding::EncoderChoice;
use dissensus_training::runs;
use std::collections::BTreeSet;
use std::time::Instant;

/// Predictions for the words of a text.
#[derive(Default)]
struct WordPredictions {
    expected: Option<Vec<ExpectedMarks>>,
    needs: Option<WordNeeds>,
    fitted_on: Option<FittedOn>,
}

/// Fits a model of words to all answers of a question with spans (itself, or one of its types)
/// and scores every text of the project; it then follows labels, and is stored in the project.
///
/// # Errors
/// The question has no spans or no answers; no encoder, or another one than the project's; a text that
/// cannot be encoded; a fit of words is under way; cancellation, after which an earlier model stays.
pub fn fit_words<'a>(
    cx: &Analysis,
    question: QuestionId,
    choice: &EncoderChoice,
    follow: impl Into<Follow<'a>>,
) -> Result<WordModelReport, ProjectError> {
    let question = span_question(cx, question)?.0;
    cx.context.run(follow, JobKind::WordModel, &question.name, |progress| {
        fit_question(cx, &question, choice, progress)
    })
}

fn fit_question(
    cx: &Analysis,
    question: &Question,
    choice: &EncoderChoice,
    progress: &dyn Progress,
) -> Result<WordModelReport, ProjectError> {
    if !question.scale.form().marks_words() {
        return Err(AnalysisError::NoSpans(question.name.clone()).into());
    }
    let _reserved = cx.context.reservations.reserve(Activity::WordModel)?;
    let started = Instant::now();
    // Before labels are read: a change in between is read once more, which changes nothing.
    let followed = cx.context.store.last_event()?;
    let (encoder, selected, _) = cx.encoding.open_in_use(choice)?;
    let learned = runs::learned_words(&cx.runs, question.id, &selected.encoder)?.map(|(_, learned)| learned);
    let mut fit = word_fit::fit_words_on(cx, question, &encoder, learned.as_ref(), progress)?;
    let labelled: BTreeSet<u32> = fit.read.iter().copied().collect();
    let others: Vec<TextId> = fit.texts.iter().copied().filter(|text| !labelled.contains(&text.0)).collect();
    word_fit::score_words(cx, &mut fit, &encoder, &others, progress)?;
    fit.record();
    let WordFit { model, live, tuned, answers, encoder, texts, .. } = fit;
    let levels = question.scale.ids().to_vec();
    let fitted = FittedWords { live, levels, encoder: encoder.clone(), followed, answers, tuned };
    cached_words::store_words(cx, question.id, &fitted);
    cx.words.set(question.id, fitted);
    let reports = question.scale.levels().iter().zip(model.report());
    Ok(WordModelReport {
        question: question.name.clone(),
        answers,
        texts: texts.len() as u32,
        encoder,
        types: reports
            .map(|(name, of)| WordTypeReport {
                name: name.clone(),
                rate: of.rate,
                readiness_deviation: of.readiness_deviation.unwrap_or_default(),
                word_deviation: of.word_deviation,
                uses_context: of.uses_context,
            })
            .collect(),
        tuned,
        seconds: started.elapsed().as_secs_f64(),
    })
}

/// Who marked each word of a text with the type that `query.question` is, and what the people chosen by
/// `query` would do with it, given all answers so far. For `reading_as`, the person who labels in this
/// window, nothing is predicted before that person's answer, unless `show_hidden` is set.
///
/// # Errors
/// No such text; the question is no type of spans; no annotator has the attributes; the file cannot be
/// read.
pub fn heat(
    cx: &Analysis,
    query: &DisagreementQuery,
    text: TextId,
    reading_as: Option<AnnotatorId>,
    show_hidden: bool,
) -> Result<WordHeat, ProjectError> {
    let (question, of_type) = span_question(cx, query.question)?;
    let of_type = of_type.ok_or_else(|| AnalysisError::NoSpans(question.name.clone()))?;
    let body = cx.context.store.bodies(&[text])?;
    let body = body.first().ok_or_else(|| ProjectError::NoSuchText(text.0.to_string()))?;
    let places = words(body);
    let chosen = chosen::people_mask(cx, &query.attributes)?;
    let people: BTreeSet<AnnotatorId> = cx
        .context
        .index()
        .annotators()
        .iter()
        .zip(chosen)
        .filter_map(|(who, chosen)| chosen.then_some(who.id))
        .collect();
    let labels = cx.context.store.current_labels_on(text, question.id)?;
    let answers: Vec<(AnnotatorId, &SpanSet)> = labels
        .iter()
        .filter(|label| people.contains(&label.annotator))
        .filter_map(|label| match &label.answer {
            Answer::Spans(spans) => Some((label.annotator, spans)),
            _ => None,
        })
        .collect();
    let has_answered = |who: &AnnotatorId| labels.iter().any(|label| label.annotator == *who);
    let reported: Vec<u32> = people
        .iter()
        .filter(|who| show_hidden || reading_as != Some(**who) || has_answered(who))
        .map(|who| who.0)
        .collect();
    let reader_left_out = people.len() > reported.len();
    let WordPredictions { expected, needs, fitted_on } = match reported.len() {
        0 | 1 => WordPredictions { needs: Some(WordNeeds::People), ..WordPredictions::default() },
        _ => expect(cx, &question, text, places.len(), &reported)?,
    };
    let marked: Vec<(AnnotatorId, BTreeSet<u32>)> =
        answers.iter().map(|(who, spans)| (*who, marked_words(&places, spans, Some(of_type)))).collect();
    let column = question.scale.index_of_id(of_type).map_or(usize::MAX, usize::from);
    let figure = |(at, &(start, end)): (usize, &(u32, u32))| {
        let of = expected.as_ref().and_then(|all| all.get(at)?.types.get(column));
        let marks =
            |(who, words): &(AnnotatorId, BTreeSet<u32>)| words.contains(&(at as u32)).then_some(*who);
        WordFigure {
            start,
            end,
            marked_by: marked.iter().filter_map(marks).collect(),
            expected: of.map(|of| of.marks),
            differ: of.map(|of| of.pairs),
        }
    };
    Ok(WordHeat {
        words: places.iter().enumerate().map(figure).collect(),
        answers: answers.len() as u32,
        people: if expected.is_some() { reported.len() as u32 } else { 0 },
        needs,
        reader_left_out,
        fitted_on,
    })
}

/// The predicted marks of the people for each of the `words` words of a text, or what is missing for a
/// prediction.
fn expect(
    cx: &Analysis,
    question: &Question,
    text: TextId,
    words: usize,
    people: &[u32],
) -> Result<WordPredictions, ProjectError> {
    let needed = |needs| Ok(WordPredictions { needs: Some(needs), ..WordPredictions::default() });
    let Some(chosen) = cx.encoding.chosen()? else { return needed(WordNeeds::Encoder) };
    let read = || cached_words::stored_words(cx, question, &chosen.key);
    let Some(known) = cx.words.get_or_read(question.id, &chosen.key, read)? else {
        return needed(WordNeeds::Fit);
    };
    let mut fitted = lock(&known);
    let fits = fitted.encoder == chosen.key && fitted.levels == question.scale.ids();
    if !fits || !follow_words(cx, question, &mut fitted)? {
        drop(fitted);
        cx.words.forget(question.id, &known);
        return needed(WordNeeds::Fit);
    }
    let expected = fitted.live.expected(text.0, people).filter(|expected| expected.len() == words);
    let needs = expected.is_none().then_some(WordNeeds::Fit);
    let now = fitted.live.answers() as u32;
    let fitted_on = Some(FittedOn { answers: fitted.answers, now, tuned: fitted.tuned });
    Ok(WordPredictions { expected, needs, fitted_on })
}

/// Updates the model with changes of labels since its last event; false if there were too many. Current
/// answers are read from the project, never taken from the event.
fn follow_words(cx: &Analysis, question: &Question, fitted: &mut FittedWords) -> Result<bool, ProjectError> {
    let Some((changed, followed)) = changed_since(cx, question.id, fitted.followed)? else {
        return Ok(false);
    };
    let mut answers = Vec::with_capacity(changed.len());
    for (text, annotator) in changed {
        let label = cx.context.store.current_label(question.id, text, annotator)?;
        let answer = match label.map(|CurrentLabel { answer, .. }| answer) {
            Some(Answer::Spans(spans)) => {
                let bodies = cx.context.store.bodies(&[text])?;
                let places = bodies.first().map(|body| words(body)).unwrap_or_default();
                let marks = marks(&places, &columns(&spans, &question.scale));
                Some(SpanAnswer { text: text.0, annotator: annotator.0, marks })
            }
            _ => None,
        };
        answers.push((annotator.0, text.0, answer));
    }
    fitted.live.record_changes(answers.into_iter());
    fitted.followed = followed;
    Ok(true)
}

/// The question with spans that has this id, or to which the type with this id belongs, and the type.
pub(super) fn span_question(
    cx: &Analysis,
    id: QuestionId,
) -> Result<(Question, Option<LevelId>), ProjectError> {
    let index = cx.context.index();
    let found = index.questions().iter().find_map(|question| {
        if question.id == id {
            return Some((question.clone(), None));
        }
        let of_type = question.options().iter().find(|option| option.id == id)?.id.option();
        Some((question.clone(), of_type))
    });
    match found {
        Some((question, of_type)) if question.scale.form().marks_words() => Ok((question, of_type)),
        Some((question, _)) => Err(AnalysisError::NoSpans(question.name).into()),
        None => Err(ProjectError::NoQuestion),
    }
}
