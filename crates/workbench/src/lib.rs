//! The use cases of Dissensus: open a project, import, label, refit, evaluate, explain, export.
//!
//! A [`Session`] is one open project; a [`Workbench`] is the application around it. Both are driven by the window and the
//! command alike, and by tests without either.

mod analysis;
mod answer_time;
mod app;
mod asked_model;
mod background;
mod bundles;
mod care_file;
mod clock;
mod context;
mod drafts_file;
mod encoding;
mod error;
mod event;
mod exchange;
mod guideline;
mod guideline_error;
mod home;
mod jobs;
mod labelling;
mod labels_differ;
mod learned_words;
mod live;
mod log;
mod median;
mod mix;
mod names;
mod outputs;
mod panel_error;
mod panels;
mod paper;
mod practice;
mod predicted_texts;
mod prediction_table;
mod project;
mod pseudonyms;
mod report_parts;
mod runs;
pub mod sample;
mod saved_runs;
mod session;
mod set_table;
mod study;
mod study_error;
mod summaries;
mod sync;
mod text_figures;
mod text_words;
mod texts;
mod topics;
pub mod view;
mod word_predictor;
mod words;

pub use analysis::{
    Aggregated, AggregatedAnnotator, AggregatedText, Agreement, Analysis, AnnotatorPairAgreement, AskedText,
    CheckedPredictions, CheckedSets, CheckedWords, EncoderComparison, EncoderLoss, EvaluateChoices,
    Evaluation, ExpectedOption, GivenAnswer, ModelCalibration, ModelDifference, ModelDifferences,
    OptionAgreement, OptionAgreements, OptionEvaluation, OptionPrediction, OptionsOfText, PlanChoices,
    PoolingChoice, PoolingLoss, PredictedProject, SetsWithoutCopies, SlipChoices, SpanAgreements,
    SpanEvaluationReport, SpansWithoutCopies, SplitReport, StableShareReport, Submission, SubmissionChoices,
    TextDispersionReport, TextOptions, Trained, TypeAgreement, TypeOfSpans, WholeAnswer, WithoutCopies,
    WordFile, WordOfText, WordOfType, WordsOfText,
};
pub use app::Workbench;
pub use background::Background;
pub use bundles::{Bundle, BundleChoices, BundlePredictor, BundleWritten, Bundles};
pub use clock::{local_time, moment_from};
pub use context::ceiling_note;
pub use dissensus_encoder::{
    DeviceChoice, LongTexts, Pooling, Precision, PrecisionChoice, Prompt, char_ngrams,
    keep_tensors_on_their_thread,
};
pub use dissensus_exchange::{Loss, LossReason, ToolFormat};
pub use dissensus_models::spans::{SpanEvaluation, TokenScores};
pub use dissensus_selection::evaluation::{
    CurvePoint, Evaluation as ModelScores, LearningCurve, PredictionSets, SetEvaluation, SetQuality,
    SetsTogether, SplitSpec,
};
pub use dissensus_stats::agreement::{Estimate, IntervalScope, Reliability, Unitizing, WordAgreement};
pub use dissensus_stats::data::{ModelKind, Target};
pub use dissensus_stats::metrics::{Interval, MultiLabelScores, PairedDifference, Scores};
pub use dissensus_store::checkpoint_all;
pub use encoding::{
    EmbeddedFile, Encoded, EncodedText, EncoderChoice, EncoderSwitch, Encoding, KEPT_EMBEDDINGS, TextEncoder,
    TextFileChoices, adopt_embeddings, embed_file, encoder_folder,
};
pub use error::WorkbenchError;
pub use event::Event;
pub use exchange::{
    DecisionLayer, Exchange, ExportChoices, Exported, Pseudonymised, ToolExport, ToolExportChoices,
    export_formats,
};
pub use guideline::{Guidelines, OnScreen};
pub use guideline_error::GuidelineError;
pub use home::Home;
pub use jobs::{Progress, Silent};
pub use labelling::{Labelling, NamedAnnotator, NamedLabel, NamedPractice, Recorded};
pub use live::LiveModels;
pub use log::start_log;
pub use panel_error::PanelError;
pub use panels::{CheckedPanel, PanelFile, PanelFileChoices, Panels};
pub use paper::PaperReports;
pub use predicted_texts::PredictedTexts;
pub use prediction_table::{PredictionChoices, PredictionFile};
pub use project::{CopyChoices, LabelRow, Project, QuestionChange, define_levels};
pub use runs::{RunPrediction, RunPredictionFile, Runs, TrainedSets, TrainedWords};
pub use saved_runs::run_tuning;
pub use session::Session;
pub use set_table::SetPredictionFile;
pub use study::Study;
pub use study_error::{ImpossiblePlan, StudyError};
pub use summaries::{CheckedSummary, Summaries};
pub use texts::Texts;
pub use word_predictor::WordPredictionFile;
pub use words::{counted, signed};
