//! Care for annotators: the study's limits, a person's own settings and today's state.

use dissensus_domain::QuestionId;
use serde::{Deserialize, Serialize};

view! {
    /// From which answer on a text is harmful: on an ordinal scale this level and those above it, otherwise
    /// only this level, option or type.
    #[derive(Eq)]
    pub struct HarmfulFrom {
        pub question: QuestionId,
        /// The level, option or type.
        pub level: u16,
    }

    /// What the study sets for everybody.
    #[derive(Default, Eq)]
    pub struct StudyCare {
        /// Harmful texts a day after which a person has finished; none where there is no limit.
        pub limit: Option<u32>,
        /// Whether an annotator must stop for the day once the limit is reached.
        pub strict: bool,
        /// Texts and pictures without colour.
        pub greyscale: bool,
        /// Which texts are harmful; one match is enough.
        pub harmful: Vec<HarmfulFrom>,
    }

    /// A person's own settings, stored on this computer and not in the project.
    #[derive(Default, Eq)]
    pub struct OwnCare {
        /// The own limit; none where the study's counts.
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
        /// What the study sets.
        pub study: StudyCare,
        /// What the person chose.
        pub own: OwnCare,
        /// The limit that counts.
        pub limit: Option<u32>,
        /// The limit is reached, and the person did not choose to go on.
        pub reached: bool,
        /// The person may choose to go on.
        pub may_go_on: bool,
        /// Harmful texts read today, without the newest few, so that the count does not reveal which ones
        /// were harmful.
        pub today: u32,
        /// As `today`, on all days on this computer.
        pub in_all: u32,
        /// Texts that are left out for the words and groups that were chosen.
        pub left_out: u32,
    }
}
