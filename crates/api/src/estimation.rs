//! How the variances behind predictions were estimated.

use serde::{Deserialize, Serialize};

view! {
    /// Standard deviations of the live model's effects, and what the labels cannot determine.
    pub struct Estimation {
        /// Of texts, in addition to what their embeddings predict, in logits.
        pub text_sd: f64,
        /// Of annotators' severities, in logits; none for choice questions.
        pub annotator_sd: Option<f64>,
        /// Of the logarithms of annotators' discriminations (consistency); none if held-out labels do not
        /// show that they differ in it.
        pub discrimination_sd: Option<f64>,
        /// Whether groups of annotators react differently to a text's topic, in a sentence; none if there
        /// are no groups to try.
        pub group_slopes: Option<String>,
        /// Iterations of expectation maximisation at the last fit.
        pub rounds: u32,
        /// Largest expected change of a standard deviation at the end of the estimation, as a share of it.
        pub change: f64,
        /// Whether that is below the tolerance.
        pub converged: bool,
        /// Approximate marginal log-likelihood of the labels (natural logarithm).
        pub log_likelihood: f64,
        /// What the labels cannot determine, in stable codes such as `one_label_per_text`.
        pub limits: Vec<String>,
        /// The limits in sentences.
        pub limit_texts: Vec<String>,
    }
}
