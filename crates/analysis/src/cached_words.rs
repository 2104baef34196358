//! Models of words stored in the project, so that the next session need not read words anew.

use super::Analysis;
use super::caches::FittedWords;
use super::changed_answers::changed_since;
use dissensus_domain::{EventId, Question, QuestionId, TextId};
use dissensus_models::spans::{LiveSpans, SpanAnswer};
use dissensus_project::clock::now_ms;
use dissensus_project::error::ProjectError;
use dissensus_project::log::go_on;
use dissensus_project::text_words::{columns, marks, words};
use dissensus_store::NewHead;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use unicode_segmentation::UNICODE_VERSION;

/// The name under which they are stored in the project.
const MODEL: &str = "words";
/// Maximum size in bytes: the scores of some hundred thousand texts of twenty words, or ten thousand of two
/// hundred, with four types.
const MAX_BYTES: usize = 128 << 20;
/// Texts whose bodies are read together.
const BATCH_TEXTS: usize = 512;

/// A model as stored in the project: scores of words without answers, which are read from the project.
#[derive(Serialize, Deserialize)]
struct CachedWords<'a> {
    /// Version of the Unicode tables by which texts were divided into words.
    words: (u64, u64, u64),
    /// The last event before the fit.
    followed: u32,
    answers: u32,
    tuned: bool,
    #[serde(borrow)]
    scores: &'a [u8],
}

/// Stores a model in place of earlier ones of the question. If it cannot be stored, or is too large,
/// words are read anew in the next session.
pub(super) fn store_words(cx: &Analysis, question: QuestionId, fitted: &FittedWords) {
    if cx.context.store.is_reader() {
        return;
    }
    // An earlier model must not be loaded in place of one that could not be stored.
    if go_on("keeping a model of words", put_words(cx, question, fitted)) != Some(true) {
        go_on("forgetting a model of words", cx.context.store.forget_heads(question, MODEL));
    }
}

/// Stores the model; false if it is too large.
fn put_words(cx: &Analysis, question: QuestionId, fitted: &FittedWords) -> Result<bool, ProjectError> {
    let scores = fitted.live.scores_to_bytes()?;
    if scores.len() > MAX_BYTES {
        tracing::info!(bytes = scores.len(), "a model of words is too large to be stored");
        return Ok(false);
    }
    let FittedWords { followed, answers, tuned, .. } = *fitted;
    let (followed, words) = (followed.0, UNICODE_VERSION);
    let kept = CachedWords { words, followed, answers, tuned, scores: &scores };
    let head = NewHead {
        question,
        version: Some(fitted.encoder.clone()),
        model: MODEL.to_owned(),
        made_at_ms: now_ms(),
        weights: postcard::to_allocvec(&kept).map_err(|e| ProjectError::internal(&e))?,
    };
    cx.context.store.put_only_head(head, &fitted.levels)?;
    Ok(true)
}

/// The stored model for a question and the encoder version `encoder` that is in use, updated with all
/// current answers. `None` if there is none, this version cannot read it, or answers have changed more
/// than it can follow.
pub(super) fn stored_words(
    cx: &Analysis,
    question: &Question,
    encoder: &str,
) -> Result<Option<FittedWords>, ProjectError> {
    let Some(head) = cx.context.store.head(question.id, Some(encoder), MODEL)? else { return Ok(None) };
    // A stored model that cannot be read is no loss: words are read anew.
    let Ok(CachedWords { words, followed, answers, tuned, scores }) =
        postcard::from_bytes::<CachedWords<'_>>(&head.weights)
    else {
        return Ok(None);
    };
    if words != UNICODE_VERSION {
        return Ok(None);
    }
    if changed_since(cx, question.id, EventId(followed))?.is_none() {
        return Ok(None);
    }
    let Ok(live) = LiveSpans::from_scores(scores) else { return Ok(None) };
    if live.types() != question.scale.len() {
        return Ok(None);
    }
    // Before labels are read: a change in between is read once more, which changes nothing.
    let followed = cx.context.store.last_event()?;
    let levels = question.scale.ids().to_vec();
    let mut fitted = FittedWords { live, levels, encoder: encoder.to_owned(), followed, answers, tuned };
    let of_now = all_marks(cx, question)?;
    fitted.live.record_all(of_now.into_iter());
    Ok(Some(fitted))
}

/// The marks of all current answers, with texts and annotators by their ids.
fn all_marks(cx: &Analysis, question: &Question) -> Result<Vec<SpanAnswer>, ProjectError> {
    let (types, labels) = match cx.context.span_data(question) {
        // All were retracted since: the model predicts without them.
        Err(ProjectError::NoLabels(_)) => return Ok(Vec::new()),
        found => found?,
    };
    let Some(first) = types.first() else { return Ok(Vec::new()) };
    let mut by_text: BTreeMap<u32, Vec<_>> = BTreeMap::new();
    labels.into_iter().for_each(|label| by_text.entry(label.text).or_default().push(label));
    let by_text: Vec<_> = by_text.into_iter().collect();
    let mut answers = Vec::new();
    for chunk in by_text.chunks(BATCH_TEXTS) {
        let ids: Vec<TextId> = chunk.iter().map(|(row, _)| first.texts[*row as usize]).collect();
        for (((_, labels), text), body) in chunk.iter().zip(&ids).zip(cx.context.store.bodies(&ids)?) {
            let places = words(&body);
            answers.extend(labels.iter().map(|label| SpanAnswer {
                text: text.0,
                annotator: first.annotators[label.annotator as usize].0,
                marks: marks(&places, &columns(&label.spans, &question.scale)),
            }));
        }
    }
    Ok(answers)
}
