//! What the names of columns have in common: a number and the words before or after it.

use crate::roles::simplified;
use std::collections::BTreeMap;

/// A name with one number in it: `worker_3_gender` is `worker_`, 3, `_gender`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Numbered {
    pub(crate) before: String,
    pub(crate) number: u32,
    pub(crate) behind: String,
}

impl Numbered {
    /// Returns every split of a name: one for each run of digits in it.
    pub(crate) fn all_of(name: &str) -> Vec<Self> {
        let mut found = Vec::new();
        let bytes = name.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if !bytes[at].is_ascii_digit() {
                at += 1;
                continue;
            }
            let end = (at..bytes.len()).find(|i| !bytes[*i].is_ascii_digit()).unwrap_or(bytes.len());
            if let Ok(number) = name[at..end].parse() {
                found.push(Self { before: name[..at].to_owned(), number, behind: name[end..].to_owned() });
            }
            at = end;
        }
        found
    }
}

/// Columns that have the same name but for a number.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) before: String,
    pub(crate) behind: String,
    /// By number: the place of the column.
    pub(crate) columns: BTreeMap<u32, usize>,
}

impl Series {
    /// The words of the name, simplified.
    pub(crate) fn stem(&self) -> String {
        simplified(&format!("{} {}", self.before, self.behind))
    }

    /// The name without its number, for display.
    pub(crate) fn label(&self) -> String {
        let trim = |part: &str| part.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        match (trim(&self.before), trim(&self.behind)) {
            (before, behind) if behind.is_empty() => before,
            (before, behind) if before.is_empty() => behind,
            (before, behind) => format!("{before}_{behind}"),
        }
    }
}

/// Finds the series of two columns or more among `columns`, in order of their first column. A column with
/// several numbers is in the longest series.
pub(crate) fn series(names: &[String], columns: &[usize]) -> Vec<Series> {
    let mut found: BTreeMap<(String, String), BTreeMap<u32, usize>> = BTreeMap::new();
    for at in columns {
        for numbered in Numbered::all_of(&names[*at]) {
            found
                .entry((numbered.before, numbered.behind))
                .or_default()
                .entry(numbered.number)
                .or_insert(*at);
        }
    }
    let mut all: Vec<Series> = found
        .into_iter()
        .filter(|(_, columns)| columns.len() > 1)
        .map(|((before, behind), columns)| Series { before, behind, columns })
        .collect();
    all.sort_by_key(|series| {
        (std::cmp::Reverse(series.columns.len()), series.columns.values().min().copied())
    });
    let mut taken: Vec<usize> = Vec::new();
    all.retain_mut(|series| {
        series.columns.retain(|_, at| !taken.contains(at));
        taken.extend(series.columns.values());
        series.columns.len() > 1
    });
    all.sort_by_key(|series| series.columns.values().min().copied());
    all
}

/// The words of a name.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        let starts = !before.is_alphanumeric()
            || c.is_numeric() != before.is_numeric()
            || c.is_uppercase() && before.is_lowercase();
        if c.is_alphanumeric() {
            if starts {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    words
}

/// Returns the longest common prefix and suffix of these names, at word boundaries.
pub(crate) fn common_ends<'a>(names: &[&'a str]) -> (&'a str, &'a str) {
    let Some(first) = names.first() else { return ("", "") };
    let parts = |c: char| !c.is_alphanumeric();
    let mut before = first.len();
    let mut behind = first.len();
    for name in names {
        before = before.min(first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count());
        behind = behind.min(first.bytes().rev().zip(name.bytes().rev()).take_while(|(a, b)| a == b).count());
    }
    while !first.is_char_boundary(before) {
        before -= 1;
    }
    while !first.is_char_boundary(first.len() - behind) {
        behind -= 1;
    }
    // Whole words only, and every name must have a remainder.
    let before = first[..before].rfind(parts).map_or("", |at| &first[..=at]);
    let end = &first[first.len() - behind..];
    let behind = end.find(parts).map_or("", |at| &end[at..]);
    let leaves = |name: &&str| name.len() > before.len() + behind.len();
    if names.iter().all(leaves) { (before, behind) } else { ("", "") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn numbered_names_are_series() {
        let all = names(&[
            "id",
            "worker_1",
            "score_1",
            "worker_2",
            "score_2",
            "worker_10",
            "label1b",
            "label2b",
            "x9",
        ]);
        let found = series(&all, &(0..all.len()).collect::<Vec<_>>());
        let shown: Vec<(String, usize)> = found.iter().map(|s| (s.label(), s.columns.len())).collect();
        let expected = [("worker", 3), ("score", 2), ("label_b", 2)].map(|(name, n)| (name.to_owned(), n));
        assert_eq!(shown, expected);
    }

    #[test]
    fn words_split_at_case_and_digits() {
        assert_eq!(words("workerID_3 Alter"), ["worker", "id", "3", "alter"]);
        assert_eq!(words("Q1_harm"), ["q", "1", "harm"]);
    }

    #[test]
    fn common_suffixes_are_whole_words() {
        assert_eq!(common_ends(&["United_States_Hate", "India_Hate"]), ("", "_Hate"));
        assert_eq!(common_ends(&["label_1_M", "label_2_M"]), ("label_", "_M"));
        assert_eq!(common_ends(&["rate", "rater"]), ("", ""));
        assert_eq!(common_ends(&["é_a", "è_a"]), ("", "_a"));
    }
}
