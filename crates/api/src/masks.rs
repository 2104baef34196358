//! Masking of names, addresses and numbers in texts that are handed out.

use dissensus_domain::{MaskRule, MaskRules};
use serde::{Deserialize, Serialize};

view! {
    /// What is masked in texts that are handed out.
    pub struct MaskSettings {
        /// The rules in effect.
        pub rules: MaskRules,
        /// Number of versions of the rules that were ever in effect.
        pub versions: u32,
        /// Number of task packets.
        pub packets: u32,
        /// Of these, packets whose texts are masked, by any version of the rules.
        pub masked_packets: u32,
        /// Columns of the texts' data from which a list of words can be taken.
        pub columns: Vec<String>,
    }

    /// What of a preview is listed.
    #[derive(Default)]
    pub struct MaskQuery {
        /// The rules to try; those in effect if none are given.
        pub rules: Option<MaskRules>,
        /// Lists only findings of this rule.
        pub rule: Option<MaskRule>,
        /// Lists only findings that contain this, whatever the capitals.
        pub search: String,
        /// Maximum number of findings to list.
        pub most: u32,
    }

    /// What rules find in the texts of the project.
    pub struct MaskPreview {
        /// Number of texts.
        pub texts: u32,
        /// Texts in which something is masked.
        pub masked_texts: u32,
        /// Texts in which everything is masked.
        pub whole_texts: u32,
        /// Ids of the first of these.
        pub whole_text_ids: Vec<String>,
        /// Places that are masked, of all rules.
        pub masked: u32,
        /// Places that exceptions leave as they are.
        pub excepted: u32,
        /// For each rule that is on, what it found.
        pub rules: Vec<MaskRuleCount>,
        /// Findings, the most frequent first.
        pub found: Vec<MaskFound>,
        /// Number of further findings.
        pub left_off: u32,
    }

    /// What one rule found.
    pub struct MaskRuleCount {
        pub rule: MaskRule,
        /// Places, with those that exceptions leave as they are.
        pub places: u32,
        pub texts: u32,
    }

    /// Something that a rule found, with one of its places.
    pub struct MaskFound {
        pub rule: MaskRule,
        /// As it is in the texts.
        pub found: String,
        /// Whether `found` is only the beginning, which no exception can name.
        pub cut: bool,
        /// Places where it was found.
        pub places: u32,
        /// Of these, places that exceptions leave as they are.
        pub excepted: u32,
        /// The id of the first text with it.
        pub text: String,
        /// The text before and after the first place.
        pub before: String,
        pub after: String,
    }

    /// Words that may be names.
    pub struct NameCandidates {
        /// False if the texts are mostly in scripts without capitals.
        pub applies: bool,
        /// The most frequent first.
        pub candidates: Vec<NameCandidate>,
    }

    /// A word that mostly begins with a capital inside of sentences, and is never in small letters.
    pub struct NameCandidate {
        pub word: String,
        /// Places where it was found.
        pub places: u32,
        /// The id of the first text with it.
        pub text: String,
        pub before: String,
        pub after: String,
    }
}
