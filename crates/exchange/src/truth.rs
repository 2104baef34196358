//! Words for no, yes and missing values.

use crate::vocabulary::vocabulary;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// A code that is written for a missing value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A word or a sign, such as `N/A`. A few, such as `none`, are levels of some scales.
    Word,
    /// A number, such as `-99`. It means a missing value only if it is outside a compact range of all others.
    Number,
}

static TRUTH: LazyLock<HashMap<String, bool>> = LazyLock::new(|| {
    let pairs = vocabulary().truth.iter();
    pairs.flat_map(|[no, yes]| [(folded(no), false), (folded(yes), true)]).collect()
});
static MISSING_WORDS: LazyLock<HashSet<String>> =
    LazyLock::new(|| vocabulary().missing.words.iter().map(|word| folded(word)).collect());

/// Reads a word for no or yes; case and spaces around it are ignored. Other words are `None`.
pub fn truth_value(value: &str) -> Option<bool> {
    TRUTH.get(&folded(value)).copied()
}

/// Recognises a code for a missing value; case and spaces around it are ignored, and `-99.0` is `-99`. A
/// blank value is missing without a code, and `None`.
pub fn missing_code(value: &str) -> Option<Missing> {
    let value = folded(value);
    if MISSING_WORDS.contains(&value) {
        return Some(Missing::Word);
    }
    let whole = match value.split_once('.') {
        Some((whole, fraction)) if !fraction.is_empty() && fraction.bytes().all(|b| b == b'0') => whole,
        Some(_) => return None,
        None => &value,
    };
    vocabulary().missing.numbers.iter().any(|number| number == whole).then_some(Missing::Number)
}

/// Lower case, trimmed, with one space for each run of white space.
fn folded(value: &str) -> String {
    value.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_no_and_yes() {
        for value in
            ["yes", " YES ", "True", "1", "1.0", "y", "T", "ja", "Oui", "si", "SÍ", "sì", "sim", "S", "J"]
        {
            assert_eq!(truth_value(value), Some(true), "{value}");
        }
        for value in ["no", "No", "FALSE", "0", "0.0", "n", "F", "nein", "non", "nee", "NÃO", "nao", "falso"]
        {
            assert_eq!(truth_value(value), Some(false), "{value}");
        }
        for value in ["", " ", "maybe", "2", "yes please", "-1", "o", "none", "agree"] {
            assert_eq!(truth_value(value), None, "{value}");
        }
    }

    #[test]
    fn no_word_is_both_no_and_yes() {
        for [no, yes] in &vocabulary().truth {
            assert_eq!((truth_value(no), truth_value(yes)), (Some(false), Some(true)), "{no} {yes}");
        }
    }

    #[test]
    fn recognises_missing_value_codes() {
        for value in
            ["NA", "n/a", "NaN", "null", "None", "-", "--", ".", "?", "k.A.", "keine  Angabe", " nan "]
        {
            assert_eq!(missing_code(value), Some(Missing::Word), "{value}");
        }
        for value in ["data_expired", "Sin Respuesta", "sans réponse", "n.v.t.", "não informado", "<na>"] {
            assert_eq!(missing_code(value), Some(Missing::Word), "{value}");
        }
        for value in ["-1", "99", "-99", "999", "-9", "-99.0", "99.00", " -1 "] {
            assert_eq!(missing_code(value), Some(Missing::Number), "{value}");
        }
        for value in ["", "  ", "0", "1", "1.5", "-1.5", "99.", "no", "unknown", "banana", "1e2", "99.0.0"] {
            assert_eq!(missing_code(value), None, "{value}");
        }
    }

    #[test]
    fn missing_value_codes_are_not_booleans() {
        let missing = &vocabulary().missing;
        for code in missing.words.iter().chain(&missing.numbers) {
            assert_eq!(truth_value(code), None, "{code}");
            assert!(missing_code(code).is_some(), "{code}");
        }
    }
}
