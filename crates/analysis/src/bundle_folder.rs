//! The folder of a bundle: names of its files, and where other files may be.

use crate::error::AnalysisError;
use dissensus_files::{folder_of, real_path};
use dissensus_project::error::ProjectError;
use std::path::Path;

/// The manifest.
pub(crate) const BUNDLE: &str = "bundle.json";
/// The checksums of all files.
pub(crate) const SUMS: &str = "SHA256SUMS";

/// Checks that a file to be written is not in the folder of a bundle, at any depth: the bundle would be
/// refused then.
pub(crate) fn check_outside(out: &Path) -> Result<(), ProjectError> {
    let Ok(folder) = real_path(folder_of(out)) else { return Ok(()) };
    let is_bundle = |folder: &&Path| [BUNDLE, SUMS].iter().all(|name| folder.join(name).is_file());
    match folder.ancestors().find(is_bundle) {
        None => Ok(()),
        Some(bundle) => {
            let reason = format!(
                "{} would be in it, and nothing can be added to a bundle: write it elsewhere",
                out.display()
            );
            Err(AnalysisError::Bundle { path: bundle.to_owned(), reason }.into())
        }
    }
}
