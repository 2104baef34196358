//! Kinds of jobs, and the states of long-running work: jobs, runs and evaluations.

use serde::{Deserialize, Serialize};

/// State of a job, a run or an evaluation.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum WorkState {
    Running,
    Finished,
    Cancelled,
    Failed,
    /// Ended together with the program; resumes where it stopped.
    Interrupted,
}

impl WorkState {
    /// The name used in SQL and in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The state with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// Kind of a job.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    strum::Display,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum JobKind {
    Compare,
    Copy,
    Correlate,
    Encode,
    Encoders,
    Evaluate,
    Export,
    HandOut,
    Import,
    LongTexts,
    Mask,
    Merge,
    Panel,
    Plan,
    Remove,
    Report,
    Train,
    #[strum(serialize = "who")]
    WhoDiffers,
    #[strum(serialize = "word_model")]
    WordModel,
    Words,
}

impl JobKind {
    /// The name used in SQL and in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::VariantArray;

    #[test]
    fn names_match_in_sql_and_json() {
        for state in WorkState::VARIANTS {
            assert_eq!(WorkState::from_name(state.name()), Some(*state));
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
        assert_eq!(WorkState::Interrupted.name(), "interrupted");
        assert_eq!(WorkState::from_name("asleep"), None);
    }
}
