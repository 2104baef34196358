//! Result of testing whether groups of annotators differ in kind.

use serde::{Deserialize, Serialize};

/// Whether groups of annotators (the values of an attribute) react differently to the topic of a text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupSlopes {
    /// Attributes that were tried.
    pub tried: Vec<String>,
    /// Accepted attributes, whose groups have slopes.
    pub used: Vec<String>,
    /// Gain in log-likelihood of held-out labels by the last attribute that was accepted, or else by the best
    /// of the rejected ones, in nats per label.
    pub gain: f64,
    /// Its standard error over annotators and texts.
    pub standard_error: f64,
}

impl std::fmt::Display for GroupSlopes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.used.is_empty() {
            return write!(
                f,
                "Held-out labels do not show that groups (by {}) react differently to what a text is about, beyond severity.",
                self.tried.join(", ")
            );
        }
        let by = match self.used.last().filter(|_| self.used.len() > 1) {
            Some(last) => format!("by {last}, the last one taken, "),
            None => String::new(),
        };
        write!(
            f,
            "Groups (by {}) react differently to what a text is about: {by}held-out labels of people not seen before gain {:.4} nats \
             each (standard error {:.4}; the amount was chosen by the same labels).",
            self.used.join(", "),
            self.gain,
            self.standard_error
        )
    }
}
