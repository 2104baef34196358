//! The names of the annotator models.

use super::{ModelError, value_named};
use serde::{Deserialize, Serialize};

/// Kinds of annotator models.
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
    strum::VariantArray,
)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum ModelKind {
    /// One head trained on each text's most frequent label; ties are resolved to the lowest level.
    Majority,
    /// One head trained on all annotators' labels.
    Shared,
    /// One head per annotator, trained only on that annotator's labels; `shared` for annotators without
    /// labels.
    SepHeads,
    /// Short vectors for text and annotator, combined by a feed-forward network.
    ShareRecFfn,
    /// Short vectors for text and annotator, combined by a Deep & Cross Network.
    ShareRecDcn,
    /// One head, severity and thresholds of every annotator, an effect of every text, with shrinkage
    /// estimated from the data.
    Multilevel,
}

impl ModelKind {
    /// All models, in the order of the command line's tables.
    pub const ALL: [Self; 6] = [
        Self::Majority,
        Self::Shared,
        Self::SepHeads,
        Self::ShareRecFfn,
        Self::ShareRecDcn,
        Self::Multilevel,
    ];

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl std::str::FromStr for ModelKind {
    type Err = ModelError;

    fn from_str(name: &str) -> Result<Self, ModelError> {
        value_named("model", name)
    }
}
