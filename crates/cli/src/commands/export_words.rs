//! What every export reports about people.

use super::{count, note};
use crate::output;
use anyhow::Result;

/// That pseudonyms do not hide everybody.
pub(super) fn told_apart_note(told_apart: u64) {
    if told_apart > 0 {
        note(&format!("{told_apart} of the people could still be recognised from their attributes combined"));
    }
}

/// What pseudonyms leave blank of people's attributes.
pub(super) fn tell_left_blank(left_blank: &[String]) -> Result<()> {
    left_blank.iter().try_for_each(|line| output::line(&format!("Attribute {line}")))
}

/// How many labels of people who failed are not in a file.
pub(super) fn left_out_line(labels: u64) -> Result<()> {
    output::line(&format!(
        "Left out {} of people who missed a pass mark; the project keeps them",
        count(labels, "label")
    ))
}
