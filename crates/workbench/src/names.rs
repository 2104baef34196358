//! Names that people type or that a file brings: of questions, levels, annotators and attributes.

use crate::error::WorkbenchError;
use dissensus_domain::{CANNOT_SAY, not_allowed_in_names};

/// The longest name, in characters.
const LONGEST: usize = 200;

/// A name as it is kept: trimmed, on one line, not too long, and without characters that act on a terminal or hide how the
/// name is spelt. Every way in goes through here or, in rows of a file, through the same rule of the domain.
pub(crate) fn checked_name(what: &'static str, name: &str) -> Result<String, WorkbenchError> {
    let name = name.trim().to_owned();
    let refused = |name, why| Err(WorkbenchError::Name { what, name, why });
    if name.is_empty() {
        return refused(name, "is blank: type one");
    }
    if name.chars().count() > LONGEST {
        return refused(name, "is longer than 200 characters: choose a shorter one");
    }
    if what == "level" && name == CANNOT_SAY {
        return refused(
            name,
            "is what files say where somebody cannot say: let the question offer that, or choose another name",
        );
    }
    match not_allowed_in_names(&name) {
        Some(c) if c.is_control() => {
            refused(name, "has a line break or another control character: remove it")
        }
        Some(_) => {
            refused(name, "has a character that is not seen and changes how names are shown: type it again")
        }
        None => Ok(name),
    }
}
