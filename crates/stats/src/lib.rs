//! Statistics of labels and predictions, on arrays: texts and annotators are indices, labels are
//! [`Observation`](data::Observation)s, embeddings a matrix.
//!
//! Modules import only from those below them:
//!
//! | module | contents |
//! | --- | --- |
//! | [`disagreement`] | measures over predictions ([`AnnotatorModel`](data::AnnotatorModel)) |
//! | [`panels`] | verdicts of panels over their members' joint answers, and the drawing of members |
//! | [`options`] | a factor model of which options of one answer occur together |
//! | [`conformal`] | thresholds of prediction sets |
//! | [`metrics`] | scores of predictions |
//! | [`agreement`], [`aggregation`] | Krippendorff's alpha and others; Dawid-Skene and others |
//! | [`data`], [`math`] | labels, embeddings, errors, progress; small numerics |

pub mod aggregation;
pub mod agreement;
pub mod conformal;
pub mod data;
pub mod disagreement;
pub mod math;
pub mod metrics;
pub mod options;
pub mod panels;
