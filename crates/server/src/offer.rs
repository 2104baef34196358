//! What people find on a server.

use dissensus_transfer::study::JoinRules;

/// What the people of a study find.
#[derive(Clone, Debug, Default)]
pub struct Offer {
    /// The title of the page on which they join.
    pub title: String,
    /// What those get who join by the link for everybody; without it there is no such link.
    pub join: Option<JoinRules>,
    /// A code, or an address, that is shown once everything is answered and sent.
    pub completion: Option<String>,
}
