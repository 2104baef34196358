//! A component of the shipped programs.

use std::path::PathBuf;

/// A package, a library in the source code of one, a model, or a typeface.
#[derive(Clone, Debug, Default)]
pub(super) struct Component {
    /// Identifies it in the SBOM: its package URL where it has one.
    pub(super) reference: String,
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) version: String,
    /// Its package URL; none for crates of this workspace.
    pub(super) purl: Option<String>,
    /// As its package gives it: an SPDX expression.
    pub(super) licence: String,
    /// Name of the algorithm, and the checksum in hexadecimal.
    pub(super) hash: Option<(&'static str, String)>,
    /// Whether it is only fetched on request.
    pub(super) is_optional: bool,
    /// References of the components that it uses.
    pub(super) uses: Vec<String>,
    /// Folder of its package, in which texts of licences are looked for.
    pub(super) folder: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Library,
    Model,
    File,
}

impl Kind {
    /// Its name in CycloneDX.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Library => "library",
            Self::Model => "machine-learning-model",
            Self::File => "file",
        }
    }
}
