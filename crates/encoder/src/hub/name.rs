//! Names of repositories on the model hub: `owner/name`, or `owner/name@revision`.

use std::fmt;
use std::str::FromStr;

use crate::error::EncoderError;

/// The default revision.
const USUAL_REVISION: &str = "main";
/// The hub's maximum length of each half of a name.
const LONGEST: usize = 96;

/// A repository and one of its revisions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HubName {
    repository: String,
    revision: String,
}

impl HubName {
    /// `owner/name`.
    #[must_use]
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// A branch, a tag or a commit; `main` where none is named.
    #[must_use]
    pub fn revision(&self) -> &str {
        &self.revision
    }
}

impl fmt::Display for HubName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.repository)?;
        if self.revision == USUAL_REVISION { Ok(()) } else { write!(f, "@{}", self.revision) }
    }
}

impl FromStr for HubName {
    type Err = EncoderError;

    fn from_str(text: &str) -> Result<Self, EncoderError> {
        let (repository, revision) = text.split_once('@').unwrap_or((text, USUAL_REVISION));
        let fits = repository.split_once('/').is_some_and(|(owner, name)| is_half(owner) && is_half(name));
        if fits && is_revision(revision) {
            Ok(Self { repository: repository.to_owned(), revision: revision.to_owned() })
        } else {
            Err(EncoderError::HubName(text.to_owned()))
        }
    }
}

/// The hub's rules; they also make both halves safe as parts of a path, and reserve `--` as a separator.
fn is_half(half: &str) -> bool {
    let edge = |c: char| matches!(c, '-' | '.');
    (1..=LONGEST).contains(&half.len())
        && half.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && !half.starts_with(edge)
        && !half.ends_with(edge)
        && !half.contains("--")
        && !half.contains("..")
}

fn is_revision(revision: &str) -> bool {
    revision.split('/').all(|part| {
        !part.is_empty()
            && !part.starts_with(['-', '.'])
            && !part.contains("..")
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_with_and_without_a_revision() {
        let plain: HubName = "some/tiny-bert_1.5".parse().unwrap();
        assert_eq!((plain.repository(), plain.revision()), ("some/tiny-bert_1.5", "main"));
        let tagged: HubName = "some/tiny@refs/pr/1".parse().unwrap();
        assert_eq!((tagged.revision(), tagged.to_string().as_str()), ("refs/pr/1", "some/tiny@refs/pr/1"));
    }

    #[test]
    fn paths_and_addresses_are_not_hub_names() {
        for text in [
            "",
            "tiny",
            "/tiny",
            "some/",
            "a/b/c",
            "../tiny",
            "some/..",
            "./tiny",
            "some/a--b",
            "some/a b",
            "https://x.y/some/tiny",
            "some/tiny@",
            "some/tiny@../x",
            "some/tiny@/x",
            "some\\tiny",
            "some/tin\u{e4}",
        ] {
            assert_eq!(text.parse::<HubName>().unwrap_err().code(), "encoder-hub-name", "{text}");
        }
    }
}
