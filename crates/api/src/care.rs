//! Care for the people who label: what the study sets, what a person chose, where they stand today.

use dissensus_domain::QuestionId;
use serde::{Deserialize, Serialize};

view! {
    /// From which answer on a text is harmful: on an ordinal scale this level and those above it, else this level, option or type alone.
    #[derive(Eq)]
    pub struct HarmfulFrom {
        /// The question.
        pub question: QuestionId,
        /// The level, option or type.
        pub level: u16,
    }

    /// What the study sets for everybody.
    #[derive(Default, Eq)]
    pub struct StudyCare {
        /// Harmful texts a day after which a person has finished; none where there is no limit.
        pub limit: Option<u32>,
        /// Nobody goes on beyond the limit on that day.
        pub strict: bool,
        /// Texts and pictures without colour.
        pub greyscale: bool,
        /// Which texts are harmful; a text is when one of these says so.
        pub harmful: Vec<HarmfulFrom>,
    }

    /// What a person chose. It is kept on this computer, and not in the project.
    #[derive(Default, Eq)]
    pub struct OwnCare {
        /// The own limit; none where the study's counts.
        pub limit: Option<u32>,
        /// Which texts are harmful, where the study does not say.
        pub harmful: Option<HarmfulFrom>,
        /// Texts with one of these words or phrases are left out; a word that ends with `*` means every word that begins so.
        pub words: Vec<String>,
        /// Texts of these groups are left out.
        pub groups: Vec<String>,
    }

    /// A group of texts, such as a thread, that can be left out.
    pub struct TextGroup {
        /// Its name.
        pub name: String,
        /// How many texts it has.
        pub texts: u32,
    }

    /// Where a person stands today.
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
        /// Harmful texts read today. The newest few are not in it yet, so that it does not tell which ones were.
        pub today: u32,
        /// As `today`, on all days on this computer.
        pub in_all: u32,
        /// Texts that are left out for the words and groups that were chosen.
        pub left_out: u32,
    }
}
