//! Verdicts of panels: from the joint distribution of the members' answers to the panel's decision, and the
//! drawing of members by a recipe.
//!
//! Members read the same text, so that its uncertainty moves all of their answers together. At every node of
//! that uncertainty they are independent, and the verdict's distribution is an exact convolution; the
//! forecast is the mean over nodes.

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
