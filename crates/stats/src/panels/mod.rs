//! Verdicts of panels: from what their members may answer together to what the panel decides, and whom a recipe draws.
//!
//! Members read the same text, so that what is not known of it moves all of their answers together. At every node of that doubt they are
//! independent, and the verdict's distribution is an exact convolution; the forecast is the mean over nodes.

mod counts;
mod drawing;
mod joint;
mod nodes;
mod plurality;
mod quotas;
mod rule;
#[cfg(test)]
mod tests;
mod verdicts;

pub use drawing::{Candidate, DrawPanels};
pub use joint::JointAnswers;
pub use nodes::text_nodes;
pub use quotas::{Quota, QuotaError};
pub use rule::{Verdict, VerdictRule};
pub use verdicts::{MeanForecast, VerdictForecast, Verdicts};
