//! Figures about labels, annotators and models: agreement, aggregation, disagreement, evaluation.

pub mod aggregation;
pub mod agreed_texts;
pub mod agreement;
pub mod annotators;
mod border;
mod bundle_folder;
pub mod bundles;
mod by_labels;
mod cached_words;
mod caches;
mod changed_answers;
mod choosing;
mod chosen;
mod correlated_scores;
mod cross_validation;
pub mod encoder_comparison;
pub mod encoder_trials;
pub mod error;
pub mod evaluation;
pub mod explain;
mod explain_sentence;
pub mod explain_words;
pub mod group_comparison;
mod groups;
pub mod held_out;
mod label_weight;
pub mod labels_differ;
pub mod learning_curve;
pub mod multi_label;
mod near_texts;
mod needs;
mod observed;
pub mod overview;
pub mod panels;
pub mod plan;
pub mod pooling;
pub mod predict;
pub mod predicted;
pub mod prediction_file;
pub mod question_correlation;
pub mod ranking;
mod recorded;
pub mod repeats;
pub mod set_distances;
pub mod slips;
mod snippet;
mod span_data;
pub mod stable_share;
pub mod submission;
pub mod summaries;
pub mod text_detail;
pub mod text_dispersion;
pub mod text_figures;
pub mod texts;
pub mod train;
pub mod who_differs;
pub mod whole_answer;
mod word_fit;
pub mod word_models;
pub mod word_predictions;
pub mod word_table;

pub use aggregation::{Aggregated, AggregatedAnnotator, AggregatedText, AnnotatorPairAgreement};
pub use agreement::{
    Agreement, LevelAgreement, OptionAgreement, OptionAgreements, QuestionAgreement, SpanAgreements,
    TypeAgreement,
};
pub use encoder_comparison::{EncoderComparison, EncoderLoss};
pub use evaluation::{
    EvaluateChoices, Evaluation, ModelCalibration, ModelDifference, ModelDifferences, OptionEvaluation,
    QuestionEvaluation, SetsWithoutCopies, SpanEvaluationReport, SpansWithoutCopies, SplitReport,
    TypeOfSpans, WithoutCopies,
};
pub use multi_label::{AggregatedSets, OptionPrediction, OptionsOfText, TextOptions};
pub use plan::PlanChoices;
pub use pooling::{PoolingChoice, PoolingLoss};
pub use predicted::PredictedProject;
pub use prediction_file::{CheckedPredictions, WrittenPredictions};
pub use slips::SlipChoices;
pub(crate) use snippet::snippet;
pub use stable_share::StableShareReport;
pub use submission::{Submission, SubmissionChoices};
pub use text_dispersion::TextDispersionReport;
pub use train::Trained;
pub use whole_answer::{ExpectedOption, GivenAnswer, WholeAnswer};
pub use word_table::{WordFile, WordOfText, WordOfType, WordsOfText};

use caches::{LastJob, LastWhoDiffers, Measurements, WordModels};
use correlated_scores::CorrelationResult;
use dissensus_api::{CorrelationChoice, GroupComparison, GroupsChoice};
use dissensus_domain::{Question, QuestionId};
use dissensus_labelling::practice::Practice;
use dissensus_project::context::Context;
use dissensus_project::error::ProjectError;
use dissensus_training::encoding::Encoding;
use dissensus_training::live::LiveModels;
use dissensus_training::runs::Runs;
use std::sync::Arc;

/// Figures about a project.
#[derive(Clone)]
pub struct Analysis {
    context: Arc<Context>,
    encoding: Encoding,
    live: LiveModels,
    runs: Runs,
    practice: Practice,
    measurements: Arc<Measurements>,
    comparisons: Arc<LastJob<(QuestionId, GroupsChoice), GroupComparison>>,
    correlations: Arc<LastJob<CorrelationChoice, Arc<CorrelationResult>>>,
    last_who_differs: Arc<LastWhoDiffers>,
    words: Arc<WordModels>,
}

impl Analysis {
    pub fn new(
        context: &Arc<Context>,
        encoding: &Encoding,
        live: &LiveModels,
        runs: &Runs,
        practice: &Practice,
    ) -> Self {
        Self {
            context: Arc::clone(context),
            encoding: encoding.clone(),
            live: live.clone(),
            runs: runs.clone(),
            practice: practice.clone(),
            measurements: Arc::default(),
            comparisons: Arc::default(),
            correlations: Arc::default(),
            last_who_differs: Arc::default(),
            words: Arc::default(),
        }
    }

    /// The question with levels that has this name, or the only one.
    fn question(&self, name: Option<&str>) -> Result<Question, ProjectError> {
        let index = self.context.index();
        Ok(index.with_levels(index.find_question(name)?.id)?.clone())
    }
}
