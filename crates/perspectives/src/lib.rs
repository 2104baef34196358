//! Annotator models, live refit, disagreement, agreement, aggregation and metrics, on arrays: texts and annotators are
//! indices, labels are [`Observation`]s, embeddings a matrix. No SQL and no window. Only `nn::trainer` also opens an encoder's
//! folder and reads texts, where the encoder is tuned.
//!
//! Modules import only from those below them:
//!
//! | modules | what they own |
//! | --- | --- |
//! | `portable` | a fitted model of any kind without its texts, as bytes |
//! | `live` | a model that is refitted label by label |
//! | `model_selection` | splits, evaluation on held-out labels, learning curves |
//! | `fit` | one function for every kind of model |
//! | `word_networks` | networks of `nn` over words, with the choices of `spans` |
//! | `nn` | networks and their trainer |
//! | `models` | models fitted to convergence: linear heads and the mixed model |
//! | `spans` | models of which words are marked, their selection and their scores |
//! | `disagreement` | measures over predictions, through the trait [`AnnotatorModel`] |
//! | `panels` | verdicts of panels over their members' joint answers, and who is drawn for one |
//! | `options` | options of one answer that go together |
//! | `linear`, `mixed` | ridge regressions; links, random effects and their variances |
//! | `metrics`, `agreement`, `aggregation` | arrays in, numbers out |
//! | `data`, `math` | labels, embeddings, options, errors, progress; small numerics |
//!
//! ```
//! use dissensus_domain::ScaleKind;
//! use dissensus_perspectives::*;
//!
//! // Three texts with two-dimensional embeddings, two annotators, one of whom says "yes" more easily.
//! let embeddings = Embeddings::new(2, vec![1.0, 0.0, 0.0, 1.0, 0.7, 0.7])?;
//! let o = |text, annotator, level| Observation { text, annotator, level };
//! let observations = [o(0, 0, 0), o(0, 1, 1), o(1, 0, 0), o(1, 1, 1), o(2, 1, 1)];
//! let target = Target { kind: ScaleKind::Binary, levels: 2 };
//! let data = TrainingData { embeddings: &embeddings, observations: &observations, annotators: 2, target, attributes: &[] };
//!
//! let mut live = LiveModel::fit(&data, &FitOptions::default(), &Silent)?;
//! live.record(o(2, 0, 0))?;
//! let yes = |annotator: usize| live.row(2)[annotator * 2 + 1];
//! assert!(yes(1) > yes(0));
//! assert!(live.disagreement(2).pairwise > 0.0);
//! assert_eq!(live.ranking(Measure::Split).len(), 3);
//! # Ok::<(), PerspectivesError>(())
//! ```

mod aggregation;
mod agreement;
#[cfg(feature = "bench")]
pub mod bench;
mod conformal;
mod data;
mod disagreement;
mod fit;
mod linear;
mod live;
mod math;
pub mod metrics;
mod mixed;
mod model_selection;
mod models;
mod nn;
mod options;
mod panels;
mod portable;
mod spans;
mod word_networks;

pub use aggregation::{
    Aggregation, AggregationFit, AggregationOptions, Aggregator, AnnotatorQuality, MaceMethod, Tie, aggregate,
};
pub use agreement::{
    Agreement, Alphas, AnnotatorAgreement, AnnotatorFlag, BesideOthers, CohenPair, Estimate,
    FEWEST_PEOPLE_WHO_REPEAT, FEWEST_REPEATS, FEWEST_TIMED_LABELS, IntervalScope, LabelDesign, MarkedUnits,
    MarkedWords, Reliability, SelfAgreement, SetAnswer, SetReliability, Speed, TextVariances, TimedLabel,
    TooFast, Unitizing, VarianceComponents, WordAgreement, agreement, beside_others, cohen_pairs,
    masi_distance, option_reliability, reliability, set_reliability, share_interval, speeds, unitizing_alpha,
    word_agreement,
};
pub use data::progress::{Progress, Silent};
pub use data::{
    AnnotatorModel, Attribute, AttributeEvidence, Embeddings, FitOptions, GroupSlopes, ModelKind,
    Observation, PerspectivesError, SparseRow, SparseRows, Target, TextFeatures, TrainingData, synthetic,
    value_names,
};
pub use disagreement::{
    AgreementFigure, AnnotatorMap, AttributeShare, Disagreement, ExpectedMasi, FEWEST_TEXTS_OF_TWO,
    FactorsOf, GroupGap, GroupGaps, GroupPair, LevelStep, MasiTogether, MeanGap, Measure, SeverityGap,
    SideAgreement, SidesCompared, UsualSplit, WholeSets, annotator_map, attribute_share, disagreement,
    disagreement_of_probabilities, disagreement_of_texts, false_discovery_rate, gap_of_sides, holm, maximum,
    measure, pairs_of, panel_distributions, rank_band, ranking, severity_gap, severity_p_value, surprise,
    tied, two_camps, usual_split, van_der_eijk,
};
pub use fit::fit;
pub use live::{
    CombinedOrder, ExplainedPrediction, ExplainedText, FEWEST_IN_A_CAMP, FEWEST_LABELS_FOR_A_SIDE,
    FEWEST_OWN_LABELS, FEWEST_STABLE_REPEATS, Influence, LabelChange, LabelWeight, LiveModel, OnSide,
    Outcome, RepeatedAnswer, SeveritySides, Snapshot, StableShare, TextScore, UNLIKE_OTHERS, UnlikelyKind,
    UnlikelyLabel, UnlikelyLabels,
};
pub use metrics::{CONFIDENCE_LEVEL, Scored, Scores, dichotomize, score};
pub use mixed::{
    Discrimination, Estimation, EstimationLimit, FEWEST_CALIBRATION_LABELS, FEWEST_CALIBRATION_TEXTS,
    ScaleSpread, ScoreParts, Severity, TextDispersion,
};
pub use model_selection::{
    ColdStart, CopiesAcross, CurvePoint, DataSplit, Evaluation, FEWEST_UNSEEN_TEXTS, HeldOut, HeldOutPart,
    LearningCurve, NoPredictionSets, Predicted, PredictedSets, PredictionSets, SeenByEncoder, SetEvaluation,
    SetQuality, SetTenth, SetsTogether, SplitColumns, SplitSpec, TestSet, TextFolds, baselines, baselines_of,
    cross_fitted, evaluate, f1_rule_by_folds, held_out, learning_curve, mean_predictions, predict_baselines,
    predict_test, prediction_sets, scored_by_calibration, scored_by_folds,
};
pub use models::{PreparedTexts, calibration_texts};
pub use nn::networks::{Activation, AnnotatorEmbeddingSpec, HeadSpec, NetworkModel, NetworkSpec};
pub use nn::trainer::{
    AuxiliaryTask, EncoderToTune, EpochRecord, GradientNorm, Head, JointQuestion, Schedule, Seeds,
    StopReason, TrainConfig, Trained, Trainer, ValidationMetric, ValidationScores, WordHead, WordQuestion,
    checkpoint_config_hash,
};
pub use options::{
    FEWEST_TEXTS_TO_CORRELATE, GivenFactors, HeldOutSets, LikeliestSet, OptionCorrelations, OptionFactors,
    OptionPair,
};
pub use panels::{
    Candidate, DrawPanels, JointAnswers, MeanForecast, Quota, QuotaError, Verdict, VerdictForecast,
    VerdictRule, Verdicts,
};
pub use portable::{NewTexts, PortableModel};
pub use spans::{
    ExpectedMarks, LiveSpans, OwnEffects, Population, Readiness, SpanAnswer, SpanEvaluation, SpanFitOptions,
    SpanModel, SpanPredictions, SpanTexts, SpanTraining, TokenScores, TypeHead, TypeReport, TypeTokenScores,
    WordDisagreement, WordFeatures, WordFrequency, WordView, fit_readiness, runs_of_words, word_disagreement,
};
pub use word_networks::WordNetworks;
