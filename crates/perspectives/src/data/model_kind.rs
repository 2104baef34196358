//! The names of the annotator models.

use super::PerspectivesError;
use serde::{Deserialize, Serialize};

/// Which annotator model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelKind {
    /// One head trained on each text's most frequent label; ties go to the lowest of the tied levels.
    Majority,
    /// One head trained on everybody's labels.
    Shared,
    /// One head per annotator, trained on that person's labels alone; `shared` for people without labels.
    SepHeads,
    /// A text and a person, each made a short vector, through a feed-forward network.
    ShareRecFfn,
    /// The same through a Deep & Cross Network.
    ShareRecDcn,
    /// One head, every annotator's own severity and thresholds, every text's own effect, shrunk as far as the data say.
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
        match self {
            Self::Majority => "majority",
            Self::Shared => "shared",
            Self::SepHeads => "sep-heads",
            Self::ShareRecFfn => "share-rec-ffn",
            Self::ShareRecDcn => "share-rec-dcn",
            Self::Multilevel => "multilevel",
        }
    }
}

impl std::fmt::Display for ModelKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for ModelKind {
    type Err = PerspectivesError;

    fn from_str(name: &str) -> Result<Self, PerspectivesError> {
        Self::ALL.into_iter().find(|k| k.name() == name).ok_or_else(|| PerspectivesError::UnknownName {
            what: "model",
            name: name.to_owned(),
            known: "majority, shared, sep-heads, share-rec-ffn, share-rec-dcn or multilevel",
        })
    }
}
