//! Encoders on this computer, and how well each would predict.

use dissensus_domain::QuestionId;
use serde::{Deserialize, Serialize};

view! {
    /// An encoder that is on this computer.
    pub struct EncoderHere {
        /// The name by which it is requested.
        pub name: String,
        /// A description; none for an encoder that is not in the catalogue.
        pub about: Option<String>,
        /// Whether the project uses it.
        pub in_use: bool,
    }

    /// How well one encoder would predict.
    pub struct EncoderTrial {
        /// The name by which it was requested.
        pub name: String,
        /// Log loss of `multilevel` on labels of texts that it did not learn from.
        pub log_loss: f64,
        /// Its standard error over labels.
        pub standard_error: f64,
        /// Log loss minus that of the first encoder in the requested list: the project's encoder, if it is
        /// among them.
        pub difference: f64,
        /// The standard error of that difference, over the same labels.
        pub difference_error: f64,
        /// Whether it is better than the first one by more than a standard error of the difference: the
        /// criterion by which the command would choose.
        pub clearly_better: bool,
        /// Whether the project uses it.
        pub in_use: bool,
    }

    /// Encoders that were tried on the labels of a question.
    pub struct EncoderTrials {
        pub question: QuestionId,
        /// Number of predicted labels, each by models that did not learn from its text.
        pub labels: u32,
        /// The encoder that the others are compared with.
        pub against: String,
        /// All of them, best first.
        pub trials: Vec<EncoderTrial>,
    }
}
