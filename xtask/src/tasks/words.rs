//! Words that documents, comments and messages do not use.

/// Words that we avoid and what we write instead: `phrase = alternative`, one a line.
const WORDS: &str = include_str!("../../words.txt");

/// What to write for each avoided phrase in a line of prose.
pub(super) fn refused(prose: &str) -> impl Iterator<Item = String> {
    let lower = prose.to_lowercase();
    avoided().filter_map(move |(phrase, alternative)| {
        let found = lower.contains(phrase) && contains_phrase(&lower, phrase);
        found.then(|| format!("write {alternative} for `{phrase}`"))
    })
}

fn avoided() -> impl Iterator<Item = (&'static str, &'static str)> {
    WORDS.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let (phrase, alternative) = line.split_once('=')?;
        Some((phrase.trim(), alternative.trim()))
    })
}

/// Whether the line contains the phrase as whole words, in any case.
fn contains_phrase(line: &str, phrase: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '\''))
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let phrase = words(phrase);
    // "takes, in seconds" is not "takes in".
    line.split([',', ';', ':', '.', '(', ')'])
        .any(|clause| words(clause).windows(phrase.len()).any(|window| window == phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_an_alternative() {
        let lines = WORDS.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count();
        assert!(lines > 10);
        assert_eq!(
            avoided().filter(|(phrase, other)| !phrase.is_empty() && !other.is_empty()).count(),
            lines
        );
    }
}
