//! What people find on a server.

use crate::error::ServerError;
use dissensus_project::error::ProjectError;
use dissensus_transfer::study::{JoinRules, Link, Study};

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

impl Offer {
    /// Checks that people find texts: `links` are those of all packets.
    ///
    /// # Errors
    /// There is no packet and no link for everybody, or nobody could join by it ([`JoinRules::check`]).
    pub fn check(&self, study: &Study, links: &[Link]) -> Result<(), ProjectError> {
        match &self.join {
            Some(rules) => rules.check(study),
            None if links.is_empty() => Err(ServerError::NothingHandedOut.into()),
            None => Ok(()),
        }
    }
}

/// The address by which people reach a server, without a slash at its end.
///
/// # Errors
/// It does not begin with `http://` or `https://`, or cannot begin a link.
pub fn web_address(address: &str) -> Result<String, ServerError> {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !"?#\"<>".contains(c);
    match rest {
        Some(rest) if !rest.trim_end_matches('/').is_empty() && rest.chars().all(plain) => {
            Ok(address.trim_end_matches('/').to_owned())
        }
        _ => Err(ServerError::WebAddress),
    }
}
