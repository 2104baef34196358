//! Words and phrases by which a person excludes texts.

use dissensus_project::error::ProjectError;
use dissensus_project::words::counted;
use unicode_segmentation::UnicodeSegmentation as _;

/// Maximum number of words of a person, and maximum length in characters.
const MAX_WORDS: usize = 200;
const LONGEST: usize = 100;

/// Words and phrases to search in texts, ignoring case.
pub(crate) struct Topics(Vec<Topic>);

struct Topic {
    words: Vec<String>,
    /// Whether the last one is only the beginning of a word.
    begins: bool,
}

impl Topics {
    /// Parses these words; entries without a letter or digit are ignored.
    pub(crate) fn new(words: &[String]) -> Self {
        let topic = |word: &String| {
            let begins = word.trim_end().ends_with('*');
            let words = segments(word);
            (!words.is_empty()).then_some(Topic { words, begins })
        };
        Self(words.iter().filter_map(topic).collect())
    }

    /// Whether a text contains one of them.
    pub(crate) fn are_in(&self, body: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let body = segments(body);
        self.0.iter().any(|topic| body.windows(topic.words.len()).any(|there| topic.is(there)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Topic {
    fn is(&self, there: &[String]) -> bool {
        let last = self.words.len() - 1;
        self.words.iter().zip(there).enumerate().all(|(at, (wanted, word))| {
            word == wanted || (at == last && self.begins && word.starts_with(wanted.as_str()))
        })
    }
}

/// The words of a text in lower case.
fn segments(text: &str) -> Vec<String> {
    text.unicode_words().map(str::to_lowercase).collect()
}

/// Validates and normalises the words for storage: trimmed and without duplicates.
///
/// # Errors
/// Too many of them, one that is too long, or one without a letter or digit.
pub(crate) fn checked(words: &[String]) -> Result<Vec<String>, ProjectError> {
    let mut kept: Vec<String> = Vec::new();
    for word in words.iter().map(|word| word.trim()).filter(|word| !word.is_empty()) {
        let wrong =
            |allowed: String| ProjectError::Setting { name: "words", value: word.to_owned(), allowed };
        if word.chars().count() > LONGEST {
            return Err(wrong(format!("words and phrases of {LONGEST} characters at most")));
        }
        if segments(word).is_empty() {
            return Err(wrong("words with a letter or a digit".to_owned()));
        }
        if !kept.iter().any(|known| known.to_lowercase() == word.to_lowercase()) {
            kept.push(word.to_owned());
        }
    }
    if kept.len() > MAX_WORDS {
        return Err(ProjectError::Setting {
            name: "words",
            value: counted(kept.len() as u64, "word"),
            allowed: format!("{MAX_WORDS} at most"),
        });
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topics(words: &[&str]) -> Topics {
        Topics::new(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn words_match_whole_and_prefixes_with_a_star() {
        let war = topics(&["war", "suicid*", "hate speech"]);
        for text in ["War.", "no WAR, please", "she was suicidal", "Suicide", "it is hate  speech!"] {
            assert!(war.are_in(text), "{text}");
        }
        for text in ["a warm day", "software", "parasuicide", "hate this speech", "hates speech", ""] {
            assert!(!war.are_in(text), "{text}");
        }
        assert!(topics(&["STRAẞE"]).are_in("die straße") && topics(&["Éva"]).are_in("éva"));
        assert!(topics(&["死"]).are_in("他死了"));
        assert!(topics(&["*", " "]).is_empty() && !topics(&["*"]).are_in("anything"));
    }

    #[test]
    fn invalid_topic_words_are_refused() {
        let check = |words: &[&str]| checked(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(check(&[" war ", "", "War", "peace"]).unwrap(), ["war", "peace"]);
        assert!(check(&["!!"]).unwrap_err().to_string().contains("letter"));
        assert!(check(&[&"x".repeat(101)]).unwrap_err().to_string().contains("100"));
        let many: Vec<String> = (0..=MAX_WORDS).map(|n| n.to_string()).collect();
        assert!(checked(&many).unwrap_err().to_string().contains("200 at most"));
    }
}
