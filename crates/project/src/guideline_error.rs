//! Errors of the guideline.

/// Why a version of the guideline is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GuidelineError {
    /// It is empty.
    #[error("a guideline has some text: write what annotators go by")]
    Blank,
    /// It is too long.
    #[error("this guideline has {0} characters, and a guideline can have 200,000: leave some out")]
    Long(usize),
    /// It is the same as the previous version.
    #[error("this is what version {0} says already: nothing was changed")]
    Unchanged(u32),
    /// Another version was written meanwhile.
    #[error("version {number} was written meanwhile{}: look at it, and change that one", if .by.is_empty() { String::new() } else { format!(" by {}", .by) })]
    Outdated {
        number: u32,
        /// Its author.
        by: String,
    },
    /// There is no version of that number.
    #[error("there is no version {number} of the guideline: {}", if .oldest == .newest { format!("version {newest} alone is here") } else { format!("it has versions {oldest} to {newest}") })]
    NoVersion {
        /// The requested version.
        number: u32,
        /// The oldest version.
        oldest: u32,
        /// The newest version.
        newest: u32,
    },
    /// The project has no guideline.
    #[error(
        "this project has no guideline yet: `dissensus data guideline PROJECT --from FILE.md` writes its first version"
    )]
    None,
    /// A picture that cannot be used.
    #[error("the picture {name} cannot be taken: {why}")]
    Picture {
        /// Its name in the guideline.
        name: String,
        /// What is wrong.
        why: String,
    },
}

impl GuidelineError {
    /// A stable kebab-case name of the kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Blank => "guideline-blank",
            Self::Long(_) => "guideline-long",
            Self::Unchanged(_) => "guideline-unchanged",
            Self::Outdated { .. } => "guideline-outdated",
            Self::NoVersion { .. } => "guideline-no-version",
            Self::None => "guideline-none",
            Self::Picture { .. } => "guideline-picture",
        }
    }
}
