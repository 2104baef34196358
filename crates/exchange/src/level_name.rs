//! The spellings of a label that mean one level.

use crate::truth::truth_value;
use dissensus_domain::{Answer, LevelId, Scale, option_names};

/// Returns a label in its plain spelling: trimmed, and a whole number without a point, so that `3`, `"3"` and
/// `3.0` are one.
pub fn level_name(label: &str) -> &str {
    let label = label.trim();
    match label.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|b| b == b'0') => {
            let digits = whole.strip_prefix('-').unwrap_or(whole);
            if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) { whole } else { label }
        }
        _ => label,
    }
}

/// The level that `label` is on `scale`: by its own spelling, else by its plain one ([`level_name`]).
fn level_on(scale: &Scale, label: &str) -> Option<LevelId> {
    scale.id_named(label).or_else(|| scale.id_named(level_name(label)))
}

/// The answer that `label` is on `scale`, in its own spelling or its plain one.
pub(crate) fn answer_on(scale: &Scale, label: &str) -> Option<Answer> {
    match scale.has_options() {
        _ if scale.is_cannot_say(label) => Some(Answer::CannotSay),
        true => scale.answer_named(label).or_else(|| scale.answer_named(level_name(label))),
        false => level_on(scale, label).map(Answer::Level),
    }
}

/// Returns the only level that equals `label` apart from case, or as another word for yes or no.
pub(crate) fn folded_on(scale: &Scale, label: &str) -> Option<LevelId> {
    if scale.has_options() {
        return None;
    }
    let is_binary = scale.is_binary();
    let label = level_name(label);
    let folded = label.to_lowercase();
    let by_case = |level: &String| level.to_lowercase() == folded;
    let by_truth = |level: &String| truth_value(label).is_some_and(|truth| truth_value(level) == Some(truth));
    let only = |is: &dyn Fn(&String) -> bool| {
        let mut found = scale.ids().iter().zip(scale.levels()).filter(|(_, level)| is(level));
        found.next().filter(|_| found.next().is_none()).map(|(id, _)| *id)
    };
    only(&by_case).or_else(|| only(&by_truth).filter(|_| is_binary))
}

/// Returns the set of options that `label` is on a scale of options, ignoring case.
pub(crate) fn folded_set_on(scale: &Scale, label: &str) -> Option<Answer> {
    let named = |name: &str| {
        let folded = name.to_lowercase();
        scale.levels().iter().find(|level| level.to_lowercase() == folded).cloned()
    };
    let names: Vec<String> = option_names(label).into_iter().map(named).collect::<Option<_>>()?;
    scale.answer_named(&serde_json::Value::from(names).to_string()).filter(|_| scale.form().is_set())
}
