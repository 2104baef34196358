//! Models of the words of questions with spans, as they go into a bundle and are asked in one.

use super::Bundles;
use super::manifest::{BundledAnnotator, BundledWords, HeldOutFigure, HeldOutFigures};
use super::models::OpenedEncoder;
use super::write::io_error;
use crate::error::WorkbenchError;
use crate::jobs::Progress;
use crate::learned_words::LearnedWords;
use crate::word_predictor::WordPredictor;
use crate::words::counted;
use dissensus_domain::{AnnotatorId, Question};
use dissensus_encoder::Encoder;
use dissensus_perspectives::SpanEvaluation;
use std::path::Path;

/// A model of words and what belongs to it.
pub(super) struct WordsToBundle {
    pub(super) question: Question,
    pub(super) run: Option<u32>,
    pub(super) predictor: WordPredictor,
    pub(super) annotators: Vec<BundledAnnotator>,
    pub(super) encoder: OpenedEncoder,
    pub(super) held_out: HeldOutFigures,
}

impl Bundles {
    /// The model of the words of a question, on the encoder in use.
    pub(super) fn live_words(
        &self,
        question: &Question,
        in_use: &OpenedEncoder,
        progress: &dyn Progress,
    ) -> Result<WordsToBundle, WorkbenchError> {
        let learned = self.runs.learned_words(question.id)?;
        self.words_of(question, learned, in_use, progress)
    }

    /// The models of words that the training of a run has learned.
    pub(super) fn words_of_run(
        &self,
        run: u32,
        encoder: &OpenedEncoder,
        progress: &dyn Progress,
    ) -> Result<Vec<WordsToBundle>, WorkbenchError> {
        let mut all = Vec::new();
        for learned in self.runs.words_of_run(run)? {
            let index = self.context.index();
            let question = index.questions().iter().find(|q| q.id.row().0 == learned.question).cloned();
            let cannot = |reason: String| WorkbenchError::CannotBundle { run, reason };
            let question = question
                .ok_or_else(|| cannot("the question whose words it learned is not there".to_owned()))?;
            if question.scale.len() != learned.heads.len() {
                return Err(cannot(format!("\"{}\" has other types now: train again", question.name)));
            }
            let words = self.words_of(&question, Some(learned), encoder, progress)?;
            let scores = self.runs.word_scores(run)?;
            let held_out = scores.map(|scores| HeldOutFigures {
                of: format!(
                    "{} of run {run}, which it has not learned from. Annotators' readiness to mark comes from all answers of the project; in these figures it came from those that the run learned.",
                    counted(scores.answers[2].into(), "test answer")
                ),
                labels: scores.answers[2] as usize,
                figures: figures(&scores.model, "")
                    .chain(scores.baselines.first().into_iter().flat_map(|of| figures(of, " of word frequency times the annotator's rate")))
                    .collect(),
            });
            all.push(WordsToBundle { run: Some(run), held_out: held_out.unwrap_or_default(), ..words });
        }
        Ok(all)
    }

    fn words_of(
        &self,
        question: &Question,
        learned: Option<LearnedWords>,
        encoder: &OpenedEncoder,
        progress: &dyn Progress,
    ) -> Result<WordsToBundle, WorkbenchError> {
        let index = self.context.index();
        let people: Vec<AnnotatorId> = index.annotators().iter().map(|who| who.id).collect();
        let predictor =
            self.analysis.word_predictor(question, &people, &encoder.encoder, learned, progress)?;
        let annotators = index
            .annotators()
            .iter()
            .zip(&predictor.answers)
            .map(|(who, answers)| BundledAnnotator { id: who.external_id.clone(), has_labels: *answers > 0 });
        Ok(WordsToBundle {
            annotators: annotators.collect(),
            question: question.clone(),
            run: None,
            predictor,
            encoder: encoder.clone(),
            held_out: HeldOutFigures::default(),
        })
    }
}

/// The main figures, each with `of` behind its name.
fn figures(of: &SpanEvaluation, behind: &'static str) -> impl Iterator<Item = HeldOutFigure> {
    let scores = &of.scores;
    let all = [
        ("log loss of words", Some(scores.token_log_loss)),
        ("F1 of marked words", scores.token_macro_f1),
        ("F1 of spans that share a word", scores.span_f1_overlap),
        ("AUROC of words that annotators differ on", scores.token_disagreement_auroc),
    ];
    all.into_iter().filter_map(move |(name, value)| {
        Some(HeldOutFigure { name: format!("{name}{behind}"), value: value? })
    })
}

impl BundledWords {
    /// The model, from the bundle `dir`, found to be of its question, annotators and (where one is given) encoder.
    pub(super) fn predictor(
        &self,
        dir: &Path,
        encoder: Option<&Encoder>,
    ) -> Result<WordPredictor, WorkbenchError> {
        let path = dir.join(&self.file);
        let bytes = std::fs::read(&path).map_err(|e| io_error(&path, "reading", e))?;
        let refused = |reason: String| WorkbenchError::Bundle {
            path: dir.to_owned(),
            reason: format!("{}: {reason}", self.file),
        };
        let predictor: WordPredictor = serde_json::from_slice(&bytes).map_err(|e| refused(e.to_string()))?;
        match predictor.misfit(encoder, self.types.len(), self.annotators.len()) {
            Some(reason) => Err(refused(reason)),
            None => Ok(predictor),
        }
    }
}
