//! Care for annotators: the study's limits, a person's own settings and today's state.

use dissensus_domain::{LevelId, QuestionId};
use serde::{Deserialize, Serialize};

view! {
    /// From which answer on a text is harmful: on an ordinal scale this level and those above it, otherwise
    /// only this level, option or type.
    #[derive(Eq)]
    pub struct HarmfulFrom {
        pub question: QuestionId,
        /// The level, option or type.
        pub level: LevelId,
    }

    /// The study's settings for everyone.
    #[derive(Default, Eq)]
    pub struct StudyCare {
        /// Harmful texts per day after which a person has finished; none without a limit.
        pub limit: Option<u32>,
        /// Whether an annotator must stop for the day once the limit is reached.
        pub strict: bool,
        /// Shows texts and pictures without colour.
        pub greyscale: bool,
        /// Which texts are harmful; one match is enough.
        pub harmful: Vec<HarmfulFrom>,
    }

    /// A person's own settings, stored on this computer and not in the project.
    #[derive(Default, Eq)]
    pub struct OwnCare {
        /// The person's own limit; none if the study's counts.
        pub limit: Option<u32>,
        /// Which texts are harmful, if the study does not define it.
        pub harmful: Option<HarmfulFrom>,
        /// Texts that contain one of these words or phrases are left out; a word that ends with `*` matches
        /// every word with that prefix.
        pub words: Vec<String>,
        /// Texts of these groups are left out.
        pub groups: Vec<String>,
    }

    /// A group of texts, such as a thread, that can be left out.
    pub struct TextGroup {
        pub name: String,
        /// How many texts it has.
        pub texts: u32,
    }

    /// The state of a person's limits today.
    pub struct CareInfo {
        /// The study's settings.
        pub study: StudyCare,
        /// The person's own settings.
        pub own: OwnCare,
        /// The limit that counts.
        pub limit: Option<u32>,
        /// Whether the limit is reached, and the person did not choose to continue.
        pub reached: bool,
        /// Whether the person may choose to continue.
        pub may_go_on: bool,
        /// Harmful texts read today, without the newest few, so that the count does not reveal which ones
        /// were harmful.
        pub today: u32,
        /// Harmful texts on all days on this computer, without the newest few as in `today`.
        pub in_all: u32,
        /// Texts that are left out because of the chosen words and groups.
        pub left_out: u32,
    }
}
