//! Messages about annotators that every export prints.

use super::{count, note};
use crate::output;
use anyhow::Result;

/// Notes that pseudonyms do not make every annotator anonymous.
pub(super) fn note_on_names(identifiable: u64) {
    if identifiable > 0 {
        note(&format!(
            "{identifiable} of the people could still be recognised from their attributes combined"
        ));
    }
}

/// Prints which attribute values were left blank in a pseudonymized export.
pub(super) fn print_left_blank(left_blank: &[String]) -> Result<()> {
    left_blank.iter().try_for_each(|line| output::line(&format!("Attribute {line}")))
}

/// Prints how many labels of annotators who failed were left out of a file.
pub(super) fn left_out_line(labels: u64) -> Result<()> {
    output::line(&format!(
        "Left out {} of people who missed a pass mark; the project keeps them",
        count(labels, "label")
    ))
}
