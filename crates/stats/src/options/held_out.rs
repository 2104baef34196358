//! Whole answers to a multi-label question, combined from the held-out predictions of each option.

use crate::data::ModelError;
use crate::metrics::Scored;
use dissensus_domain::OptionSet;

/// Answers to a multi-label question with the probability of every option, by models that were not trained on
/// any of these answers.
#[derive(Clone, Debug, Default)]
pub struct HeldOutSets {
    /// Probability of each option (answers x options, row-major).
    pub probabilities: Vec<f32>,
    /// The answered sets.
    pub sets: Vec<OptionSet>,
    /// The text of each answer; copies of one body, and the texts of one group, have the same number.
    pub texts: Vec<u32>,
    /// The annotator of each answer.
    pub annotators: Vec<u32>,
}

impl HeldOutSets {
    /// Combines the held-out predictions of each option; `unit` identifies the group or the body of a text.
    ///
    /// # Errors
    /// [`ModelError::Length`] without options, or where they belong to other answers than the first one, or
    /// are not yes/no questions.
    pub fn of_options(of: &[&Scored], unit: impl Fn(u32) -> u32) -> Result<Self, ModelError> {
        let keys = |one: &Scored| -> Vec<(u32, u32)> {
            one.observations.iter().map(|o| (o.text, o.annotator)).collect()
        };
        let first = of.first().map(|one| keys(one)).unwrap_or_default();
        let alike = |one: &&Scored| keys(one) == first && (first.is_empty() || one.levels == 2);
        if of.is_empty() || !of.iter().all(alike) {
            let (what, expected) = ("the held-out answers to an option", first.len());
            let found = of.iter().map(|one| one.observations.len()).find(|n| *n != expected);
            return Err(ModelError::Length { what, expected, found: found.unwrap_or_default() });
        }
        let row_of = |row: usize| of.iter().map(move |one| one.row(row)[1]);
        let set = |row: usize| {
            let chosen = of.iter().enumerate().filter(|(_, one)| one.observations[row].level == 1);
            OptionSet::from_bits(chosen.fold(0, |bits, (option, _)| bits | 1 << option))
        };
        Ok(Self {
            probabilities: (0..first.len()).flat_map(row_of).collect(),
            sets: (0..first.len()).map(set).collect(),
            texts: first.iter().map(|(text, _)| unit(*text)).collect(),
            annotators: first.iter().map(|(_, who)| *who).collect(),
        })
    }
}
