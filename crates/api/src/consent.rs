//! The text that people agree to before they answer.

use serde::{Deserialize, Serialize};

view! {
    /// The consent text of a study.
    pub struct ConsentState {
        /// The number of the version that people are asked to agree to; none where nothing is asked.
        pub in_effect: Option<u32>,
        /// All versions, by number.
        pub versions: Vec<ConsentText>,
    }

    /// A version of the consent text.
    pub struct ConsentText {
        /// SHA-256 of the text, in hexadecimal digits: the same in every copy.
        pub version: String,
        /// Its number, from 1.
        pub number: u32,
        /// When it was written first.
        pub at: f64,
        /// Markdown: never to be rendered as HTML.
        pub body: String,
        /// Ids of the people who agreed to this version last; empty in packets.
        pub people: Vec<String>,
    }
}
