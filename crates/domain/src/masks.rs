//! Rules for masking names, addresses and numbers in texts before they are handed out.

use serde::{Deserialize, Serialize};

/// Maximum size of all words and exceptions of a set of rules, in bytes: it is stored as one fact.
const MOST_BYTES: usize = 900_000;
/// Maximum length of a word, in characters.
const LONGEST_WORD: usize = 200;

/// Something that is looked for in texts.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum MaskRule {
    /// E-mail addresses.
    Email,
    /// Web addresses.
    Web,
    /// Names of users: `@name` and `u/name`.
    User,
    /// Phone numbers.
    Phone,
    /// Numbers of bank accounts (IBAN) and payment cards, by their check digits.
    Account,
    /// The words of the study's own list.
    Words,
    /// The study's own regular expression.
    Pattern,
}

/// A finding that is not masked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MaskException {
    /// What was found, as it is in the text.
    pub found: String,
    /// The id of the text in which it stays; `None` for every text.
    pub text: Option<String>,
}

/// What is masked in texts that are handed out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MaskRules {
    /// The rules that are on; nothing is masked if there is none.
    pub on: Vec<MaskRule>,
    /// The words of [`MaskRule::Words`]: names of people and places, for example.
    pub words: Vec<String>,
    /// Whether words match only with the same capitals.
    pub exact: bool,
    /// The regular expression of [`MaskRule::Pattern`].
    pub pattern: String,
    /// Findings that are not masked.
    pub except: Vec<MaskException>,
}

crate::errors! {
    /// Why rules for masking are invalid.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum MaskError {
        Pattern { line: usize, column: usize, why: String } => "mask-pattern",
            "the regular expression is invalid at line {line}, column {column}: {why}";
        NoPattern => "mask-pattern-empty", "the rule for a regular expression is on and has none: write one, or switch the rule off";
        Large => "mask-pattern-large",
            "the regular expression takes too much memory: use smaller numbers of repetitions";
        Empty => "mask-pattern-matches-nothing",
            "the regular expression also matches where there is no character: let it match at least one";
        Everything => "mask-pattern-everything",
            "the regular expression matches every word: write one that matches only what is to be masked";
        Word { word: String, length: usize } => "mask-word",
            "the word that begins with \"{word}\" has {length} characters, and may have {LONGEST_WORD}: write one word or name in each line";
        Many { bytes: usize } => "mask-words",
            "the words and exceptions have {bytes} bytes, and may have {MOST_BYTES}: shorten the list";
    }
}

impl MaskRules {
    /// Whether a rule is on.
    pub fn is_on(&self, rule: MaskRule) -> bool {
        self.on.contains(&rule)
    }

    /// The same rules in one order and without repetitions, so that equal rules have equal values.
    pub fn tidied(mut self) -> Self {
        self.on.sort_unstable();
        self.on.dedup();
        let trimmed = |word: &String| word.trim().to_owned();
        self.words = self.words.iter().map(trimmed).filter(|word| !word.is_empty()).collect();
        self.words.sort_unstable();
        self.words.dedup();
        self.except.retain(|one| !one.found.is_empty());
        self.except.sort_unstable();
        self.except.dedup();
        self
    }

    /// Checks lengths; the regular expression is checked by [`Masker::new`](crate::Masker::new).
    pub(crate) fn check(&self) -> Result<(), MaskError> {
        if let Some(long) = self.words.iter().find(|word| word.chars().count() > LONGEST_WORD) {
            let word = long.chars().take(20).collect();
            return Err(MaskError::Word { word, length: long.chars().count() });
        }
        let of = |one: &MaskException| one.found.len() + one.text.as_ref().map_or(0, String::len) + 24;
        let bytes = self.words.iter().map(|word| word.len() + 4).sum::<usize>()
            + self.except.iter().map(of).sum::<usize>()
            + self.pattern.len();
        match bytes > MOST_BYTES {
            true => Err(MaskError::Many { bytes }),
            false => Ok(()),
        }
    }
}
