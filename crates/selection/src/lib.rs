//! Fitting any kind of annotator model, and choosing between kinds by held-out labels.
//!
//! | module | contents |
//! | --- | --- |
//! | [`portable`] | a fitted model of any kind without its texts, as bytes |
//! | [`evaluation`] | splits, evaluation on held-out labels, learning curves |
//! | [`fit`] | one function for every kind of model |
//!
//! ```
//! use dissensus_domain::TargetKind;
//! use dissensus_models::live::LiveModel;
//! use dissensus_stats::data::progress::Silent;
//! use dissensus_stats::data::{Embeddings, FitOptions, ModelError, Observation, Target, TrainingData};
//! use dissensus_stats::disagreement::Measure;
//!
//! // Three texts with two-dimensional embeddings, two annotators, one of whom answers "yes" more easily.
//! let embeddings = Embeddings::new(2, vec![1.0, 0.0, 0.0, 1.0, 0.7, 0.7])?;
//! let o = |text, annotator, level| Observation { text, annotator, level };
//! let observations = [o(0, 0, 0), o(0, 1, 1), o(1, 0, 0), o(1, 1, 1), o(2, 1, 1)];
//! let target = Target { kind: TargetKind::Binary, levels: 2 };
//! let (embeddings, observations) = (&embeddings, &observations);
//! let data = TrainingData { embeddings, observations, annotators: 2, target, attributes: &[] };
//!
//! let mut live = LiveModel::fit(&data, &FitOptions::default(), &Silent)?;
//! live.record(o(2, 0, 0))?;
//! let yes = |annotator: usize| live.row(2)[annotator * 2 + 1];
//! assert!(yes(1) > yes(0));
//! assert!(live.disagreement(2).pairwise > 0.0);
//! assert_eq!(live.ranking(Measure::Split).len(), 3);
//! # Ok::<(), ModelError>(())
//! ```

#[cfg(feature = "bench")]
pub mod bench;
pub mod evaluation;
pub mod fit;
pub mod portable;
