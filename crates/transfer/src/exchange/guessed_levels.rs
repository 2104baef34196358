//! Levels that were guessed from the labels of a file and may be mistakes: codes for missing values,
//! spellings that differ only in case, and numbers far apart or with gaps. They are reported and never
//! refused: any of them may be right.

use super::reading::choices_of;
use dissensus_api::ImportNotice;
use dissensus_domain::Scale;
use dissensus_exchange::{Missing, TableReading, missing_code, ordered_scale, truth_value};
use dissensus_project::words::counted;
use std::collections::BTreeMap;

/// Returns the notices about a scale that was guessed from `labels` (the names of levels in a file, each with
/// its count).
pub(super) fn guessed_levels(
    scale: &Scale,
    labels: &[(String, u64)],
    reading: &TableReading,
) -> Vec<ImportNotice> {
    let used: Vec<(&str, u64)> =
        labels.iter().filter(|(_, count)| *count > 0).map(|(name, count)| (name.as_str(), *count)).collect();
    let codes = codes(&used);
    let (missing, values): (Vec<_>, Vec<_>) =
        used.iter().copied().partition(|known| is_missing(known.0) || codes.contains(known));
    let mut notices = Vec::new();
    if !missing.is_empty() && !values.is_empty() {
        notices.push(missing_values(scale, &missing, &values, reading));
    }
    notices.extend(one_level(scale, &used));
    notices.extend(spellings(&used, reading));
    notices.extend(ordered(scale));
    notices.extend(gaps(scale, &used));
    notices
}

/// Whether a name is a word for a missing value. "none" in lower case is not: it is an answer more often than
/// not.
fn is_missing(name: &str) -> bool {
    name != "none" && missing_code(name) == Some(Missing::Word)
}

/// Finds numbers that are codes for missing values, far from all others: -1 or 99 in addition to 1 to 5.
fn codes<'a>(used: &[(&'a str, u64)]) -> Vec<(&'a str, u64)> {
    let mut numbers: Vec<(i64, &'a str, u64)> =
        used.iter().filter_map(|(name, count)| Some((name.parse().ok()?, *name, *count))).collect();
    let words = used.iter().any(|(name, _)| name.parse::<i64>().is_err() && !is_missing(name));
    numbers.sort_unstable();
    let is_code = |name: &str| missing_code(name) == Some(Missing::Number);
    let rest: Vec<i64> = numbers.iter().filter(|(_, name, _)| !is_code(name)).map(|(n, ..)| *n).collect();
    let (Some(low), Some(high)) = (rest.first(), rest.last()) else { return Vec::new() };
    // -1, 0, 1 and 7, 8, 9 are scales.
    let apart = |n: i64| n > high + 1 && n > 9 || n < -1 || n == -1 && *low >= 1;
    let found = numbers.iter().filter(|(n, name, _)| is_code(name) && apart(*n));
    if words || rest.len() < 2 { Vec::new() } else { found.map(|(_, name, count)| (*name, *count)).collect() }
}

fn notice(code: &str, count: usize, message: String) -> ImportNotice {
    ImportNotice {
        code: code.to_owned(),
        count: count as u32,
        message,
        places: Vec::new(),
        fix: None,
        fix_label: None,
    }
}

/// A notice with the reading that fixes the problem.
fn mending(code: &str, count: usize, message: String, reading: &TableReading, label: &str) -> ImportNotice {
    let fix = Some(choices_of(reading));
    ImportNotice { fix, fix_label: Some(label.to_owned()), ..notice(code, count, message) }
}

fn missing_values(
    scale: &Scale,
    missing: &[(&str, u64)],
    values: &[(&str, u64)],
    reading: &TableReading,
) -> ImportNotice {
    let named: Vec<String> =
        missing.iter().map(|(name, count)| format!("\"{name}\" ({})", counted(*count, "label"))).collect();
    let them = if missing.len() == 1 { "it" } else { "them" };
    let without = match Scale::guess(values.iter().map(|(name, _)| *name)) {
        Ok(other) if other.kind() != scale.kind() && !scale.has_options() => {
            format!(". Without {them} the scale would be {} ({})", other.kind(), other.levels().join(", "))
        }
        _ => String::new(),
    };
    let names: Vec<&str> = missing.iter().map(|(name, _)| *name).collect();
    let message = format!(
        "Reads like a missing value and is a level of the scale: {}. If no answer is meant, say so with --missing={}{without}",
        named.join(", "),
        quoted(&names.join(","))
    );
    let mut mended = reading.clone();
    mended.values.missing.extend(names.iter().map(|name| (*name).to_owned()));
    mending("missing-value-level", missing.len(), message, &mended, "Read as missing")
}

/// Returns a notice if all labels are the same one of a usual pair: a rating may begin like that too.
fn one_level(scale: &Scale, used: &[(&str, u64)]) -> Option<ImportNotice> {
    let [(only, _)] = used else { return None };
    let message = format!(
        "All labels are \"{only}\", so the scale is taken to be {}. If other levels could be given, name all of them, lowest first",
        scale.levels().join(", ")
    );
    (scale.is_binary()).then(|| notice("one-level", 1, message))
}

/// Returns a notice about levels that differ only in case and spaces, or are several spellings of yes and no.
fn spellings(used: &[(&str, u64)], reading: &TableReading) -> Option<ImportNotice> {
    let mut spellings: BTreeMap<String, Vec<(&str, u64)>> = BTreeMap::new();
    let truths = used.iter().filter(|(name, _)| truth_value(name).is_some()).count();
    for (name, count) in used {
        let plain = name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        // 0 and 1 are numbers, unless there are words for yes and no.
        let plain = match truth_value(name).filter(|_| truths == used.len() && truths > 2) {
            Some(true) => "yes".to_owned(),
            Some(false) => "no".to_owned(),
            None => plain,
        };
        spellings.entry(plain).or_default().push((name, *count));
    }
    let shown = |(name, count): &(&str, u64)| format!("\"{name}\" ({})", counted(*count, "label"));
    let several: Vec<String> = spellings
        .values()
        .filter(|names| names.len() > 1)
        .map(|names| names.iter().map(shown).collect::<Vec<_>>().join(" and "))
        .collect();
    let message = format!(
        "Levels that differ in upper and lower case or spaces only, or mean the same: {}. If they are one level, read them as one with --fold-case",
        several.join("; ")
    );
    let mut folded = reading.clone();
    folded.values.fold_case = true;
    (!several.is_empty())
        .then(|| mending("level-spellings", several.len(), message, &folded, "Read as one level"))
}

/// Returns a notice about levels whose names have an order.
fn ordered(scale: &Scale) -> Option<ImportNotice> {
    let known = ordered_scale(scale.levels()).is_some_and(|ordered| ordered.reads_like(scale));
    let message = format!(
        "The names of the levels tell their order, lowest first: {}. If they have none, choose the scale \"choice\"",
        scale.levels().join(", ")
    );
    known.then(|| notice("ordered-levels", scale.len(), message))
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    match word.chars().all(|c| c.is_ascii_alphanumeric() || "-,._/".contains(c)) {
        true => word.to_owned(),
        false => format!("'{word}'"),
    }
}

fn gaps(scale: &Scale, used: &[(&str, u64)]) -> Option<ImportNotice> {
    let mut numbers: Vec<i64> = used
        .iter()
        .filter(|(name, _)| !is_missing(name))
        .map(|(name, _)| name.parse().ok())
        .collect::<Option<_>>()?;
    numbers.sort_unstable();
    let has = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if scale.target().has_distances() {
        let filled = ranges(
            &numbers
                .windows(2)
                .map(|pair| (pair[0].saturating_add(1), pair[1].saturating_sub(1)))
                .collect::<Vec<_>>(),
        );
        let count = scale.len().saturating_sub(numbers.len());
        let message = format!(
            "The labels are {has}; no label is {filled}, which the scale has all the same. If that is not the scale that \
             annotators saw, name its levels"
        );
        return (count > 0 && !filled.is_empty()).then(|| notice("unused-levels", count, message));
    }
    let message = format!(
        "The labels are numbers far apart ({has}), so the scale is {} without an order. If one of them represents a missing \
         value, empty these cells; if they are a rating, choose ordinal",
        scale.kind()
    );
    let far_apart = numbers.len() > 2
        && numbers[numbers.len() - 1].saturating_sub(numbers[0]) > Scale::MAX_ORDINAL_SPREAD;
    (!scale.target().is_ordered() && far_apart).then(|| notice("numbers-far-apart", numbers.len(), message))
}

/// Ranges of whole numbers in words; empty ones are left out.
fn ranges(ranges: &[(i64, i64)]) -> String {
    let words: Vec<String> = ranges
        .iter()
        .filter(|(low, high)| low <= high)
        .map(|(low, high)| if low == high { low.to_string() } else { format!("{low} to {high}") })
        .collect();
    words.join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The codes and messages of the scale that these labels are guessed to have, one label each.
    fn guessed_levels_of(labels: &[&str]) -> Vec<(String, String)> {
        let scale = Scale::guess(labels).unwrap();
        let labels: Vec<(String, u64)> = labels.iter().map(|name| ((*name).to_owned(), 1)).collect();
        let found: Vec<_> = guessed_levels(&scale, &labels, &TableReading::default())
            .into_iter()
            .map(|n| (n.code, n.message))
            .collect();
        // The caller ends the message.
        assert!(found.iter().all(|(_, message)| !message.ends_with('.')), "{found:?}");
        found
    }

    fn codes(labels: &[&str]) -> Vec<String> {
        guessed_levels_of(labels).into_iter().map(|(code, _)| code).collect()
    }

    #[test]
    fn usual_scales_give_no_notice() {
        for labels in [
            &["1", "2", "3", "4", "5"][..],
            &["0", "1"],
            &["no", "yes"],
            &["-1", "0", "1"],
            &["against", "favor", "none"],
            &["rude; threat", "rude", "threat"],
            &["x", "y", "z"],
        ] {
            assert_eq!(guessed_levels_of(labels), [], "{labels:?}");
        }
    }

    #[test]
    fn missing_value_level_is_reported_with_the_other_scale() {
        for mark in ["NA", "n/a", "nan", "NULL", "None", "missing", "?", "-", ".", "#N/A", "<NA>", "99"] {
            let found = guessed_levels_of(&["1", "2", "3", mark]);
            assert_eq!(found[0].0, "missing-value-level", "{mark}");
            assert!(found[0].1.contains(&format!("\"{mark}\" (1 label)")), "{found:?}");
            assert!(found[0].1.contains("would be ordinal (1, 2, 3)"), "{found:?}");
        }
        assert_eq!(codes(&["1", "2", "3", "NA"]), ["missing-value-level"]);
        assert_eq!(codes(&["no", "yes", "NaN"]), ["missing-value-level"]);
        assert!(!guessed_levels_of(&["a", "b", "c", "NA"])[0].1.contains("would be"), "the kind is the same");
    }

    #[test]
    fn half_of_a_pair_is_reported() {
        let found = guessed_levels_of(&["1"]);
        assert_eq!(found[0].0, "one-level");
        assert!(found[0].1.contains("All labels are \"1\", so the scale is taken to be 0, 1"), "{found:?}");
        assert_eq!(codes(&["0", "1"]), Vec::<String>::new());
    }

    #[test]
    fn spellings_of_one_word_are_reported() {
        let found = guessed_levels_of(&["No", "Yes", "no", "yes"]);
        assert_eq!(found[0].0, "level-spellings");
        assert!(found[0].1.contains("\"No\" (1 label) and \"no\" (1 label); \"Yes\" (1 label)"), "{found:?}");
        assert_eq!(codes(&["Very  bad", "very bad", "good"]), ["level-spellings"]);
        assert_eq!(codes(&["É", "é", "x"]), ["level-spellings"]);
    }

    #[test]
    fn unused_levels_are_reported() {
        let found = guessed_levels_of(&["1", "2", "9"]);
        assert_eq!(found[0].0, "unused-levels");
        assert!(found[0].1.contains("no label is 3 to 8"), "{found:?}");
        assert!(guessed_levels_of(&["1", "3", "5"])[0].1.contains("no label is 2 or 4"));
        let far = guessed_levels_of(&["1", "2", "99"]);
        assert_eq!((far[0].0.as_str(), far[1].0.as_str()), ("missing-value-level", "numbers-far-apart"));
        assert!(far[1].1.contains("1, 2, 99") && far[1].1.contains("choice"), "{far:?}");
        assert_eq!(codes(&["1", "2", "3", "-1"])[0], "missing-value-level");
    }
}
