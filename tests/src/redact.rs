//! Replaces values that differ between two runs of a command,
//! so that its output can be compared with a snapshot.

use regex::{Captures, Regex};
use std::borrow::Cow;
use std::path::Path;
use std::sync::LazyLock;

/// Patterns and their replacements, in the order in which they are applied after numbers are rounded.
static RULES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let rules = [
        (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "[UUID]"),
        (r"another copy \([0-9a-f]{4}\)", "another copy ([COPY])"),
        // Pseudonyms are random.
        (r"\bA\d{1,2}\b", "[PSEUDONYM]"),
        // Milliseconds and seconds since 1970.
        (r"\b[1-9]\d{12}(\.\d+)?\b", "[TIME]"),
        (r"\b[1-9]\d{9}\.\d+\b", "[TIME]"),
        (r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z| ?[+-]\d\d:?\d\d| UTC)?", "[TIME]"),
        (r"\b20\d\d-\d\d-\d\d\b", "[DATE]"),
        (r"\b(in|took|after) \d+(\.\d+)? (s|ms|seconds?|min|minutes?)\b", "$1 [DURATION]"),
        (r#""seconds": \d+(\.\d+)?"#, "\"seconds\": [DURATION]"),
        // The last column of `models runs list`.
        (r"(?m)( finished .*\S) +\d+$", "$1 [SECONDS]"),
        // The last column of the epochs of `models runs show`.
        (r"(?m)^( +\d+\.\d+ [* ](?: +\d+\.\d+){3}) +\d+$", "$1 [SECONDS]"),
        (r"\b(dissensus|Dissensus) \d+\.\d+\.\d+\b", "$1 [VERSION]"),
        (r"\b[0-9a-f]{16,}\b", "[HASH]"),
        (r"\bby up to \d+ days\b", "by up to [DAYS] days"),
        (r"\b\d{5,} of \d{5,} bytes\b", "[SIZE] of [SIZE] bytes"),
        (r"\(\d+(\.\d+)? [kM]B\)", "([SIZE])"),
        // What the system says of this computer's disk.
        (r#"The (system .*the )?disk of this project[^"\n]*"#, "[DISK]"),
        (r#""encryption": "\w+""#, "\"encryption\": [DISK]"),
    ];
    rules.map(|(pattern, with)| (compiled(pattern), with)).into()
});

/// A number with three decimals or more, or with an exponent.
static LONG_FRACTION: LazyLock<Regex> = LazyLock::new(|| compiled(r"-?\b\d+\.(\d{3,}(e-?\d+)?|\d+e-?\d+)\b"));

/// A number with a decimal point.
static FRACTION: LazyLock<Regex> = LazyLock::new(|| compiled(r"-?\b\d+\.\d+(e-?\d+)?\b"));

/// Which numbers a text contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figures {
    /// Computed from labels only, the same on every machine: rounded to six decimals.
    Exact,
    /// From models, whose last digits depend on the processor: rounded to one decimal.
    OfModels,
}

/// Redacts times, identities, versions, durations and the paths in `folders` (each with the name that
/// replaces it), and rounds numbers.
pub fn redacted(text: &str, folders: &[(&Path, &str)], figures: Figures) -> String {
    let mut text = text.replace("\r\n", "\n");
    for (folder, name) in folders {
        text = text.replace(&*folder.to_string_lossy(), name);
    }
    let (pattern, decimals) = match figures {
        Figures::Exact => (&LONG_FRACTION, 6),
        Figures::OfModels => (&FRACTION, 1),
    };
    let round = |found: &Captures<'_>| rounded(&found[0], decimals).into_owned();
    text = pattern.replace_all(&text, round).into_owned();
    for (pattern, with) in RULES.iter() {
        text = pattern.replace_all(&text, *with).into_owned();
    }
    text
}

/// Rounds the number to so many decimals; one with fewer is unchanged.
fn rounded(number: &str, decimals: usize) -> Cow<'_, str> {
    let Ok(value) = number.parse::<f64>() else { return Cow::Borrowed(number) };
    if number
        .split_once('.')
        .is_some_and(|(_, fraction)| fraction.len() <= decimals && !fraction.contains('e'))
    {
        return Cow::Borrowed(number);
    }
    let text = format!("{value:.decimals$}");
    // A number that rounds to zero has no sign, which may differ as the last digits do.
    let nothing = text.bytes().all(|byte| b"-0.".contains(&byte));
    Cow::Owned(if nothing { text.trim_start_matches('-').to_owned() } else { text })
}

fn compiled(pattern: &str) -> Regex {
    match Regex::new(pattern) {
        Ok(regex) => regex,
        Err(error) => panic!("{pattern}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_vary_are_redacted() {
        let text = "Wrote 3 labels to /tmp/x1/a.csv in 0.3 s at 2026-11-28T21:35:53.512Z (dissensus 0.1.0)";
        let folders = [(Path::new("/tmp/x1"), "[FOLDER]")];
        assert_eq!(
            redacted(text, &folders, Figures::Exact),
            "Wrote 3 labels to [FOLDER]/a.csv in [DURATION] at [TIME] (dissensus [VERSION])"
        );
    }

    #[test]
    fn numbers_are_rounded_without_negative_zero() {
        let text = "0.25 0.1234567 -0.0000001 1.5e-9";
        assert_eq!(redacted(text, &[], Figures::Exact), "0.25 0.123457 0.000000 0.000000");
        assert_eq!(redacted("0.25 -0.04 12", &[], Figures::OfModels), "0.2 0.0 12");
    }
}
