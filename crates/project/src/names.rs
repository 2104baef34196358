//! Names that people type or that are read from a file: of questions, levels, annotators and attributes.
use std::path::Path;

use crate::error::ProjectError;
use dissensus_domain::{Annotator, CANNOT_SAY, composed, look_alike, not_allowed_in_names};
use std::collections::HashMap;

/// Maximum length of a name, in characters.
const LONGEST: usize = 200;

/// Validates and normalises a name: trimmed, on one line, not too long, and without characters that act on
/// a terminal or hide the spelling. Every input is checked here or, in rows of a file, by the same rule of
/// the domain.
pub fn checked_name(what: &'static str, name: &str) -> Result<String, ProjectError> {
    let mut name = name.trim().to_owned();
    if what == "annotator" {
        name = composed(&name);
    }
    let refused = |name, why| Err(ProjectError::Name { what, name, why });
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

/// The people whose names differ from this one only by case, accents, spaces or letters that look alike, by
/// external id; exact matches are excluded.
pub fn look_alikes<'a>(annotators: impl Iterator<Item = &'a Annotator>, name: &str) -> Vec<&'a Annotator> {
    let (wanted, exact) = (look_alike(name), composed(name));
    let alike = |known: &str| look_alike(known) == wanted && composed(known) != exact;
    annotators.filter(|known| alike(&known.external_id) || alike(&known.name)).collect()
}

/// New names that look like known ones: each new name with those. Known names are not compared with each
/// other.
pub fn near_names<'a>(
    known: impl Iterator<Item = &'a str>,
    new: impl Iterator<Item = &'a str>,
) -> Vec<(String, Vec<String>)> {
    let mut by_look: HashMap<String, Vec<String>> = HashMap::new();
    for name in known {
        by_look.entry(look_alike(name)).or_default().push(name.to_owned());
    }
    let mut near = Vec::new();
    for name in new {
        let others = by_look.entry(look_alike(name)).or_default();
        if !others.is_empty() {
            near.push((name.to_owned(), others.clone()));
        }
        others.push(name.to_owned());
    }
    near
}

/// The file name without its extension.
pub fn project_name(path: &Path) -> String {
    path.file_stem()
        .map_or_else(|| path.to_string_lossy().into_owned(), |name| name.to_string_lossy().into_owned())
}
