//! A model of words fitted to the answers of a project, for several uses.

use super::Analysis;
use super::span_data::{BATCH_TEXTS, SpanData};
use crate::span_data;
use dissensus_domain::{AnnotatorId, Question, TextId};
use dissensus_encoder::{Encoder, WordStates};
use dissensus_models::spans::{LiveSpans, SpanAnswer, SpanFitOptions, SpanModel, SpanTexts, SpanTraining};
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_stats::data::ModelKind;
use dissensus_training::learned_words::LearnedWords;
use dissensus_training::word_predictor::WordPredictor;
use std::collections::BTreeSet;

/// A model of words, and the answers from which annotators' readiness is estimated. `live` identifies texts
/// and annotators by their ids.
pub(super) struct WordFit {
    pub(super) model: SpanModel,
    pub(super) live: LiveSpans,
    pub(super) states: WordStates,
    /// Whether its heads were learned together with the encoder.
    pub(super) tuned: bool,
    /// Answers that its heads were fitted on.
    pub(super) answers: u32,
    /// Version of the encoder that read the words.
    pub(super) encoder: String,
    /// All texts of the project, and those whose words were read.
    pub(super) texts: Vec<TextId>,
    pub(super) read: Vec<u32>,
    /// The data of the answers, without states.
    pub(super) data: SpanData,
    annotators: Vec<AnnotatorId>,
}

/// Fits the model of the words of a question on an encoder: from what was `learned` together with it, if
/// given, otherwise from the answers. It knows the words of all texts, including those that are scored
/// later.
///
/// # Errors
/// No answers; a text that cannot be encoded; cancellation.
pub(super) fn fit_words_on(
    cx: &Analysis,
    question: &Question,
    encoder: &Encoder,
    learned: Option<&LearnedWords>,
    progress: &dyn Progress,
) -> Result<WordFit, ProjectError> {
    let states = if learned.is_some() { WordStates::Last } else { WordStates::EmbeddingAndContext };
    let most = SpanFitOptions::default().most_words;
    let mut data = span_data::span_data(cx, question, encoder, states, most, false, progress)?;
    let first = data.types.first().ok_or(ProjectError::NoQuestion)?;
    let (annotators, texts) = (first.annotators.clone(), first.texts.clone());
    let read: Vec<u32> = data.rows.iter().map(|row| texts[*row as usize].0).collect();
    let (model, live) = match learned {
        Some(learned) => {
            // The forms have to be known before their effects are looked up.
            for chunk in texts.chunks(BATCH_TEXTS) {
                for body in cx.context.store.bodies(chunk)? {
                    data.forms.add(&body);
                }
            }
            let model = learned.model(&data.forms)?;
            let live = LiveSpans::new(&model, &data.texts, &read)?;
            (model, live)
        }
        None => {
            let train: Vec<usize> = (0..data.answers.len()).collect();
            let tuned_on = span_data::words_learned(cx, &data)?;
            let of = SpanTraining {
                texts: &data.texts,
                answers: &data.answers,
                train: &train,
                annotators: annotators.len(),
                types: data.types.len(),
                copies: &data.copies,
                tuned_on: &tuned_on,
            };
            let model = SpanModel::fit(&of, ModelKind::Multilevel, &SpanFitOptions::default(), progress)?;
            let live = LiveSpans::of_learned(&model, &of, &read)?;
            (model, live)
        }
    };
    // States are large, and not needed any more.
    data.texts = SpanTexts::new(data.texts.dim());
    Ok(WordFit {
        model,
        live,
        states,
        tuned: learned.is_some(),
        answers: learned.map_or(data.answers.len() as u32, |learned| learned.answers),
        encoder: data.encoder.clone(),
        texts,
        read,
        data,
        annotators,
    })
}

/// Scores the words of more texts of the project.
///
/// # Errors
/// A text that cannot be encoded; cancellation.
pub(super) fn score_words(
    cx: &Analysis,
    fit: &mut WordFit,
    encoder: &Encoder,
    texts: &[TextId],
    progress: &dyn Progress,
) -> Result<(), ProjectError> {
    for (nth, chunk) in texts.chunks(BATCH_TEXTS).enumerate() {
        progress.report((nth * BATCH_TEXTS) as u64, Some(texts.len() as u64), "scoring other texts");
        let mut read = SpanTexts::new(encoder.word_dim(fit.states));
        span_data::read_words(cx, encoder, chunk, fit.states, &mut fit.data.forms, &mut read, progress)?;
        let rows: Vec<u32> = chunk.iter().map(|text| text.0).collect();
        fit.live.add_texts(&fit.model, &read, &rows)?;
    }
    Ok(())
}

/// The model of the words of a question for use outside the project: heads, and the readiness of these
/// `people` by the answers so far, in their order.
///
/// # Errors
/// Those of [`fit_words_on`].
pub(crate) fn word_predictor(
    cx: &Analysis,
    question: &Question,
    people: &[AnnotatorId],
    encoder: &Encoder,
    learned: Option<LearnedWords>,
    progress: &dyn Progress,
) -> Result<WordPredictor, ProjectError> {
    let mut fit = fit_words_on(cx, question, encoder, learned.as_ref(), progress)?;
    // Answers to texts that were left out of the fit still inform about annotators.
    let unread: BTreeSet<u32> = fit.data.further.iter().map(|answer| answer.text).collect();
    let unread: Vec<TextId> = unread.into_iter().map(|row| fit.texts[row as usize]).collect();
    score_words(cx, &mut fit, encoder, &unread, progress)?;
    fit.record();
    let learned = learned.unwrap_or_else(|| {
        LearnedWords::of_model(question.id.row().0, fit.answers, &fit.model, &fit.data.forms)
    });
    Ok(WordPredictor {
        learned,
        states: fit.states,
        effects: people.iter().map(|who| fit.live.effects(who.0)).collect(),
        answers: people.iter().map(|who| fit.live.answers_of(who.0) as u32).collect(),
    })
}

impl WordFit {
    /// Adds all answers; those to texts without scores are ignored.
    pub(super) fn record(&mut self) {
        let (texts, read, annotators) = (&self.texts, &self.read, &self.annotators);
        let of_read = std::mem::take(&mut self.data.answers)
            .into_iter()
            .map(|answer| (read[answer.text as usize], answer));
        let further = std::mem::take(&mut self.data.further)
            .into_iter()
            .map(|answer| (texts[answer.text as usize].0, answer));
        let known = of_read.chain(further).map(|(text, answer)| SpanAnswer {
            text,
            annotator: annotators[answer.annotator as usize].0,
            ..answer
        });
        self.live.record_all(known);
    }
}
