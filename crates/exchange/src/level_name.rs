//! The spellings of a label that mean one level.

use dissensus_domain::{Answer, Scale};

/// A label in its plain spelling: trimmed, and a whole number without a point, so that `3`, `"3"` and `3.0` are one.
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

/// The index of `label` on `scale`: by its own spelling, else by its plain one ([`level_name`]).
pub fn level_on(scale: &Scale, label: &str) -> Option<u16> {
    scale.index_of(label).or_else(|| scale.index_of(level_name(label)))
}

/// The answer that `label` is on `scale`, in its own spelling or its plain one.
pub(crate) fn answer_on(scale: &Scale, label: &str) -> Option<Answer> {
    match scale.has_options() {
        _ if scale.is_cannot_say(label) => Some(Answer::CannotSay),
        true => scale.answer_named(label).or_else(|| scale.answer_named(level_name(label))),
        false => level_on(scale, label).map(Answer::Level),
    }
}
