//! Prints the words of one text, one per line.

use super::count;
use crate::output;
use anyhow::Result;
use dissensus_analysis::{WordOfText, WordOfType, WordsOfText};

/// Expected share of annotators who would mark a word, below which it counts as unmarked.
const MIN_EXPECTED: f64 = 0.05;
/// Maximum number of characters of a word.
const WORD_WIDTH: usize = 20;
const TYPE_WIDTH: usize = 16;

/// Prints the words that at least one annotator marked, or that at least one in twenty would, with a column
/// for each type that has such a word, and the number of other words.
pub(super) fn show_words(found: &WordsOfText) -> Result<()> {
    let matters = |of: &WordOfType| {
        !of.marked_by.is_empty() || of.expected.is_some_and(|expected| expected >= MIN_EXPECTED)
    };
    let shown: Vec<&WordOfText> = found.words.iter().filter(|word| word.types.iter().any(matters)).collect();
    let types: Vec<usize> =
        (0..found.types.len()).filter(|at| shown.iter().any(|word| matters(&word.types[*at]))).collect();
    if !shown.is_empty() {
        let names = types.iter().map(|at| output::cut(&found.types[*at], TYPE_WIDTH));
        let header: Vec<String> = std::iter::once("word".to_owned()).chain(names).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let row = |word: &&WordOfText| {
            let figures = types.iter().map(|at| match &word.types[*at] {
                of if matters(of) => figures(of, found.answers),
                _ => "·".to_owned(),
            });
            std::iter::once(output::cut(&word.word, WORD_WIDTH)).chain(figures).collect()
        };
        output::line(&output::table(&header, shown.iter().map(row).collect(), &[]))?;
        let marked = if found.answers > 0 { "marked / answers, " } else { "" };
        let differ = if found.people > 1 { ", chance that two differ" } else { "" };
        output::line(&format!("Of each type: {marked}share who would mark it{differ}"))?;
    }
    let others = found.words.len() - shown.len();
    if others > 0 {
        output::line(&format!(
            "{} that {}fewer than one in twenty would mark {} left out (see --json)",
            count(others as u64, "word"),
            if found.answers > 0 { "nobody marked and " } else { "" },
            if others == 1 { "is" } else { "are" }
        ))?;
    }
    Ok(())
}

/// Formats the figures of a word, such as `2/4 .53 .41`.
fn figures(of: &WordOfType, answers: u32) -> String {
    let two = |figure: Option<f64>| match figure {
        Some(figure) => format!("{figure:.2}").trim_start_matches('0').to_owned(),
        None => String::new(),
    };
    let marked = if answers > 0 { format!("{}/{answers}", of.marked_by.len()) } else { String::new() };
    let parts = [marked, two(of.expected), two(of.differ)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_figures_are_short() {
        let of = |marked: usize, expected, differ| WordOfType {
            marked_by: vec!["a".to_owned(); marked],
            expected,
            differ,
        };
        assert_eq!(figures(&of(2, Some(0.534), Some(0.4)), 4), "2/4 .53 .40");
        assert_eq!(figures(&of(0, Some(1.0), None), 0), "1.00");
        assert_eq!(figures(&of(1, None, None), 3), "1/3");
    }
}
