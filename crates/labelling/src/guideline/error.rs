//! Errors of the guideline.

use dissensus_project::error::ProjectError;

dissensus_domain::errors! {
    /// Why a version of the guideline is refused.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum GuidelineError {
        Blank => "guideline-blank", "a guideline cannot be empty: write what annotators should follow";
        Long(usize) => "guideline-long",
            "this guideline has {0} characters, and a guideline can have 200,000: leave some out";
        Unchanged(u32) => "guideline-unchanged", "this is the same as version {0}: nothing was changed";
        Outdated { number: u32, by: String } => "guideline-outdated",
            "version {number} was written meanwhile{}: look at it, and change that one" (if by.is_empty() { String::new() } else { format!(" by {by}") });
        NoVersion { number: u32, oldest: u32, newest: u32 } => "guideline-no-version",
            "there is no version {number} of the guideline: {}" (if oldest == newest { format!("there is only version {newest}") } else { format!("it has versions {oldest} to {newest}") });
        None => "guideline-none",
            "this project has no guideline yet: `dissensus data guideline PROJECT --from FILE.md` writes its first version";
        Picture { name: String, why: String } => "guideline-picture", "the picture {name} cannot be used: {why}";
    }
}

impl From<GuidelineError> for ProjectError {
    fn from(error: GuidelineError) -> Self {
        Self::refused(error.code(), &error, None)
    }
}
