//! Models of the words of questions with spans, in writing and in using a bundle.

use super::manifest::{BundledAnnotator, BundledWords, HeldOutFigure, HeldOutFigures};
use super::models::OpenedEncoder;
use super::{Bundles, io_error};
use crate::error::AnalysisError;
use crate::word_fit;
use dissensus_domain::{AnnotatorId, Question};
use dissensus_encoder::Encoder;
use dissensus_models::spans::SpanEvaluation;
use dissensus_project::error::ProjectError;
use dissensus_project::jobs::Progress;
use dissensus_project::words::counted;
use dissensus_training::error::TrainingError;
use dissensus_training::learned_words::LearnedWords;
use dissensus_training::runs;
use dissensus_training::runs::TrainedWords;
use dissensus_training::word_predictor::WordPredictor;
use std::path::Path;

/// A model of words with its encoder and figures.
pub(super) struct WordsToBundle {
    pub(super) question: Question,
    pub(super) run: Option<u32>,
    pub(super) predictor: WordPredictor,
    pub(super) annotators: Vec<BundledAnnotator>,
    pub(super) encoder: OpenedEncoder,
    pub(super) held_out: HeldOutFigures,
}

/// A question with spans whose words are to go into a bundle.
pub(super) struct RequestedWords {
    pub(super) question: Question,
    /// The training that learned them; without one, the model in use.
    pub(super) trained: Option<TrainedWords>,
}

impl Bundles {
    /// The questions with spans all of whose types are among the `questions` whose live models are bundled,
    /// or among the bundled `runs` of one training that learned words.
    pub(super) fn requested_words(
        &self,
        questions: &[Question],
        runs: &[u32],
    ) -> Result<Vec<RequestedWords>, ProjectError> {
        let index = self.context.index();
        let live = index.questions().iter().filter(|question| {
            let types = question.options();
            question.scale.form().marks_words()
                && types.iter().all(|of_type| questions.iter().any(|chosen| chosen.id == of_type.id))
        });
        let mut all: Vec<RequestedWords> =
            live.map(|question| RequestedWords { question: question.clone(), trained: None }).collect();
        for run in runs {
            for trained in runs::trained_words(&self.runs, *run)? {
                let known =
                    |one: &RequestedWords| one.trained.as_ref().is_some_and(|of| of.runs == trained.runs);
                let question = index.questions().iter().find(|question| question.name == trained.question);
                if !all.iter().any(known)
                    && trained.runs.iter().all(|of_type| runs.contains(of_type))
                    && let Some(question) = question
                {
                    all.push(RequestedWords { question: question.clone(), trained: Some(trained) });
                }
            }
        }
        Ok(all)
    }

    /// The model of the words of a question on the encoder in use, which was opened by the name `called`.
    pub(super) fn live_words(
        &self,
        question: &Question,
        in_use: &OpenedEncoder,
        called: &str,
        progress: &dyn Progress,
    ) -> Result<WordsToBundle, ProjectError> {
        let index = self.context.index();
        let people: Vec<AnnotatorId> = index.annotators().iter().map(|who| who.id).collect();
        let learned = runs::learned_words(&self.runs, question.id, called)?;
        let (run, learned) = learned.map_or((None, None), |(run, learned)| (Some(run), Some(learned)));
        let trained = match run {
            Some(run) => runs::trained_words(&self.runs, run)?,
            None => Vec::new(),
        };
        let trained = trained.iter().find(|trained| trained.question == question.name);
        self.words_of(question, run, trained, &people, learned, in_use, progress)
    }

    /// The model of words that a training learned.
    pub(super) fn run_words(
        &self,
        question: &Question,
        trained: &TrainedWords,
        encoder: &OpenedEncoder,
        progress: &dyn Progress,
    ) -> Result<WordsToBundle, ProjectError> {
        let run = trained.runs.first().copied().unwrap_or_default();
        let (learned, people) = runs::words_with_people(&self.runs, run, question.id)?;
        if question.scale.len() != learned.heads.len() {
            let reason = format!("\"{}\" has other types now: train again", question.name);
            return Err(TrainingError::CannotBundle { run, reason }.into());
        }
        self.words_of(question, Some(run), Some(trained), &people, Some(learned), encoder, progress)
    }

    #[allow(clippy::too_many_arguments, reason = "what a model of words is made of")]
    fn words_of(
        &self,
        question: &Question,
        run: Option<u32>,
        trained: Option<&TrainedWords>,
        people: &[AnnotatorId],
        learned: Option<LearnedWords>,
        encoder: &OpenedEncoder,
        progress: &dyn Progress,
    ) -> Result<WordsToBundle, ProjectError> {
        let predictor =
            word_fit::word_predictor(&self.analysis, question, people, &encoder.encoder, learned, progress)?;
        let index = self.context.index();
        let annotator = |(id, answers): (&AnnotatorId, &u32)| {
            let who = index.annotator_row(*id).and_then(|row| index.annotators().get(row as usize))?;
            Some(BundledAnnotator { id: who.external_id.clone(), has_labels: *answers > 0 })
        };
        let annotators: Option<Vec<BundledAnnotator>> =
            people.iter().zip(&predictor.answers).map(annotator).collect();
        Ok(WordsToBundle {
            annotators: annotators.ok_or_else(|| TrainingError::DamagedRun(run.unwrap_or_default()))?,
            held_out: held_out(run, trained),
            question: question.clone(),
            run,
            predictor,
            encoder: encoder.clone(),
        })
    }
}

/// What was held out of the training of a run, and the figures on it; without figures if a run of its types
/// was deleted.
fn held_out(run: Option<u32>, trained: Option<&TrainedWords>) -> HeldOutFigures {
    let of = match (run, trained) {
        (None, _) => {
            "Nothing was held out of this model of words: `dissensus models evaluate` of its question tells how well such models do.".to_owned()
        }
        (Some(run), None) => format!("The figures of run {run} were deleted with runs of its training."),
        (Some(run), Some(trained)) => format!(
            "{} of run {run}, which it has not learned from. Annotators' own effects come from all answers of the project; in these figures they came from those that the run learned.",
            counted(trained.answers[2].into(), "test answer")
        ),
    };
    let Some(trained) = trained else { return HeldOutFigures { of, ..HeldOutFigures::default() } };
    let baseline = trained.baselines.first().into_iter();
    HeldOutFigures {
        of,
        labels: trained.answers[2] as usize,
        figures: figures(&trained.scores, "")
            .chain(baseline.flat_map(|of| figures(of, " of word frequency times the annotator's rate")))
            .collect(),
    }
}

/// The main figures, each with `of` after its name.
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
    /// Reads the model from the bundle `dir`, and checks that it matches its question, annotators and, if
    /// given, encoder.
    pub(super) fn predictor(
        &self,
        dir: &Path,
        encoder: Option<&Encoder>,
    ) -> Result<WordPredictor, ProjectError> {
        let path = dir.join(&self.file);
        let bytes = std::fs::read(&path).map_err(|e| io_error(&path, "reading", e))?;
        let refused = |reason: String| {
            ProjectError::from(AnalysisError::Bundle {
                path: dir.to_owned(),
                reason: format!("{}: {reason}", self.file),
            })
        };
        let predictor: WordPredictor = serde_json::from_slice(&bytes).map_err(|e| refused(e.to_string()))?;
        match predictor.misfit(encoder, self.types.len(), self.annotators.len()) {
            Some(reason) => Err(refused(reason)),
            None => Ok(predictor),
        }
    }
}
